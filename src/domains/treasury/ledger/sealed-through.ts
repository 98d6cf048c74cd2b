/**
 * The instant through which journals are sealed, on the business clock: no journal is ever sealed at it or before it
 * again, so what was sealed by then never changes.
 * @module
 */
import * as z from 'zod';
import { businessNow } from '../../../db/business-now.ts';
import { firstRowOf, oneRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';

const atRow = z.object({ at: z.date() });

/** For the batch of the transaction that holds the sealer's lock: later than that of the batch before. */
export async function nextSealingInstant(tx: Tx): Promise<Date> {
  const { at } = await oneRowOf(
    tx,
    atRow,
    `insert into ledger_sealed_through as s (at) values (${businessNow})
     on conflict (id) do update set at = greatest(excluded.at, s.at + interval '1 millisecond') returning at`,
  );
  return at;
}

/** Under the same lock. Written once a second at most, because an idle sealer asks several times a second. */
export const noteNothingToSeal = (tx: Tx): Promise<unknown> =>
  runSql(
    tx,
    `insert into ledger_sealed_through as s (at) values (${businessNow})
     on conflict (id) do update set at = excluded.at where s.at < excluded.at - interval '1 second'`,
  );

export async function sealedThrough(tx: Tx): Promise<Date> {
  const found = await firstRowOf(tx, atRow, 'select at from ledger_sealed_through');
  return found?.at ?? new Date(0);
}

/** For a question about an instant whose journals may not all be sealed. */
export const notSealedYet = (field: string, through: Date): DomainError =>
  new DomainError(
    'invalid_request',
    `${field}: must not be after ${through.toISOString()}, because later journals may not be sealed yet; ` +
      'journals are sealed within about a second',
  );
