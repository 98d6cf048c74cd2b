/**
 * The floor of the reads: Express with raw `pg`, one prepared statement for each path, the same JSON as the product
 * answers, and nothing else: no auth, no limit, no headers, no checks.
 * @module
 */
import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';

const ownerId = process.env.BENCH_OWNER_ID;
const types = new pg.TypeOverrides();
types.setTypeParser(20, Number);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20, types });
const app = express();

const transaction = `select t.id, t.owner_id as "ownerId", t.agent_id as "agentId", t.intent_id as "intentId",
  t.card_id as "cardId", t.wallet_id as "walletId", t.amount_cents / 100::float8 as "amountEuros",
  t.held_cents / 100::float8 as "heldEuros", t.cleared_cents / 100::float8 as "clearedEuros", t.currency, t.merchant,
  t.merchant_id as "merchantId", t.merchant_mcc as "merchantMcc", t.merchant_country as "merchantCountry", t.rail, t.type,
  t.status, t.verified, t.verified_at as "verifiedAt", t.mismatch, t.memo, t.authorization_id as "issuerAuthorizationId",
  t.issuer_settlement_id as "issuerSettlementId", t.refunded_cents / 100::float8 as "refundedEuros",
  t.original_transaction_id as "originalTransactionId", t.decline_rule as "declineRule",
  t.decline_reason as "declineReason", t.confirmed_at as "confirmedAt", t.completed_at as "completedAt",
  t.request_id as "requestId", t.run_id as "runId", t.created_at as "createdAt", t.updated_at as "updatedAt",
  (select coalesce(json_agg(json_build_object('kind', e.kind, 'networkId', e.network_id, 'requestId', e.request_id,
     'amountEuros', e.amount_cents / 100::float8, 'final', e.is_final,
     'at', to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by e.seq), '[]')
   from transaction_events e where e.transaction_id = t.id) as events
  from transactions t`;

const intent = `select id, owner_id as "ownerId", agent_id as "agentId", purpose,
  expected_amount_cents / 100::float8 as "expectedAmountEuros", expected_merchant as "expectedMerchant", status, recurring,
  expires_at as "expiresAt", card_id as "cardId", policy_check as "policyCheck", client_intent_id as "clientIntentId",
  approved_by as "approvedBy", approved_at as "approvedAt", denied_reason as "deniedReason",
  completed_at as "completedAt", matched_transaction_id as "matchedTransactionId", transaction_id as "transactionId",
  verified, created_at as "createdAt"
  from intents`;

const card = `select c.id, c.owner_id as "ownerId", c.agent_id as "agentId", a.name as "agentName", c.last4, c.brand,
  c.expiry_month as "expiryMonth", c.expiry_year as "expiryYear", c.status, c.frozen_by as "frozenBy", c.usage,
  c.is_primary as "isPrimary", c.name, c.display_name as "displayName", c.purpose, c.scope,
  c.max_transaction_cents / 100::float8 as "maxTransactionEuros", c.daily_limit_cents / 100::float8 as "dailyLimitEuros",
  c.monthly_limit_cents / 100::float8 as "monthlyLimitEuros", w.balance_cents / 100::float8 as "walletBalanceEuros",
  c.created_at as "createdAt", c.closed_at as "closedAt"
  from cards c join agents a on a.id = c.agent_id
  left join ledger_accounts w on w.name = 'wallet:' || a.wallet_id || ':available'`;

const wallet = `select w.id, w.owner_id as "ownerId", w.name, w.purpose, w.iban, w.bic,
  w.parent_wallet_id as "parentWalletId", w.is_default as "isDefault", w.status, w.metadata,
  w.created_at as "createdAt", w.updated_at as "updatedAt", w.closed_at as "closedAt",
  'EUR' as currency, coalesce(a.balance_cents, 0) / 100::float8 as "balanceEuros"
  from wallets w left join ledger_accounts a on a.name = 'wallet:' || w.id || ':available'`;

const entry = `select 'le_' || substr(j.id, 4) || lpad(e.line::text, 2, '0') as id, j.id as "journalId",
  j.owner_id as "ownerId", j.agent_id as "agentId", j.kind, e.account,
  case when e.account like 'wallet:%' then split_part(e.account, ':', 2) end as "walletId",
  case when e.amount_cents > 0 then 'credit' else 'debit' end as direction,
  abs(e.amount_cents) / 100::float8 as "amountEuros", e.balance_before_cents / 100::float8 as "balanceBeforeEuros",
  e.balance_after_cents / 100::float8 as "balanceAfterEuros", j.reference_type as "referenceType",
  j.reference_id as "referenceId", t.memo, j.request_id as "requestId", j.run_id as "runId", e.created_at as "createdAt"
  from journals j join ledger_entries e on e.journal_id = j.id left join journal_texts t on t.journal_id = j.id`;

const agent = `select a.id, a.owner_id as "ownerId", a.name, a.scope, a.external_id as "externalId", a.status, a.funding,
  a.profile, a.wallet_id as "walletId", a.created_at as "createdAt", p.id as "policyId", c.id as "cardId",
  '•••• ' || c.last4 as "cardPanMasked", coalesce(w.balance_cents, 0) / 100::float8 as "cardBalanceEuros",
  coalesce(w.balance_cents, 0) / 100::float8 as "walletBalanceEuros"
  from agents a
  left join policies p on p.agent_id = a.id
  left join cards c on c.agent_id = a.id and c.is_primary
  left join ledger_accounts w on w.name = 'wallet:' || a.wallet_id || ':available'`;

/** As the list's own index gives it: `of` is the table's short name. */
const newest = (of: string, onwards = '') =>
  `where ${of}.owner_id = $1 ${onwards} order by ${of}.created_at desc, ${of}.id desc ${of === 'j' ? ', e.line desc' : ''} limit 50`;
const behind = (of: string) =>
  newest(
    of,
    of === 'j'
      ? `and (j.created_at, j.id) <= ($2::timestamptz, $3) and ((j.created_at, j.id) < ($2::timestamptz, $3) or e.line < $4)`
      : `and (${of}.created_at, ${of}.id) < ($2::timestamptz, $3)`,
  );

const one = (path: string, name: string, text: string) =>
  app.get(path, async (request, response) => {
    const { rows } = await pool.query({ name, text, values: [request.params.id] });
    response.json(rows[0]);
  });
const list = (path: string, name: string, text: string, of: string) =>
  app.get(path, async ({ query: { cursor } }, response) => {
    const { rows } = await pool.query(
      typeof cursor === 'string'
        ? { name: `${name}-behind`, text: `${text} ${behind(of)}`, values: [ownerId, ...positionOf(cursor, of)] }
        : { name, text: `${text} ${newest(of)}`, values: [ownerId] },
    );
    response.json({ data: rows });
  });
function positionOf(cursor: string, of: string): string[] {
  const [at = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split('|');
  return of === 'j' ? [at, `jr_${id.slice(3, -2)}`, id.slice(-2)] : [at, id];
}

one('/agents/:id', 'agent', `${agent} where a.id = $1`);
one('/intents/:id', 'intent', `${intent} i where id = $1`);
one('/transactions/:id', 'transaction', `${transaction} where t.id = $1`);
list('/transactions', 'transactions', transaction, 't');
list('/intents', 'intents', `${intent} i`, 'i');
list('/agents', 'agents', agent, 'a');
list('/cards', 'cards', card, 'c');
list('/wallets', 'wallets', wallet, 'w');
list('/ledger', 'entries', entry, 'j');

const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ ready: true, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('SIGTERM', () => process.exit(0));
