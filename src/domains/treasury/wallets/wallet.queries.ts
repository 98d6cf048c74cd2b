/** Reads of wallets with their balances, set-based. Decides nothing. @module */
import { sql } from 'kysely';
import * as z from 'zod';
import { type Db, type Given, query } from '../../../db/db.ts';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { centsValue } from '../../../db/row-values.ts';
import { oneRowOf } from '../../../db/statement.ts';
import { columnsOf, type TableOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Own } from '../../../http/caller.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { availableCentsOf, heldCentsOf } from '../ledger/ledger.queries.ts';
import { WalletSchema } from './wallet.entity.ts';
import type { WalletStatus } from './wallet.rules.ts';

export type ListedWallet = Readonly<TableOf<typeof WalletSchema>> & { readonly availableCents: Cents };
export type WalletView = ListedWallet & { readonly heldCents: Cents };

export type WalletFilter = {
  readonly ownerId: string;
  /** The only wallet an agent may see. */
  readonly drawnBy: string | undefined;
  readonly status: WalletStatus | undefined;
  readonly parentWalletId: string | undefined;
};

const columns = columnsOf(WalletSchema).map((column) => `w.${column}` as const);

const walletsOf = (from: Db) =>
  from
    .selectFrom('wallets as w')
    .select(columns)
    .select(availableCentsOf(sql.ref('w.id')).as('availableCents'));

const wallets = list((from, given: Filters<WalletFilter>) => {
  let wanted = walletsOf(from).where('w.ownerId', '=', given('ownerId'));
  if (given.has('drawnBy'))
    wanted = wanted.where(sql<boolean>`w.id = (select wallet_id from agents where id = ${given('drawnBy')})`);
  if (given.has('status')) wanted = wanted.where('w.status', '=', given('status'));
  if (given.has('parentWalletId')) wanted = wanted.where('w.parentWalletId', '=', given('parentWalletId'));
  return wanted;
}, newestFirst('w'));

/** Newest first. */
export const listWallets = (tx: Tx, filter: WalletFilter, pageQuery: PageQuery): Promise<Page<ListedWallet>> =>
  page(tx, wallets, filter, pageQuery);

const one = query((from, given: Given<{ ownerId: string; walletId: string }>) =>
  walletsOf(from)
    .select(heldCentsOf(sql.ref('w.id')).as('heldCents'))
    .where('w.ownerId', '=', given('ownerId'))
    .where('w.id', '=', given('walletId')),
);

export const findWallet = (tx: Tx, ownerId: string, walletId: string): Promise<WalletView | null> =>
  one.first(tx, { ownerId, walletId });

/** The wallet an agent draws on; undefined when there is no such agent. */
export const walletDrawnBy = async (tx: Tx, agentId: string): Promise<string | undefined> =>
  (await drawnBy.first(tx, { agentId }))?.walletId;

const drawnBy = query((from, given: Given<{ agentId: string }>) =>
  from.selectFrom('agents').select('walletId').where('id', '=', given('agentId')),
);

/** As isolation compares it: an agent reads the wallet that it draws on, and no other of its owner. */
export async function walletFor(tx: Tx, { ownerId, agentId }: Own, walletId: string) {
  const found = await findWallet(tx, ownerId, walletId);
  if (found === null || agentId === undefined) return found;
  return { ...found, agentId: (await walletDrawnBy(tx, agentId)) === walletId ? agentId : null };
}

/** What an owner can spend out of all wallets. */
export async function walletTotalCents(tx: Tx, ownerId: string): Promise<Cents> {
  const sum = await oneRowOf(
    tx,
    z.object({ cents: centsValue }),
    `select coalesce(sum(balance_cents), 0)::bigint as cents from ledger_accounts
     where owner_id = $1 and name like 'wallet:%:available'`,
    [ownerId],
  );
  return sum.cents;
}

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly wallet: WalletView;
  }
}

const defaultWallet = query((from, given: Given<{ ownerId: string }>) =>
  from
    .selectFrom('wallets')
    .select('id')
    .where('ownerId', '=', given('ownerId'))
    .where('isDefault', '=', sql.lit(true)),
);

/** Null for an owner that has no wallet yet. */
export const findDefaultWalletId = async (tx: Tx, ownerId: string): Promise<Id<'wallet'> | null> =>
  (await defaultWallet.first(tx, { ownerId }))?.id ?? null;

const ofIbans = query((from, given: Given<{ ibans: readonly string[] }>) =>
  from
    .selectFrom('wallets')
    .select('iban')
    .where(sql<boolean>`iban = any(${given('ibans')}::text[])`),
);

/** Those of the given IBANs that wallets have, closed ones included. */
export const ibansOfWallets = async (tx: Tx, ibans: readonly string[]): Promise<string[]> =>
  (await ofIbans.all(tx, { ibans })).flatMap(({ iban }) => iban ?? []);
