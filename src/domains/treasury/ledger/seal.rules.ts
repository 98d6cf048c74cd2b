/**
 * How a journal is sealed: a hash over all its fields and over the seal before it, so that every change, deletion or
 * insertion is detected. Texts are covered only by a salted commitment. Pure.
 * @module
 */
import { createHash } from 'node:crypto';

export type EntryOnRecord = {
  readonly line: number;
  readonly account: string;
  readonly amountCents: number;
  readonly balanceBeforeCents: number | null;
  readonly balanceAfterCents: number | null;
  readonly accountVersion: number | null;
};

/** A journal exactly as it stands in the database. */
export type JournalOnRecord = {
  readonly id: string;
  readonly ownerId: string;
  readonly agentId: string | null;
  readonly kind: string;
  readonly referenceType: string;
  readonly referenceId: string;
  readonly cause: string;
  readonly memoCommitment: string | null;
  readonly requestId: string;
  readonly runId: string | null;
  /** ISO 8601 with microseconds, as the database keeps it. */
  readonly createdAt: string;
  readonly entries: readonly EntryOnRecord[];
};

/** What stands before an owner's first journal. */
export const genesis = '0'.repeat(64);

export const sealOf = (previous: string, sequence: number, journal: JournalOnRecord): string =>
  createHash('sha256')
    .update(JSON.stringify([previous, sequence, ...factsOf(journal)]))
    .digest('hex');

const factsOf = (journal: JournalOnRecord): unknown[] => [
  journal.id,
  journal.ownerId,
  journal.agentId,
  journal.kind,
  journal.referenceType,
  journal.referenceId,
  journal.cause,
  journal.memoCommitment,
  journal.requestId,
  journal.runId,
  journal.createdAt,
  journal.entries.map((entry) => [
    entry.line,
    entry.account,
    entry.amountCents,
    entry.balanceBeforeCents,
    entry.balanceAfterCents,
    entry.accountVersion,
  ]),
];

export type Head = { readonly sequence: number; readonly hash: string };
export type Seal = Head & { readonly ownerId: string; readonly journalId: string };

/** Seals journals in the order given, each owner's on top of that owner's head. */
export function sealAll(journals: readonly JournalOnRecord[], heads: ReadonlyMap<string, Head>): Seal[] {
  const latest = new Map(heads);
  return journals.map((journal) => {
    const before = latest.get(journal.ownerId) ?? { sequence: 0, hash: genesis };
    const sequence = before.sequence + 1;
    const head = { sequence, hash: sealOf(before.hash, sequence, journal) };
    latest.set(journal.ownerId, head);
    return { ...head, ownerId: journal.ownerId, journalId: journal.id };
  });
}

/** What the chain holds in place of a text, so that erasing the text breaks nothing. */
export const commitmentTo = (text: string, salt: string): string =>
  createHash('sha256').update(`${salt}:${text}`).digest('hex');
