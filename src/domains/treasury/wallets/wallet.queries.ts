/** Reads of wallets with their balances, set-based. Decides nothing. @module */
import { rows, type Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { PageQuery } from '../../../kernel/page.ts';
import type { WalletStatus } from './wallet.rules.ts';

export type WalletView = {
  readonly id: Id<'wallet'>;
  readonly ownerId: Id<'owner'>;
  readonly name: string;
  readonly purpose: string | null;
  readonly iban: string | null;
  readonly bic: string | null;
  readonly parentWalletId: Id<'wallet'> | null;
  readonly isDefault: boolean;
  readonly status: WalletStatus;
  readonly metadata: Record<string, unknown>;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly closedAt: Date | null;
  readonly availableCents: number;
  readonly heldCents: number;
};

export type WalletFilter = {
  readonly ownerId: string;
  /** The only wallet an agent may see. */
  readonly drawnBy: string | undefined;
  readonly status: WalletStatus | undefined;
  readonly parentWalletId: string | undefined;
};

const select = `select w.id, w.owner_id as "ownerId", w.name, w.purpose, w.iban, w.bic,
    w.parent_wallet_id as "parentWalletId", w.is_default as "isDefault", w.status, w.metadata,
    w.created_at as "createdAt", w.updated_at as "updatedAt", w.closed_at as "closedAt",
    coalesce(a.balance_cents, 0) as "availableCents", coalesce(h.balance_cents, 0) as "heldCents"
  from wallets w
  left join ledger_accounts a on a.name = 'wallet:' || w.id || ':available'
  left join ledger_accounts h on h.name = 'wallet:' || w.id || ':held'`;

/** Newest first, one more than the page holds. */
export const listWallets = (tx: Tx, filter: WalletFilter, { limit, after }: PageQuery): Promise<WalletView[]> =>
  rows<WalletView>(
    tx,
    `${select}
     where w.owner_id = $1
       and ($2::text is null or w.id = (select wallet_id from agents where id = $2))
       and ($3::text is null or w.status = $3)
       and ($4::text is null or w.parent_wallet_id = $4)
       and ($5::timestamptz is null or (w.created_at, w.id) < ($5, $6))
     order by w.created_at desc, w.id desc limit $7`,
    [
      filter.ownerId,
      filter.drawnBy ?? null,
      filter.status ?? null,
      filter.parentWalletId ?? null,
      after?.createdAt ?? null,
      after?.id ?? null,
      limit + 1,
    ],
  );

export async function findWallet(tx: Tx, ownerId: string, walletId: string): Promise<WalletView | null> {
  const [found] = await rows<WalletView>(tx, `${select} where w.owner_id = $1 and w.id = $2`, [ownerId, walletId]);
  return found ?? null;
}

/** The wallet an agent draws on; undefined when there is no such agent. */
export async function walletDrawnBy(tx: Tx, agentId: string): Promise<string | undefined> {
  const [found] = await rows<{ wallet_id: string }>(tx, 'select wallet_id from agents where id = $1', [agentId]);
  return found?.wallet_id;
}

/** What an owner can spend out of all wallets. */
export async function walletTotalCents(tx: Tx, ownerId: string): Promise<number> {
  const [sum] = await rows<{ cents: number }>(
    tx,
    `select coalesce(sum(balance_cents), 0)::bigint as cents from ledger_accounts
     where owner_id = $1 and name like 'wallet:%:available'`,
    [ownerId],
  );
  return sum?.cents ?? 0;
}
