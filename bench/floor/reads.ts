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
  (select coalesce(json_agg(json_build_object('kind', e.kind, 'networkId', e.network_id,
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

const agent = `select a.id, a.owner_id as "ownerId", a.name, a.scope, a.external_id as "externalId", a.status, a.funding,
  a.profile, a.wallet_id as "walletId", a.created_at as "createdAt", p.id as "policyId", c.id as "cardId",
  '•••• ' || c.last4 as "cardPanMasked", coalesce(w.balance_cents, 0) / 100::float8 as "cardBalanceEuros",
  coalesce(w.balance_cents, 0) / 100::float8 as "walletBalanceEuros"
  from agents a
  left join policies p on p.agent_id = a.id
  left join cards c on c.agent_id = a.id and c.is_primary
  left join ledger_accounts w on w.name = 'wallet:' || a.wallet_id || ':available'`;

const newest = (onwards = '') => `where owner_id = $1 ${onwards} order by created_at desc, id desc limit 50`;
const behind = newest('and (created_at, id) < ($2::timestamptz, $3)');

const one = (path: string, name: string, text: string) =>
  app.get(path, async (request, response) => {
    const { rows } = await pool.query({ name, text, values: [request.params.id] });
    response.json(rows[0]);
  });
const list = (path: string, name: string, text: string) =>
  app.get(path, async ({ query: { cursor } }, response) => {
    const { rows } = await pool.query(
      typeof cursor === 'string'
        ? { name: `${name}-behind`, text: `${text} ${behind}`, values: [ownerId, ...positionOf(cursor)] }
        : { name, text: `${text} ${newest()}`, values: [ownerId] },
    );
    response.json({ data: rows });
  });
const positionOf = (cursor: string): string[] => Buffer.from(cursor, 'base64url').toString().split('|');

one('/agents/:id', 'agent', `${agent} where a.id = $1`);
one('/intents/:id', 'intent', `${intent} where id = $1`);
one('/transactions/:id', 'transaction', `${transaction} where t.id = $1`);
list('/transactions', 'transactions', transaction);
list('/intents', 'intents', intent);

const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ ready: true, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('SIGTERM', () => process.exit(0));
