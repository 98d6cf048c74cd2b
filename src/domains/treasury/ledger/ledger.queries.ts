/** Reads current balances of the ledger. Decides nothing and locks nothing. @module */
import { type Expression, sql } from 'kysely';
import { type Given, query } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Cents } from '../../../kernel/money.ts';

/** Of every account asked for; one that nothing was posted to has 0. Only accounts with a running balance. */
export async function balancesOf<Name extends string>(
  tx: Tx,
  accounts: readonly Name[],
): Promise<Record<Name, number>> {
  return balancesByName(accounts, await balances.all(tx, { accounts }));
}

const balances = query((from, given: Given<{ accounts: readonly string[] }>) =>
  from
    .selectFrom('ledger_accounts')
    .select(['name', 'balanceCents'])
    .where(sql<boolean>`name = any(${given('accounts')}::text[])`),
);

type Balance = { readonly name: string; readonly balanceCents: number };

/** One balance for each of `accounts`. */
export function balancesByName<Name extends string>(
  accounts: readonly Name[],
  found: readonly Balance[],
): Record<Name, number> {
  const known = new Map(found.map((row) => [row.name, row.balanceCents]));
  return Object.fromEntries(accounts.map((name) => [name, known.get(name) ?? 0])) as Record<Name, number>;
}

/** What can be spent from a wallet, inside a query that reads wallet ids. */
export const availableCentsOf = (walletId: Expression<unknown>) => balanceCentsOf(walletId, 'available');
/** What is held in a wallet, inside a query that reads wallet ids. */
export const heldCentsOf = (walletId: Expression<unknown>) => balanceCentsOf(walletId, 'held');

const balanceCentsOf = (walletId: Expression<unknown>, part: 'available' | 'held') =>
  sql<Cents>`coalesce((select balance_cents from ledger_accounts where name = 'wallet:' || ${walletId} || ${sql.lit(`:${part}`)}), 0)`;
