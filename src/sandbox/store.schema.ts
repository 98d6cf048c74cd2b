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

  `CREATE TABLE bank_payments (
     end_to_end_id TEXT PRIMARY KEY, scheme TEXT NOT NULL, amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
     execution_date TEXT NOT NULL, payer_iban TEXT NOT NULL, payee_name TEXT NOT NULL, payee_iban TEXT NOT NULL,
     remittance TEXT, recall_code TEXT, reason_code TEXT,
     state TEXT NOT NULL CHECK (state IN ('submitted', 'accepted', 'settled', 'rejected', 'returned', 'recalled'))
   ) STRICT;

   -- What the bank will do. Without a due time: on the business day after the one on which it is first seen.
   CREATE TABLE bank_steps (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, end_to_end_id TEXT NOT NULL REFERENCES bank_payments, due_at_ms INTEGER,
     kind TEXT NOT NULL CHECK (kind IN ('accepted', 'settled', 'rejected', 'returned', 'recalled')),
     reason_code TEXT, done INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE INDEX open_bank_steps ON bank_steps (due_at_ms) WHERE done = 0;

   CREATE TABLE bank_entries (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, reference TEXT NOT NULL UNIQUE, credit_key TEXT UNIQUE,
     account_iban TEXT NOT NULL, direction TEXT NOT NULL CHECK (direction IN ('credit', 'debit')),
     amount_cents INTEGER NOT NULL CHECK (amount_cents > 0), booked_on TEXT, end_to_end_id TEXT,
     return_reason_code TEXT, party_name TEXT, party_iban TEXT, remittance TEXT, file_id TEXT
   ) STRICT;
   CREATE INDEX bank_entries_by_account ON bank_entries (account_iban, seq);
   CREATE INDEX unsent_bank_entries ON bank_entries (seq) WHERE file_id IS NULL;

   CREATE TABLE bank_files (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, xml TEXT NOT NULL,
     is_taken INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
     next_attempt_at_ms INTEGER NOT NULL DEFAULT 0, last_status INTEGER, last_answer TEXT
   ) STRICT;
   CREATE INDEX waiting_bank_files ON bank_files (seq) WHERE is_taken = 0;`,

  `-- How often the bank was given the payment. A real bank might pay each time.
   ALTER TABLE bank_payments ADD COLUMN submissions INTEGER NOT NULL DEFAULT 1;`,

  `-- Advices and refunds are sent as well. A check cannot be changed, so the table is written anew.
   CREATE TABLE messages_to_send (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
     kind TEXT NOT NULL CHECK (kind IN ('clearings', 'reversals', 'advices', 'refunds')),
     authorization_id TEXT NOT NULL, body TEXT NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('queued', 'acknowledged', 'refused', 'withdrawn')),
     wait_ms INTEGER, due_at_ms INTEGER, attempts INTEGER NOT NULL DEFAULT 0, next_attempt_at_ms INTEGER NOT NULL DEFAULT 0,
     last_status INTEGER, last_answer TEXT
   ) STRICT;
   INSERT INTO messages_to_send SELECT seq, id, kind, authorization_id, body, state, wait_ms, due_at_ms, attempts,
     next_attempt_at_ms, last_status, last_answer FROM outgoing;
   DROP TABLE outgoing;
   ALTER TABLE messages_to_send RENAME TO outgoing;
   CREATE INDEX outgoing_queued ON outgoing (authorization_id, seq) WHERE state = 'queued';
   CREATE INDEX outgoing_by_authorization ON outgoing (authorization_id, seq);
   CREATE INDEX authorizations_of_card ON authorizations (card_ref);

   CREATE TABLE settings (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;`,

  `-- Asked for more on an authorization. What Bursar has not answered is asked again under the same id.
   CREATE TABLE increments (
     id TEXT PRIMARY KEY, authorization_id TEXT NOT NULL, body TEXT NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('sent', 'approved', 'partial', 'declined')),
     approved_cents INTEGER NOT NULL DEFAULT 0, rule TEXT, reason TEXT
   ) STRICT;
   CREATE INDEX increments_of_authorization ON increments (authorization_id, state);`,
];
