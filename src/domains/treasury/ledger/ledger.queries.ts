/** Reads current balances of the ledger. Decides nothing and locks nothing. @module */

import { type Expression, sql } from 'kysely';
import { rows, type Tx } from '../../../db/tx.ts';
import type { Cents } from '../../../kernel/money.ts';

/** Of every account asked for; one that nothing was posted to has 0. Only accounts with a running balance. */
export async function balancesOf<Name extends string>(
  tx: Tx,
  accounts: readonly Name[],
): Promise<Record<Name, number>> {
  const found = await rows<{ name: Name; balance_cents: number }>(
    tx,
    'select name, balance_cents from ledger_accounts where name = any($1::text[])',
    [[...accounts]],
  );
  const known = new Map(found.map((row) => [row.name, row.balance_cents]));
  return Object.fromEntries(accounts.map((name) => [name, known.get(name) ?? 0])) as Record<Name, number>;
}

/** What can be spent from a wallet, inside a query that reads wallet ids. */
export const availableCentsOf = (walletId: Expression<unknown>) =>
  sql<Cents>`coalesce((select balance_cents from ledger_accounts where name = 'wallet:' || ${walletId} || ':available'), 0)`;
