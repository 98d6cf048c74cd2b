/**
 * Opens, changes and closes wallets: lock, decide by the rules, save, record the event, in the caller's transaction.
 * Moves no money.
 * @module
 */
import { LockMode } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import * as z from 'zod';
import { type Db, type Given, query } from '../../../db/db.ts';
import { oneRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError, notFound, unavailable } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Mode } from '../../../platform/mode.ts';
import { available, held, wallet } from '../ledger/account.rules.ts';
import { lockAccounts, openAccounts } from '../ledger/ledger.service.ts';
import { germanIban, sandboxBic } from './iban.rules.ts';
import { WalletRow } from './wallet.entity.ts';
import { deepestLevel, closeWallet as evaluateClosing, mayHaveChild, type WalletStatus } from './wallet.rules.ts';

export type IbanIssue = {
  readonly mode: Mode;
  /** Of sandbox IBANs; live wallets have none until the rail delivers one. */
  readonly ibanBankCode: string;
};

export type NewWallet = {
  readonly id: Id<'wallet'>;
  readonly ownerId: Id<'owner'>;
  readonly name: string;
  readonly purpose?: string | null | undefined;
  readonly parentWalletId?: Id<'wallet'> | undefined;
  readonly isDefault?: boolean | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
};

export type WalletName = { readonly ownerId: Id<'owner'>; readonly walletId: ReachedId<'wallet'> };

/** The owner's default wallet; “Main” is opened where there is none, and of several calls at once by exactly one. */
export async function ensureDefaultWallet(
  tx: Tx,
  cause: Cause,
  ownerId: Id<'owner'>,
  mint: () => Id<'wallet'>,
  issue: IbanIssue,
): Promise<Id<'wallet'>> {
  const known = await defaultWallet(tx, ownerId);
  if (known !== undefined) return known;
  const order = { id: mint(), ownerId, name: 'Main', isDefault: true };
  const isNew = await insert(tx, cause, issue, order, 'on conflict (owner_id) where is_default do nothing');
  if (isNew) await recordChanges(tx, cause, [created(order)]);
  return isNew ? order.id : ((await defaultWallet(tx, ownerId)) as Id<'wallet'>);
}

/** The owner has a customer already. A wallet of that id means that this very request opened it before. */
export async function createWallet(tx: Tx, cause: Cause, issue: IbanIssue, order: NewWallet): Promise<void> {
  const { ownerId } = order;
  const former =
    order.isDefault === true ? await takeDefault(tx, cause, { ownerId, parentId: order.parentWalletId }) : [];
  if (order.parentWalletId !== undefined) await mayLieBelow(tx, order.ownerId, order.parentWalletId);
  await assertBelowLimit(tx, 'wallets', { ownerId, subject: ownerId, at: cause.at });
  await insert(tx, cause, issue, order, '');
  await recordChanges(tx, cause, [...former, created(order)]);
}

export type WalletChange = {
  readonly name?: string | undefined;
  readonly purpose?: string | null | undefined;
  readonly isDefault?: true | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
};

export async function changeWallet(
  tx: Tx,
  cause: Cause,
  { ownerId, walletId }: WalletName,
  change: WalletChange,
): Promise<void> {
  const isNewDefault = change.isDefault === true;
  const former = isNewDefault ? await takeDefault(tx, cause, { ownerId, to: walletId }) : [];
  const row = await lockedWallet(tx, ownerId, walletId);
  if (row.status === 'closed') throw new DomainError('invalid_state', `wallet ${walletId} is closed; open another one`);
  if (isNewDefault && row.status !== 'active') {
    throw new DomainError(
      'invalid_state',
      `wallet ${walletId} is ${row.status}; only an active one can be the default`,
    );
  }
  if (change.name !== undefined) row.name = change.name;
  if (change.purpose !== undefined) row.purpose = change.purpose;
  if (change.metadata !== undefined) row.metadata = change.metadata;
  if (isNewDefault) row.isDefault = true;
  row.updatedAt = cause.at;
  await tx.flush();
  await recordChanges(tx, cause, [...former, changed('wallet.updated', row, Object.keys(change))]);
}

export async function closeWallet(tx: Tx, cause: Cause, { ownerId, walletId }: WalletName): Promise<void> {
  const row = await lockedWallet(tx, ownerId, walletId);
  const move = evaluateClosing(row.status, {
    isDefault: row.isDefault === true,
    ...(await standingOf(tx, cause, row)),
  });
  if (move.outcome === 'already') return;
  if (move.outcome === 'refused')
    throw new DomainError('invalid_state', `wallet ${walletId} cannot be closed: ${move.why}`);
  row.status = move.next;
  row.closedAt = cause.at;
  row.updatedAt = cause.at;
  await tx.flush();
  await recordChanges(tx, cause, [changed('wallet.closed', row, ['status'])]);
}

/** Keeps a wallet as it is until the transaction ends; others may use it meanwhile, but not close it. */
export const heldOpen = async (tx: Tx, ownerId: string, walletId: string): Promise<WalletStatus | undefined> =>
  (await walletForShare.first(tx, { ownerId, walletId }))?.status;

/** As `heldOpen`, of several wallets and in one order. A wallet that is missing is none of this owner. */
export async function lockWalletsForShare(
  tx: Tx,
  ownerId: string,
  walletIds: readonly string[],
): Promise<ReadonlyMap<string, WalletStatus>> {
  const found = await walletsForShare.all(tx, { ownerId, walletIds });
  return new Map(found.map(({ id, status }) => [id, status]));
}

const walletsForShare = query((from, given: Given<{ ownerId: string; walletIds: readonly string[] }>) =>
  forShare(from)
    .where('ownerId', '=', given('ownerId'))
    .where(sql<boolean>`id = any(${given('walletIds')}::text[])`)
    .orderBy('id'),
);

const forShare = (from: Db) => from.selectFrom('wallets').select(['id', 'status']).forShare();

type Named = { readonly ownerId: string; readonly walletId: string };

const walletForShare = query((from, given: Given<Named>) =>
  forShare(from).where('ownerId', '=', given('ownerId')).where('id', '=', given('walletId')),
);
type Returning = { readonly walletIds: readonly string[] };
const returnWallets = query((from, given: Given<Returning>) =>
  from
    .selectFrom('wallets')
    .select(['id', 'ownerId', 'isDefault'])
    .where(
      // As an array, so that both halves are looked up by an index.
      sql<boolean>`(id = any (${given('walletIds')}::text[]) and status <> 'closed') or (is_default and owner_id = any (array(
        select owner_id from wallets where id = any (${given('walletIds')}::text[]) and status = 'closed')))`,
    )
    .orderBy('id')
    .forShare(),
);

/**
 * The wallets that agents' budgets go back to, by the agents' own wallets: each its own, or its owner's default one where
 * that is closed. None of them can be closed until the transaction ends. One statement locks them in the order of their
 * ids. A switch of the default, or a close, that commits while it waits leaves it without a row; the next one sees it.
 */
export async function walletsToReturnTo(
  tx: Tx,
  agentsWallets: readonly Named[],
): Promise<ReadonlyMap<string, Id<'wallet'>>> {
  const walletIds = [...new Set(agentsWallets.map(({ walletId }) => walletId))];
  for (let look = 0; look < 3; look++) {
    const found = await returnWallets.all(tx, { walletIds });
    const returnedTo = new Map<string, Id<'wallet'>>();
    for (const { ownerId, walletId } of agentsWallets) {
      const ofOwner = found.filter((one) => one.ownerId === ownerId);
      const to = ofOwner.find(({ id }) => id === walletId) ?? ofOwner.find(({ isDefault }) => isDefault);
      if (to !== undefined) returnedTo.set(walletId, to.id);
    }
    if (returnedTo.size === walletIds.length) return returnedTo;
  }
  throw unavailable('the default wallet is being changed');
}

/** The same for one. */
export const walletToReturnTo = async (tx: Tx, ownerId: string, walletId: string): Promise<Id<'wallet'>> =>
  (await walletsToReturnTo(tx, [{ ownerId, walletId }])).get(walletId) as Id<'wallet'>;

const defaultOf = query((from, given: Given<{ ownerId: string }>) =>
  from
    .selectFrom('wallets')
    .select('id')
    .where('ownerId', '=', given('ownerId'))
    .where('isDefault', '=', sql.lit(true)),
);

export const defaultWallet = async (tx: Tx, ownerId: string): Promise<Id<'wallet'> | undefined> =>
  (await defaultOf.first(tx, { ownerId }))?.id;

async function insert(tx: Tx, cause: Cause, issue: IbanIssue, order: NewWallet, onConflict: string): Promise<boolean> {
  const inserted = await runSql(
    tx,
    `insert into wallets (id, owner_id, name, purpose, iban, bic, parent_wallet_id, is_default, metadata, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10, $10) ${onConflict} returning id`,
    [
      order.id,
      order.ownerId,
      order.name,
      order.purpose ?? null,
      issue.mode === 'sandbox' ? germanIban(issue.ibanBankCode, await nextAccountNumber(tx)) : null,
      issue.mode === 'sandbox' ? sandboxBic : null,
      order.parentWalletId ?? null,
      order.isDefault ?? false,
      JSON.stringify(order.metadata ?? {}),
      cause.at,
    ],
  );
  if (inserted === 0) return false;
  const fundingSource = wallet(order.id);
  await openAccounts(tx, cause, order.ownerId, [available(fundingSource), held(fundingSource)]);
  return true;
}

const nextAccountNumber = async (tx: Tx): Promise<number> =>
  (await oneRowOf(tx, z.object({ number: z.int() }), `select nextval('wallet_iban_number') as number`)).number;

async function mayLieBelow(tx: Tx, ownerId: string, parentId: string): Promise<void> {
  const refused = (why: string) => new DomainError('invalid_request', `body.parentWalletId: ${why}`);
  const status = await heldOpen(tx, ownerId, parentId);
  if (status === undefined) throw refused('is no wallet of this owner');
  if (status !== 'active') throw refused(`is ${status}; only an active wallet can have others below it`);
  const { level } = await oneRowOf(
    tx,
    z.object({ level: z.int() }),
    `with recursive above as (
       select id, parent_wallet_id, 1 as level from wallets where id = $1
       union all
       select w.id, w.parent_wallet_id, above.level + 1 from wallets w join above on w.id = above.parent_wallet_id
       where above.level < 100
     ) select max(level)::int as level from above`,
    [parentId],
  );
  if (!mayHaveChild(level)) throw refused(`lies on level ${level}; wallets nest ${deepestLevel} levels deep at most`);
}

type NewDefault = {
  readonly ownerId: string;
  readonly to?: string | undefined;
  readonly parentId?: string | undefined;
};
type Switch = { readonly ownerId: string; readonly at: Date; readonly butNot: string };

const formerDefaults = query((from, given: Given<Switch>) =>
  from
    .updateTable('wallets')
    .set({ isDefault: sql.lit(false), updatedAt: given('at') })
    .where('ownerId', '=', given('ownerId'))
    .where('isDefault', '=', sql.lit(true))
    .where('id', '<>', given('butNot'))
    .returning(['id', 'ownerId', 'status']),
);

/**
 * The default goes from one wallet to another under the customer's lock, one change at a time. All wallets of the change
 * are locked in the order of their ids, as by everything that locks wallets. `to` absent: a new wallet, below `parentId`.
 */
async function takeDefault(tx: Tx, cause: Cause, { ownerId, to, parentId }: NewDefault): Promise<Change[]> {
  await runSql(tx, 'select 1 from customers where owner_id = $1 for no key update', [ownerId]);
  const all = 'select 1 from wallets where owner_id = $1 and (is_default or id in ($2, $3)) order by id for update';
  await runSql(tx, all, [ownerId, to ?? '', parentId ?? '']);
  const former = await formerDefaults.all(tx, { ownerId, at: cause.at, butNot: to ?? '' });
  return former.map((row) => changed('wallet.updated', { ...row, isDefault: false }, ['isDefault']));
}

async function lockedWallet(tx: Tx, ownerId: Id<'owner'>, walletId: Id<'wallet'>): Promise<WalletRow> {
  const row = await tx.findOne(WalletRow, { id: walletId, ownerId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (row === null) throw notFound('wallet', walletId);
  return row;
}

async function standingOf(tx: Tx, cause: Cause, { id, ownerId }: WalletRow) {
  const free = available(wallet(id));
  const reserved = held(wallet(id));
  const balances = await lockAccounts(tx, cause, ownerId, [free, reserved]);
  const below = await oneRowOf(
    tx,
    z.object({ openChildren: z.int(), drawingAgents: z.int() }),
    `select (select count(*) from wallets where parent_wallet_id = $1 and status <> 'closed') as "openChildren",
       (select count(*) from agents where wallet_id = $1 and status <> 'closed') as "drawingAgents"`,
    [id],
  );
  return { ...below, availableCents: balances[free] ?? 0, heldCents: balances[reserved] ?? 0 };
}

type WalletFields = Pick<WalletRow, 'id' | 'ownerId' | 'status' | 'isDefault'>;

const dataOf = ({ id, ownerId, status, isDefault }: WalletFields) => ({ id, walletId: id, ownerId, status, isDefault });

const created = ({ id, ownerId, isDefault = false, parentWalletId = undefined }: NewWallet): Change => ({
  event: 'wallet.created',
  ownerId,
  subjectId: id,
  data: { ...dataOf({ id, ownerId, status: 'active', isDefault }), parentWalletId: parentWalletId ?? null },
});

const changed = (event: 'wallet.updated' | 'wallet.closed', row: WalletFields, fields: readonly string[]): Change => ({
  event,
  ownerId: row.ownerId,
  subjectId: row.id,
  data: dataOf(row),
  details: { fields },
});
