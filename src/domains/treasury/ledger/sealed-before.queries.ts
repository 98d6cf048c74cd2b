/**
 * Where an owner's chain, or one account, stood at an instant. The instants of seals never fall along a chain, so a
 * binary search over its numbers finds the place, and no index over instants is kept.
 * @module
 */
import * as z from 'zod';
import { oneRowOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { hasRunningBalance } from './account.rules.ts';

const placeRow = z.object({ place: z.int() });

/**
 * The last place from 0 to `highest` at which `isBefore` holds; at 0 it always does. The highest place is tried first,
 * because most questions are about all that is sealed.
 */
const lastPlace = (highest: string, isBefore: string): string => `
  with recursive search (low, high) as (
    select case when coalesce((${isBefore}), false) then middle.place else 0 end, middle.place
    from (select (${highest})::bigint as place) middle
    union all
    select case when tried.is_before then tried.place else s.low end,
      case when tried.is_before then s.high else tried.place - 1 end
    from search s
    cross join lateral (select (s.low + s.high + 1) / 2 as place) middle
    cross join lateral (select middle.place, coalesce((${isBefore}), false) as is_before) tried
    where s.low < s.high
  )
  select low as place from search where low = high`;

/** Seals of format 1 have no instant of their own; the journal's stands in. */
const sealedAt = `coalesce(js.sealed_at, (select j.created_at from journals j where j.id = js.journal_id))`;

const lastSequence = lastPlace(
  'select coalesce(max(sequence), 0) from journal_seals where owner_id = $1',
  `select ${sealedAt} < $2::timestamptz from journal_seals js where js.owner_id = $1 and js.sequence = middle.place`,
);

const lastVersion = lastPlace(
  'select coalesce(max(version), 0) from ledger_accounts where name = $1',
  `select ${sealedAt} < $2::timestamptz from ledger_entries e join journal_seals js on js.journal_id = e.journal_id
   where e.account = $1 and e.account_version = middle.place`,
);

const lastContraLine = lastPlace(
  'select coalesce(max(lines), 0) from contra_totals where account = $1',
  `select ${sealedAt} < $2::timestamptz from contra_lines l join journal_seals js on js.journal_id = l.journal_id
   where l.account = $1 and l.number = middle.place`,
);

/** The number of the owner's last journal that was sealed before the instant; 0 for none. */
export async function lastSealedBefore(tx: Tx, ownerId: string, at: Date): Promise<number> {
  return (await oneRowOf(tx, placeRow, lastSequence, [ownerId, at])).place;
}

/**
 * The version of the account after the last journal on it that was sealed before the instant; of a contra account the
 * number of its last line. 0 for none.
 */
export async function lastLineSealedBefore(tx: Tx, account: string, at: Date): Promise<number> {
  const last = hasRunningBalance(account) ? lastVersion : lastContraLine;
  return (await oneRowOf(tx, placeRow, last, [account, at])).place;
}
