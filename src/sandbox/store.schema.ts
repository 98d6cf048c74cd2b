/**
 * The migrations of the sandbox's tables, which are only appended to. Amounts are cents; instants ISO or epoch ms.
 * @module
 */
export const schemaSteps: readonly string[] = [
  `CREATE TABLE cards (
     card_ref TEXT PRIMARY KEY, issue_key TEXT NOT NULL UNIQUE, card_id TEXT NOT NULL, usage TEXT NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('active', 'frozen', 'closed')),
     last4 TEXT NOT NULL, expiry_month INTEGER NOT NULL, expiry_year INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX cards_by_card_id ON cards (card_id);

   CREATE TABLE tokens (
     token TEXT PRIMARY KEY, mint_key TEXT NOT NULL UNIQUE, card_ref TEXT NOT NULL REFERENCES cards,
     merchant_id TEXT NOT NULL, ceiling_cents INTEGER NOT NULL CHECK (ceiling_cents > 0),
     expires_at TEXT NOT NULL, authorization_id TEXT UNIQUE
   ) STRICT;

   CREATE TABLE orders (
     order_id TEXT PRIMARY KEY, shop TEXT NOT NULL, amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
     authorization_id TEXT, has_stumbled INTEGER NOT NULL DEFAULT 0, created_at_ms INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX unpaid_orders ON orders (created_at_ms) WHERE authorization_id IS NULL;

   CREATE TABLE pays (
     shop TEXT NOT NULL, pay_key TEXT NOT NULL, order_id TEXT NOT NULL, token_hash TEXT NOT NULL,
     authorization_id TEXT, refusal TEXT, PRIMARY KEY (shop, pay_key),
     CHECK ((authorization_id IS NULL) <> (refusal IS NULL))
   ) STRICT;

   CREATE TABLE authorizations (
     id TEXT PRIMARY KEY, purchase_key TEXT UNIQUE, request_hash TEXT NOT NULL, card_ref TEXT NOT NULL,
     body TEXT NOT NULL, clears INTEGER NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('sent', 'approved', 'partial', 'declined')),
     approved_cents INTEGER NOT NULL DEFAULT 0, cleared_cents INTEGER NOT NULL DEFAULT 0,
     reversed_cents INTEGER NOT NULL DEFAULT 0, transaction_id TEXT, rule TEXT, reason TEXT
   ) STRICT;
   CREATE INDEX undecided_authorizations ON authorizations (id) WHERE state = 'sent';

   CREATE TABLE outgoing (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
     kind TEXT NOT NULL CHECK (kind IN ('clearings', 'reversals')), authorization_id TEXT NOT NULL, body TEXT NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('queued', 'acknowledged', 'refused', 'withdrawn')),
     wait_ms INTEGER, due_at_ms INTEGER, attempts INTEGER NOT NULL DEFAULT 0, next_attempt_at_ms INTEGER NOT NULL DEFAULT 0,
     last_status INTEGER, last_answer TEXT
   ) STRICT;
   CREATE INDEX outgoing_queued ON outgoing (authorization_id, seq) WHERE state = 'queued';
   CREATE INDEX outgoing_by_authorization ON outgoing (authorization_id, seq);

   CREATE TABLE deliveries (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, box TEXT NOT NULL, received_at TEXT NOT NULL,
     headers TEXT NOT NULL, body TEXT NOT NULL, answered INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX deliveries_by_box ON deliveries (box, seq);

   CREATE TABLE failures (
     box TEXT NOT NULL, event TEXT NOT NULL, remaining INTEGER NOT NULL, status INTEGER NOT NULL,
     PRIMARY KEY (box, event)
   ) STRICT`,

  `CREATE TABLE merchant_keys (id INTEGER PRIMARY KEY CHECK (id = 1), jwk TEXT NOT NULL) STRICT;

   CREATE TABLE mpp_challenges (
     id TEXT PRIMARY KEY, merchant TEXT NOT NULL, amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
     request TEXT NOT NULL, expires TEXT NOT NULL, authorization_id TEXT UNIQUE, receipt TEXT,
     created_at_ms INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX mpp_challenges_by_age ON mpp_challenges (created_at_ms);`,
];
