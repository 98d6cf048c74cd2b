/**
 * How a journal is sealed: its facts are a leaf of the owner's Merkle tree and a link of the owner's hash chain, so that
 * every change, deletion or insertion is detected. Texts are covered only by a salted commitment. Pure.
 * @module
 */
import { createHash } from 'node:crypto';
import { leafHash, MerkleTree } from '../../../platform/record-chains/merkle.rules.ts';

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

/** The version of the leaf and of the link. A new format gets a new number; old seals keep theirs. */
export const sealFormat = 2;

export type SealOnRecord = {
  readonly sequence: number;
  readonly format: number;
  readonly hash: string;
  /** Null in format 1. */
  readonly leaf: string | null;
  /** ISO 8601 with milliseconds. Null in format 1. */
  readonly sealedAt: string | null;
};

/** Null where this seal is the right one for the journal after `previous`; otherwise what is wrong, in words. */
export function faultOfSeal(previous: string, seal: SealOnRecord, journal: JournalOnRecord): string | null {
  const { sequence, format, hash, leaf, sealedAt } = seal;
  if (format !== 1 && format !== sealFormat) return `has a seal of the unknown format ${format}`;
  const isRight =
    format === 1
      ? sealOfFormat1(previous, sequence, journal) === hash
      : leafHash(leafText(sequence, sealedAt ?? '', journal)) === leaf && sealOf(previous, leaf ?? '') === hash;
  return isRight ? null : `does not match its seal ${sequence}: it, or the seal before it, was changed`;
}

/**
 * What a leaf is the hash of: a JSON array of texts, integers and nulls. `JSON.stringify` writes such an array as
 * RFC 8785 (JCS) prescribes.
 */
export const leafText = (sequence: number, sealedAt: string, journal: JournalOnRecord): string =>
  JSON.stringify(['bursar journal', sealFormat, sequence, sealedAt, ...factsOf(journal)]);

export const sealOf = (previous: string, leaf: string): string =>
  createHash('sha256').update(`bursar seal\n${sealFormat}\n${previous}\n${leaf}`).digest('hex');

/** The tree also has the seals that are older than it. */
export const leafTextOfFormat1 = (sequence: number, hash: string): string =>
  JSON.stringify(['bursar seal', 1, sequence, hash]);

export const leafOf = ({ sequence, hash, leaf }: Pick<SealOnRecord, 'sequence' | 'hash' | 'leaf'>): string =>
  leaf ?? leafHash(leafTextOfFormat1(sequence, hash));

export const sealOfFormat1 = (previous: string, sequence: number, journal: JournalOnRecord): string =>
  createHash('sha256')
    .update(sealedTextOfFormat1(previous, sequence, journal))
    .digest('hex');

export const sealedTextOfFormat1 = (previous: string, sequence: number, journal: JournalOnRecord): string =>
  JSON.stringify([previous, sequence, ...factsOf(journal)]);

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

/** Where a chain ends: its last link, and the tree over all its leaves. */
export type ChainEnd = { readonly sequence: number; readonly hash: string; readonly tree: MerkleTree };
export type Seal = SealOnRecord & { readonly ownerId: string; readonly journalId: string };

/** Seals journals in the order given, each owner's on top of that owner's end. The trees of `ends` grow. */
export function sealAll(
  journals: readonly JournalOnRecord[],
  ends: Map<string, ChainEnd>,
  sealedAt: string,
): { readonly seals: Seal[]; readonly ends: ReadonlyMap<string, ChainEnd> } {
  const seals = journals.map((journal) => {
    const { ownerId, id: journalId } = journal;
    const before = ends.get(ownerId) ?? { sequence: 0, hash: genesis, tree: new MerkleTree() };
    const sequence = before.sequence + 1;
    const leaf = leafHash(leafText(sequence, sealedAt, journal));
    const hash = sealOf(before.hash, leaf);
    before.tree.append(leaf);
    ends.set(ownerId, { sequence, hash, tree: before.tree });
    return { ownerId, journalId, sequence, format: sealFormat, leaf, hash, sealedAt };
  });
  return { seals, ends };
}

/** What the chain holds in place of a text, so that erasing the text breaks nothing. */
export const commitmentTo = (text: string, salt: string): string =>
  createHash('sha256').update(`${salt}:${text}`).digest('hex');
