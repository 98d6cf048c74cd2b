/**
 * Payments over real HTTP: an agent with policy, funded wallet and card, and the card network as a signing client.
 * Everything is arranged in the tables and the book; nothing is faked between the request and the rows.
 * @module
 */
import { createHmac, randomUUID } from 'node:crypto';
import { type Database, databaseOf } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/orm.ts';
import { newId } from '../../src/kernel/ids.ts';
import { entities, reconciliationQueries } from '../../src/main/modules/index.ts';
import { type Expired, expireHolds } from '../../src/usecases/payments/expire-holds.ts';
import { hashSecret } from '../../src/vault/secret-hash.ts';
import { sentByTest } from './answers.ts';
import { documentFunding } from './factories/funding-document.ts';
import { businessNow, type Owner, type World } from './world.ts';

export type Payer = {
  readonly owner: Owner;
  readonly agentId: `ag_${string}`;
  readonly cardId: `ca_${string}`;
  readonly policyId: `po_${string}`;
  readonly walletId: `wal_${string}`;
  readonly cardRef: string;
  /** A token of the agent with scope `*`. */
  readonly token: string;
};

type PayerOptions = {
  readonly owner?: Owner;
  readonly fundsCents?: number;
  /** Columns of the policy. */
  readonly policy?: Readonly<Record<string, unknown>>;
  /** Columns of the card. */
  readonly card?: Readonly<Record<string, unknown>>;
  readonly funding?: 'wallet' | 'budget';
};

const origin = JSON.stringify({ requestId: 'req', runId: null, actor: { kind: 'system' } });

export async function aPayer(world: World, options: PayerOptions = {}): Promise<Payer> {
  const owner = options.owner ?? (await world.owner());
  const { ownerId } = owner;
  const [agentId, cardId, policyId, walletId] = [newId('agent'), newId('card'), newId('policy'), newId('wallet')];
  const [cardRef, token, at] = [`cr_${randomUUID()}`, `at_test_${newId('token')}`, new Date(Date.now() - 60_000)];
  const insert = (table: string, row: Record<string, unknown>) =>
    world.sql(
      `insert into ${table} (${Object.keys(row).join(', ')}) values (${Object.keys(row).map((_, i) => `$${i + 1}`)})`,
      Object.values(row),
    );
  const stamps = { created_at: at, updated_at: at };
  await insert('wallets', { id: walletId, owner_id: ownerId, name: 'Main', ...stamps });
  const agent = { id: agentId, owner_id: ownerId, name: 'Buyer', status: 'active', wallet_id: walletId };
  await insert('agents', { ...agent, funding: options.funding ?? 'wallet', is_provisioning: false, origin, ...stamps });
  const policy = { id: policyId, owner_id: ownerId, agent_id: agentId, name: 'rules', require_intent: false };
  await insert('policies', { ...policy, ...stamps, ...options.policy });
  const card = { id: cardId, owner_id: ownerId, agent_id: agentId, card_ref: cardRef, last4: '4242', brand: 'visa' };
  const issued = { expiry_month: 12, expiry_year: 2030, status: 'active', synced_state: 'active', usage: 'multi' };
  const named = { is_primary: true, name: 'default', is_provisioning: false, origin };
  await insert('cards', { ...card, ...issued, ...named, ...stamps, ...options.card });
  await insert('agent_tokens', {
    id: newId('token'),
    owner_id: ownerId,
    agent_id: agentId,
    secret_hash: hashSecret(token),
    hint: 'at',
    scopes: ['*'],
    created_at: at,
  });
  const fundingSource = options.funding === 'budget' ? `agent:${agentId}` : `wallet:${walletId}`;
  await fund(world, ownerId, fundingSource, options.fundsCents ?? 100_000);
  return { owner, agentId, cardId, policyId, walletId, cardRef, token };
}

/** Through the book, so that it stays balanced. */
export async function fund(world: World, ownerId: string, fundingSource: string, amountCents: number): Promise<void> {
  if (amountCents === 0) return;
  const journal = {
    id: newId('journal'),
    ownerId,
    kind: 'fund',
    referenceType: 'fund',
    referenceId: 'fnd_test',
    cause: `test:${randomUUID()}`,
    requestId: 'req',
    createdAt: new Date().toISOString(),
    postings: [
      { account: `external:processor:${ownerId}`, amountCents: -amountCents },
      { account: `${fundingSource}:available`, amountCents },
    ],
  };
  await world.sql('select * from post_journals($1::jsonb)', [JSON.stringify([journal])]);
  await documentFunding(world.sql, { ownerId, to: fundingSource, journalId: journal.id, amountCents });
}

type IntentOptions = {
  amountCents?: number;
  merchant?: string | null;
  status?: string;
  ttlMs?: number;
  isAutoApproved?: boolean;
};

export async function anIntent(world: World, payer: Payer, options: IntentOptions = {}): Promise<`int_${string}`> {
  const id = newId('intent');
  const at = new Date((await businessNow(world)).getTime() - 30_000);
  await world.sql(
    `insert into intents (id, owner_id, agent_id, purpose, expected_amount_cents, expected_merchant, card_id, status,
       expires_at, policy_check, is_auto_approved, request_id, created_at, updated_at)
     values ($1, $2, $3, 'a book', $4, $5, $6, $7, $8, $9::jsonb, $10, 'req', $11, $11)`,
    [
      id,
      payer.owner.ownerId,
      payer.agentId,
      options.amountCents ?? 1_250,
      options.merchant === undefined ? 'Sandbox Shop' : options.merchant,
      payer.cardId,
      options.status ?? 'approved',
      new Date(at.getTime() + (options.ttlMs ?? 86_400_000)),
      JSON.stringify({ allowed: true, requiresApproval: false, reason: null }),
      options.isAutoApproved ?? true,
      at,
    ],
  );
  await world.sql(
    `insert into workflow_runs (id, workflow, subject_id, owner_id, agent_id, stage, started_epoch, due_at, created_at)
     values ($1, 'intentLifecycle', $2, $3, $4, 'approved', 'test', null, $5)`,
    [`intent/${id}`, id, payer.owner.ownerId, payer.agentId, at],
  );
  return id;
}

export const sandboxShop = { id: 'sandbox-shop', name: 'Sandbox Shop', mcc: '5734', country: 'DE' };

type SignedMessage = { readonly path: string; readonly rawBody: string; readonly unixSeconds?: number };

/** The header `X-Network-Signature` of a POST; `path` is the request target, query included. */
export function signed(key: string, { path, rawBody, unixSeconds = Math.floor(Date.now() / 1_000) }: SignedMessage) {
  const mac = createHmac('sha256', key).update(`${unixSeconds}.POST ${path}.${rawBody}`).digest('hex');
  return `t=${unixSeconds},v1=${mac}`;
}

export type NetworkAnswer<Body = Record<string, unknown>> = { readonly status: number; readonly body: Body };
export type Authorized = {
  decision: 'approved' | 'partial' | 'declined';
  approvedCents: number;
  transactionId: string | null;
  rule: string;
  reason: string;
};

export function networkOf(world: Pick<World, 'apiUrl' | 'networkKey'>) {
  /** Signed as a network signs it; the raw answer. */
  const request = (kind: string, message: object): Promise<Response> => {
    const body = JSON.stringify(message);
    const path = `/network/${kind}`;
    const signature = signed(world.networkKey, { path, rawBody: body });
    const headers = { 'Content-Type': 'application/json', 'X-Network-Signature': signature, ...sentByTest };
    return fetch(`${world.apiUrl}${path}`, { method: 'POST', headers, body });
  };
  const send = async <Body>(kind: string, message: object): Promise<NetworkAnswer<Body>> => {
    const answer = await request(kind, message);
    return { status: answer.status, body: (await answer.json()) as Body };
  };
  const authorizationOf = (payer: Payer, over: Record<string, unknown> = {}) => ({
    id: `auth_${randomUUID()}`,
    cardRef: payer.cardRef,
    amountCents: 1_250,
    currency: 'EUR',
    merchant: sandboxShop,
    kind: 'purchase',
    partialSupported: false,
    recurring: false,
    sentAt: new Date().toISOString(),
    ...over,
  });
  return {
    request,
    send,
    authorizationOf,
    authorize: (payer: Payer, over: Record<string, unknown> = {}) =>
      send<Authorized>('authorizations', authorizationOf(payer, over)),
    increment: (payer: Payer, over: Record<string, unknown>) =>
      send<Authorized>('increments', { id: `inc_${randomUUID()}`, cardRef: payer.cardRef, amountCents: 500, ...over }),
    clear: (payer: Payer, over: Record<string, unknown>) =>
      send<{ transactionId: string | null }>('clearings', {
        id: `clr_${randomUUID()}`,
        cardRef: payer.cardRef,
        amountCents: 1_250,
        final: true,
        merchant: sandboxShop,
        clearedAt: new Date().toISOString(),
        ...over,
      }),
    reverse: (payer: Payer, over: Record<string, unknown>) =>
      send<{ transactionId: string | null }>('reversals', {
        id: `rev_${randomUUID()}`,
        cardRef: payer.cardRef,
        ...over,
      }),
    advise: (authorization: object, over: Record<string, unknown> = {}) =>
      send<{ transactionId: string | null }>('advices', {
        id: `adv_${randomUUID()}`,
        authorization,
        approvedCents: 1_250,
        ...over,
      }),
    refund: (payer: Payer, over: Record<string, unknown>) =>
      send<{ transactionId: string | null }>('refunds', {
        id: `ref_${randomUUID()}`,
        cardRef: payer.cardRef,
        amountCents: 1_250,
        refundedAt: new Date().toISOString(),
        ...over,
      }),
  };
}

/** Money of the payer's wallet, and what the owner owes. */
export async function balancesOf(world: World, { walletId, owner }: Payer) {
  const found = await world.sql<{ name: string; balance_cents: string }>(
    'select name, balance_cents from ledger_accounts where owner_id = $1',
    [owner.ownerId],
  );
  const of = (name: string) => Number(found.find((row) => row.name === name)?.balance_cents ?? 0);
  return {
    available: of(`wallet:${walletId}:available`),
    held: of(`wallet:${walletId}:held`),
    receivable: of(`owner:${owner.ownerId}:receivable`),
  };
}

export async function journalsOf(world: World, ownerId: string): Promise<string[]> {
  const found = await world.sql<{ kind: string }>(
    `select kind from journals where owner_id = $1 and kind <> 'fund' order by created_at, id`,
    [ownerId],
  );
  return found.map(({ kind }) => kind);
}

/** The sweeper's pass as of that instant of business time. */
export const expireIn = (world: World, at: Date, how: { lockWaitMs?: number } = {}): Promise<Expired> =>
  inDatabase(world, (database) => expireHolds({ database, ...how })(at));

/** For services that no request reaches, or not at the time that a test needs. */
export async function inDatabase<T>(world: World, work: (database: Database) => Promise<T>): Promise<T> {
  const url = world.config.DATABASE_URL;
  const orm = await openDatabase({ url, entities, poolSize: 2, applicationName: 'bursar-test' });
  try {
    return await work(databaseOf(orm));
  } finally {
    await orm.close();
  }
}

/** Each of these must be empty: sums of journals, holds against the book, and what the areas' reconciliation finds. */
export async function brokenInvariants(world: World): Promise<unknown[]> {
  return [
    ...(await world.sql(
      `select 'journal', journal_id from ledger_entries group by journal_id having sum(amount_cents) <> 0`,
    )),
    ...(await world.sql(
      `select 'held', name, balance_cents, h.held from ledger_accounts a
       left join lateral (select coalesce(sum(o.held_cents), 0) as held from open_holds(a.owner_id) o where o.account = a.name) h on true
       where name like '%:held' and balance_cents <> h.held`,
    )),
    ...(await differencesOf(world)),
  ];
}

/** What the reconciliation queries of all areas return, over all owners. */
export async function differencesOf(world: World): Promise<unknown[]> {
  const found = await Promise.all(
    reconciliationQueries.map(async ({ name, sql }) => (await world.sql(sql, [null])).map((row) => [name, row])),
  );
  return found.flat();
}
