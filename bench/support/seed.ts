/**
 * Records for the benches, put straight into the tables in a few statements: an owner whose agents each have a
 * policy, a wallet with money and a card; intents and payments of theirs. Money goes through the book.
 * @module
 */
import type { Sql } from './postgres.ts';

/** The same in SQL and here, so that a load knows whom to name. */
export const idOf = (prefix: string, number: number): string => `${prefix}_${String(number).padStart(26, '0')}`;
export const cardRefOf = (number: number): string => `bench-card-${number}`;
const id = (prefix: string, number = 'n'): string => `'${prefix}_' || lpad((${number})::text, 26, '0')`;

/** The owner of the one key there is. */
export async function seededOwner(sql: Sql): Promise<string> {
  const [key] = await sql<{ owner_id: string }>('select owner_id from api_keys limit 1');
  if (key === undefined) throw new Error('the API made no key');
  const ownerId = key.owner_id;
  await sql(
    `insert into customers (id, owner_id, type, status, plan, created_at, updated_at)
     values (${id('cus', '1')}, $1, 'corporate', 'active', 'enterprise', now(), now())
     on conflict (owner_id) do update set plan = excluded.plan`,
    [ownerId],
  );
  return ownerId;
}

/** Agents 1 to `count`; `policy` are columns of each one's rules. */
export async function seedAgents(
  sql: Sql,
  ownerId: string,
  count: number,
  policy: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await sql(
    `insert into owner_limits (owner_id, name, most, updated_at)
     select $1, unnest(array['open_intents', 'waiting_intents']), 1000000, now()`,
    [ownerId],
  );
  const origin = JSON.stringify({ requestId: 'bench', runId: null, actor: { kind: 'system' } });
  await sql(
    `insert into wallets (id, owner_id, name, created_at, updated_at)
     select ${id('wal')}, $1, 'Wallet ' || n, date_trunc('milliseconds', now()), now() from generate_series(1, $2::int) n`,
    [ownerId, count],
  );
  await sql(
    `insert into agents (id, owner_id, name, status, wallet_id, funding, is_provisioning, origin, profile, created_at, updated_at)
     select ${id('ag')}, $1, 'Agent ' || n, 'active', ${id('wal')}, 'wallet', false, $3,
       '{"purpose": "buys what the team runs out of", "framework": "custom"}', date_trunc('milliseconds', now()), now()
     from generate_series(1, $2::int) n`,
    [ownerId, count, origin],
  );
  const terms = { name: 'Rules', require_intent: false, ...policy };
  const columns = Object.keys(terms);
  await sql(
    `insert into policies (id, owner_id, agent_id, created_at, updated_at, ${columns.join(', ')})
     select ${id('po')}, $1, ${id('ag')}, date_trunc('milliseconds', now()), now(), ${columns.map((_, i) => `$${i + 3}`).join(', ')}
     from generate_series(1, $2::int) n`,
    [ownerId, count, ...Object.values(terms)],
  );
  await sql(
    `insert into cards (id, owner_id, agent_id, card_ref, last4, brand, expiry_month, expiry_year, status, synced_state,
       usage, is_primary, name, is_provisioning, origin, created_at, updated_at)
     select ${id('ca')}, $1, ${id('ag')}, 'bench-card-' || n, lpad((n % 10000)::text, 4, '0'), 'visa', 12, 2035, 'active',
       'active', 'multi', true, 'default', false, $3, date_trunc('milliseconds', now()), now()
     from generate_series(1, $2::int) n`,
    [ownerId, count, origin],
  );
  for (let first = 1; first <= count; first += journalsAtOnce) {
    await fund(sql, ownerId, first, Math.min(count, first + journalsAtOnce - 1));
  }
}

const journalsAtOnce = 100;

async function fund(sql: Sql, ownerId: string, first: number, last: number): Promise<void> {
  const journals = Array.from({ length: last - first + 1 }, (_, i) => ({
    id: idOf('jr', first + i),
    ownerId,
    kind: 'fund',
    referenceType: 'fund',
    referenceId: idOf('fnd', first + i),
    cause: `bench:${first + i}`,
    requestId: 'bench',
    createdAt: new Date().toISOString(),
    postings: [
      { account: `external:processor:${ownerId}`, amountCents: -100_000_000 },
      { account: `wallet:${idOf('wal', first + i)}:available`, amountCents: 100_000_000 },
    ],
  }));
  await sql('select * from post_journals($1::jsonb)', [JSON.stringify(journals)]);
}

/** Intents 1 to `count`, spread over the agents and the last hours, all completed. */
export async function seedIntents(sql: Sql, ownerId: string, agents: number, count: number): Promise<void> {
  await sql(
    `insert into intents (id, owner_id, agent_id, purpose, expected_amount_cents, expected_merchant, card_id, status,
       expires_at, policy_check, is_auto_approved, approved_by, approved_at, completed_at, request_id, created_at, updated_at)
     select ${id('int')}, $1, ${id('ag', '1 + n % $2')}, 'paper and pens for the office', 100 + n % 5000, 'Sandbox Shop',
       ${id('ca', '1 + n % $2')}, 'completed', at + interval '1 day',
       '{"allowed": true, "requiresApproval": false, "reason": null}', true, 'policy', at, at, 'bench', at, at
     from generate_series(1, $3::int) n, lateral (select date_trunc('milliseconds', now()) - n * interval '1 second' as at) made`,
    [ownerId, agents, count],
  );
}

/** What the one intent of each agent that fits a payment names; the others of that agent expect other amounts and merchants. */
export const fittingMerchant = 'Sandbox Shop';

/**
 * Gives each of the agents `first` to `last` `perAgent` approved intents for its card, one of them for `cents` at the
 * merchant `fittingMerchant`; called again, it replaces the fitting ones that were paid. With `withRuns` each has the row
 * of a run, which a relay starts.
 */
export async function seedOpenIntents(
  sql: Sql,
  ownerId: string,
  { first, last, perAgent, cents }: { first: number; last: number; perAgent: number; cents: number },
  { withRuns }: { withRuns: boolean },
): Promise<void> {
  await sql(
    `with made as (
       insert into intents (id, owner_id, agent_id, purpose, expected_amount_cents, expected_merchant, card_id, status,
         expires_at, policy_check, is_auto_approved, approved_by, approved_at, request_id, created_at, updated_at)
       select 'int_' || replace(gen_random_uuid()::text, '-', ''), $1, ${id('ag')}, 'paper and pens for the office',
         case k when 1 then $5 else $5 * (10 + k) end, case k when 1 then '${fittingMerchant}' else 'Merchant ' || k end,
         ${id('ca')}, 'approved', at + interval '1 day',
         '{"allowed": true, "requiresApproval": false, "reason": null}', true, 'policy', at, 'bench', at, at
       from generate_series($2::int, $3::int) n, generate_series(1, $4::int) k,
         lateral (select date_trunc('milliseconds', now()) - (k - 1) * interval '1 second' as at) made
       where not exists (
         select from intents i where i.agent_id = ${id('ag')} and i.status = 'approved' and i.matched_transaction_id is null
           and (k > 1 or i.expected_merchant = '${fittingMerchant}'))
       returning id, created_at
     )
     insert into workflow_runs (id, workflow, subject_id, owner_id, stage, due_at, created_at)
     select 'intent/' || id, 'intentLifecycle', id, $1, 'approved', created_at + interval '1 day', created_at from made
     where $6`,
    [ownerId, first, last, perAgent, cents, withRuns],
  );
}

/** Payments 1 to `count`, collected, each with what the network said about it. */
export async function seedTransactions(sql: Sql, ownerId: string, agents: number, count: number): Promise<void> {
  await sql(
    `insert into transactions (id, owner_id, agent_id, card_id, intent_id, wallet_id, adapter, authorization_id, funding_source, type,
       status, amount_cents, requested_cents, approved_cents, cleared_cents, merchant_id, merchant, merchant_mcc,
       merchant_country, is_final, authorized_at, completed_at, request_id, created_at, updated_at)
     select ${id('tx')}, $1, ${id('ag', '1 + n % $2')}, ${id('ca', '1 + n % $2')}, ${id('int')}, ${id('wal', '1 + n % $2')},
       'bench', 'auth-' || n, 'wallet:' || ${id('wal', '1 + n % $2')}, 'capture', 'completed', cents, cents, cents, cents,
       'sandbox-shop', 'Sandbox Shop', '5734', 'DE', true, at, at, 'bench', at, at
     from generate_series(1, $3::int) n,
       lateral (select date_trunc('milliseconds', now()) - n * interval '1 second' as at, 100 + n % 5000 as cents) made`,
    [ownerId, agents, count],
  );
  await sql(
    `insert into transaction_events (transaction_id, kind, adapter, network_id, amount_cents, is_final, at)
     select ${id('tx')}, kind, 'bench', kind || '-' || n, 100 + n % 5000, case kind when 'clearing' then true end, now()
     from generate_series(1, $1::int) n, unnest(array['authorization', 'clearing']) kind order by n, kind`,
    [count],
  );
}

/** What was decided on payments 1 to `count`: the network's messages, the decisions and the steps of the rows. */
export async function seedDecisions(sql: Sql, count: number): Promise<void> {
  await sql(
    `insert into network_messages (adapter, id, kind, authorization_id, card_ref, request_hash, transaction_id, answer,
       request_id, received_at)
     select 'bench', case kind when 'clearing' then 'clr-' || n else authorization_id end, kind, authorization_id,
       'bench-card-' || (1 + n % 1000), repeat('a', 64), id, '{"decision": "approved"}', 'bench', authorized_at
     from (select *, substr(id, 4)::int as n from transactions where adapter = 'bench' and authorization_id like 'auth-%') t,
       unnest(array['authorization', 'clearing']) kind where n <= $1`,
    [count],
  );
  await sql(
    `insert into decisions (transaction_id, owner_id, agent_id, card_id, outcome, rule, reason, facts, trace, at)
     select id, owner_id, agent_id, card_id, 'approved', 'allowed', 'allowed', '{"amountCents": 125}', '[]', authorized_at
     from transactions where adapter = 'bench' and authorization_id like 'auth-%' order by created_at`,
  );
  await sql(
    `insert into transitions select 'transaction', id, 'bench/' || step, null, step, authorized_at
     from transactions, unnest(array['pending', 'completed']) s (step) where adapter = 'bench' and authorization_id like 'auth-%'`,
  );
}

/** As autovacuum and a checkpoint would have left them. Only a superuser may order the checkpoint. */
export async function settle(sql: Sql): Promise<void> {
  await vacuumAll(sql);
  await sql('checkpoint');
}

/** Autovacuum never comes to a table in which nothing changes. */
export async function vacuumAll(sql: Sql): Promise<void> {
  const tables = await sql<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0`,
  );
  await sql(`vacuum (analyze) ${tables.map(({ name }) => name).join(', ')}`);
}
