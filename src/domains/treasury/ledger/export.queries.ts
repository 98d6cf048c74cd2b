/**
 * Reads the sealed entries of an owner in the order of their seals, a few journals at a time. Sealed entries never
 * change, so the parts fit together without a snapshot that would stay open as long as the reader is slow.
 * @module
 */
import { type Given, query } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { later } from '../../../kernel/instant.ts';
import { type EntryView, entriesOf } from './entry.queries.ts';
import { lastSealedBefore } from './sealed-before.queries.ts';
import { notSealedYet, sealedThrough } from './sealed-through.ts';

export type SealedEntry = EntryView & { readonly sequence: number; readonly sealedAt: Date | null };

/** Journals of a chain: after `after`, up to `last`. */
export type ChainRange = { readonly ownerId: string; readonly after: number; readonly last: number };

export type ExportQuery = {
  readonly ownerId: string;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
};

/** What was sealed in the period. */
export async function rangeOf(tx: Tx, { ownerId, from, to: asked }: ExportQuery): Promise<ChainRange> {
  const end = later(await sealedThrough(tx), 1);
  const to = asked ?? end;
  if (to > end) throw notSealedYet('to', end);
  if (from !== undefined && from > to) throw new DomainError('invalid_request', 'from: must not be after to');
  return {
    ownerId,
    after: from === undefined ? 0 : await lastSealedBefore(tx, ownerId, from),
    last: await lastSealedBefore(tx, ownerId, to),
  };
}

const journalsAtOnce = 250;

export async function* sealedEntries(tx: Tx, { ownerId, after, last }: ChainRange): AsyncGenerator<SealedEntry[]> {
  for (let done = after; done < last; done += journalsAtOnce) {
    yield await part.all(tx, { ownerId, after: done, last: Math.min(last, done + journalsAtOnce) });
  }
}

const part = query((from, given: Given<ChainRange>) =>
  entriesOf(from)
    .innerJoin('journal_seals as s', 's.journalId', 'j.id')
    .select(['s.sequence', 's.sealedAt'])
    .where('s.ownerId', '=', given('ownerId'))
    .where('s.sequence', '>', given('after'))
    .where('s.sequence', '<=', given('last'))
    .orderBy('s.sequence')
    .orderBy('e.line'),
);
