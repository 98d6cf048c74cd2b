/**
 * Seals posted journals in batches, in the order of their commits. Only one sealer runs at a time; postings never wait for
 * it.
 * @module
 */
import * as z from 'zod';
import { rowsOf, runSql } from '../../../db/statement.ts';
import { tryLock } from '../../../db/try-lock.ts';
import type { Tx } from '../../../db/tx.ts';
import { journalFacts, journalOnRecord } from './journal.queries.ts';
import { type ChainEnd, type JournalOnRecord, type Seal, sealAll } from './seal.rules.ts';
import { nextSealingInstant, noteNothingToSeal } from './sealed-through.ts';
import { treeOfJournals } from './tree.queries.ts';

const batchSize = 2_000;
const lockKey = 8_400_110;

/** How many journals were sealed; 0 also when another process is sealing. */
export async function sealJournals(tx: Tx, limit: number = batchSize): Promise<number> {
  if (!(await tryLock(tx, lockKey))) return 0;
  const journals = await takeUnsealed(tx, limit);
  if (journals.length === 0) {
    await noteNothingToSeal(tx);
    return 0;
  }
  const sealedAt = await nextSealingInstant(tx);
  const { seals, ends } = sealAll(journals, await endsOf(tx, journals), sealedAt.toISOString());
  await keep(tx, seals, ends);
  await addToContraAccounts(tx, seals);
  return seals.length;
}

/**
 * A position is given while the journal's accounts are locked, and a later journal on one of them is visible only
 * when the earlier one is: so no order of sealing contradicts an account's versions. From journal to journal by their
 * ids: the planner does not know how few are taken, and a join would read the whole book.
 */
const takeUnsealed = (tx: Tx, limit: number): Promise<JournalOnRecord[]> =>
  rowsOf(
    tx,
    journalOnRecord,
    `with taken as (
       delete from unsealed_journals where position = any(array(
         select position from unsealed_journals order by position limit $1))
       returning position, journal_id
     )
     select f.* from taken t
     cross join lateral (select ${journalFacts} from journals j where j.id = t.journal_id limit 1) f
     order by t.position`,
    [limit],
  );

const headRow = z.object({
  ownerId: z.string(),
  sequence: z.int(),
  hash: z.string(),
  frontier: z.string().nullable(),
});

async function endsOf(tx: Tx, journals: readonly JournalOnRecord[]): Promise<Map<string, ChainEnd>> {
  const owners = [...new Set(journals.map(({ ownerId }) => ownerId))];
  const heads = await rowsOf(
    tx,
    headRow,
    'select owner_id as "ownerId", sequence, hash, frontier from ledger_heads where owner_id = any($1::text[])',
    [owners],
  );
  const ends = new Map<string, ChainEnd>();
  for (const { ownerId, sequence, hash, frontier } of heads) {
    ends.set(ownerId, { sequence, hash, tree: await treeOfJournals(tx, { ownerId, sequence, frontier }) });
  }
  return ends;
}

async function keep(tx: Tx, seals: readonly Seal[], ends: ReadonlyMap<string, ChainEnd>): Promise<void> {
  const heads = [...ends];
  await runSql(
    tx,
    `with seal as (
       insert into journal_seals (owner_id, sequence, journal_id, format, leaf, hash, sealed_at)
       select * from unnest($1::text[], $2::bigint[], $3::text[], $4::smallint[], $5::text[], $6::text[],
         $7::timestamptz[])
     )
     insert into ledger_heads as h (owner_id, sequence, hash, frontier)
     select * from unnest($8::text[], $9::bigint[], $10::text[], $11::text[])
     on conflict (owner_id) do update set
       sequence = excluded.sequence, hash = excluded.hash, frontier = excluded.frontier`,
    [
      seals.map(({ ownerId }) => ownerId),
      seals.map(({ sequence }) => sequence),
      seals.map(({ journalId }) => journalId),
      seals.map(({ format }) => format),
      seals.map(({ leaf }) => leaf),
      seals.map(({ hash }) => hash),
      seals.map(({ sealedAt }) => sealedAt),
      heads.map(([ownerId]) => ownerId),
      heads.map(([, { sequence }]) => sequence),
      heads.map(([, { hash }]) => hash),
      heads.map(([, { tree }]) => tree.frontier),
    ],
  );
}

/** Numbers the lines of contra accounts in the order of their seals, and keeps the sums through each. */
const addToContraAccounts = (tx: Tx, seals: readonly Seal[]): Promise<unknown> =>
  runSql(
    tx,
    `with sealed as (
       select e.account, s.owner_id, e.journal_id, e.line, row_number() over through as number,
         -sum(least(e.amount_cents, 0)) over through as debited, sum(greatest(e.amount_cents, 0)) over through as credited
       from unnest($1::text[], $2::text[]) with ordinality s (journal_id, owner_id, place)
       cross join lateral (
         select * from ledger_entries l where l.journal_id = s.journal_id and l.account_version is null offset 0) e
       window through as (partition by e.account order by s.place, e.line)
     ), numbered as (
       insert into contra_lines (account, number, journal_id, line, debited_cents, credited_cents)
       select s.account, coalesce(t.lines, 0) + s.number, s.journal_id, s.line,
         coalesce(t.debited_cents, 0) + s.debited, coalesce(t.credited_cents, 0) + s.credited
       from sealed s left join contra_totals t on t.account = s.account
     )
     insert into contra_totals as t (account, owner_id, lines, debited_cents, credited_cents)
     select account, min(owner_id), max(number), max(debited), max(credited) from sealed group by account
     on conflict (account) do update set
       lines = t.lines + excluded.lines,
       debited_cents = t.debited_cents + excluded.debited_cents,
       credited_cents = t.credited_cents + excluded.credited_cents`,
    [seals.map(({ journalId }) => journalId), seals.map(({ ownerId }) => ownerId)],
  );
