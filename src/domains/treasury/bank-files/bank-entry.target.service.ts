/**
 * Where each line of a bank's file goes: to a wallet, with the top-up that it completes, into suspense, or to an operator
 * alone. Locks wallets, then top-ups.
 * @module
 */
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';
import { centsValue, idValue } from '../../../db/row-values.ts';
import { rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type NewEntry, paymentKeyOf } from './bank-entry.known.service.ts';
import { type CreditedWallet, creditTarget, isBookable, type NamedFunding } from './bank-entry.rules.ts';

export type Targets = {
  readonly wallets: ReadonlyMap<string, CreditedWallet>;
  readonly fundings: ReadonlyMap<string, NamedFunding>;
  /** Of debits that are not booked. */
  readonly unbookedPayments: ReadonlySet<string>;
};

const walletRow = columnRow({
  id: idValue('wallet'),
  ownerId: idValue('owner'),
  iban: z.string().nullable(),
  status: z.enum(['active', 'frozen', 'closed']),
});
const fundingRow = columnRow({
  id: idValue('funding'),
  walletId: idValue('wallet'),
  amountCents: centsValue,
  status: z.enum(['pending', 'completed']),
  reference: z.string(),
});

/** Wallets, then top-ups, each in the order of their ids. */
export async function lockTargets(tx: Tx, lines: readonly NewEntry[]): Promise<Targets> {
  const ibans = [...new Set(lines.flatMap(({ accountIban }) => accountIban ?? []))];
  const references = [...new Set(lines.flatMap(({ reference }) => reference ?? []))];
  const wallets = await rowsOf(
    tx,
    walletRow,
    `select id, owner_id, iban, status from wallets
     where iban = any($1) or id in (select wallet_id from fundings where reference = any($2))
     order by id for share`,
    [ibans, references],
  );
  const fundings = await rowsOf(
    tx,
    fundingRow,
    `select id, wallet_id, amount_cents, status, reference from fundings where reference = any($1)
     order by id for update`,
    [references],
  );
  const byId = new Map(wallets.map((one) => [one.id, one]));
  return {
    wallets: new Map(wallets.map((one) => [one.iban ?? '', one])),
    fundings: new Map(
      fundings.flatMap(({ walletId, reference, ...funding }) => {
        const wallet = byId.get(walletId);
        return wallet === undefined ? [] : [[reference, { ...funding, wallet }] as const];
      }),
    ),
    unbookedPayments: await unbookedPaymentsOf(tx, lines),
  };
}

const paymentRow = columnRow({ paymentKey: z.string() });

/** No line with a debit is booked, so those of this part count as well, wherever they stand in it. */
async function unbookedPaymentsOf(tx: Tx, lines: readonly NewEntry[]): Promise<ReadonlySet<string>> {
  const keysOf = (some: readonly NewEntry[]) => some.flatMap((line) => paymentKeyOf(line) ?? []);
  const returns = keysOf(lines.filter(({ isReturn }) => isReturn));
  if (returns.length === 0) return new Set();
  const text = `select payment_key from bank_entries where direction = 'debit' and payment_key = any($1)`;
  const rows = await rowsOf(tx, paymentRow, text, [returns]);
  const debits = lines.filter(({ direction }) => direction === 'debit');
  return new Set([...rows.map(({ paymentKey }) => paymentKey), ...keysOf(debits)]);
}

type Target = ReturnType<typeof creditTarget> | { readonly to: 'unbooked'; readonly why: string };

export function targetOf(line: NewEntry, { wallets, fundings, unbookedPayments }: Targets): Target {
  const { direction, amountCents, accountIban, reference, refused, unbooked } = line;
  if (unbooked !== undefined) return { to: 'unbooked', why: unbooked.why };
  if (direction !== 'credit' || amountCents === null)
    return { to: 'unbooked', why: refused ?? 'money left the account, and no transfer of ours explains it' };
  if (line.isReversal) return { to: 'unbooked', why: refused ?? 'it takes back an earlier entry' };
  if (!isBookable(amountCents)) return { to: 'unbooked', why: refused ?? 'it has an amount that no payment has' };
  if (refused !== undefined) {
    const gaveNothing = unbookedPayments.has(paymentKeyOf(line) ?? '');
    return gaveNothing
      ? { to: 'unbooked', why: `${refused}; its payment is not booked either` }
      : { to: 'suspense', why: refused };
  }
  return creditTarget({
    amountCents,
    wallet: wallets.get(accountIban ?? ''),
    funding: reference === undefined ? undefined : fundings.get(reference),
  });
}
