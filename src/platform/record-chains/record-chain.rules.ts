/**
 * How an audit row or a decision is sealed: a hash over its facts and over the seal before it. Addresses and texts are
 * covered only by salted commitments, so that they can be erased and the chain stays valid. Pure.
 * @module
 */
import { createHash } from 'node:crypto';

export type RecordFacts = {
  readonly recordId: string;
  /** Ids, states, codes and instants, as one text that does not vary. */
  readonly facts: string;
  /** Null where there is none, or where it was erased. */
  readonly address: string | null;
  /** Everything that a person may have written, as one text. Null where it was erased. */
  readonly texts: string | null;
};

/** The version of `sealOfRecord` and of the facts that it covers. A new format gets a new number; old seals keep theirs. */
export const recordFormat = 1;

/** The hash before the first record of a chain. */
export const genesisOfRecords = '0'.repeat(64);

export type SealedFields = {
  readonly chain: string;
  readonly sequence: number;
  readonly format: number;
  readonly recordId: string;
  readonly facts: string;
  readonly addressCommitment: string | null;
  readonly textCommitment: string | null;
};

export const sealOfRecord = (previous: string, sealed: SealedFields): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        previous,
        sealed.chain,
        sealed.sequence,
        sealed.format,
        sealed.recordId,
        sealed.facts,
        sealed.addressCommitment,
        sealed.textCommitment,
      ]),
    )
    .digest('hex');

export const recordCommitment = (text: string, salt: string): string =>
  createHash('sha256').update(`${salt}:${text}`).digest('hex');

export type RecordHead = { readonly sequence: number; readonly hash: string };

export type RecordSeal = {
  readonly sequence: number;
  readonly recordId: string;
  readonly format: number;
  readonly addressCommitment: string | null;
  readonly textCommitment: string | null;
  readonly hash: string;
};

export type RecordSalts = { readonly addressSalt: string | null; readonly textSalt: string | null };

/** What is wrong with one sealed record, in words; `facts` is undefined where the record is gone. */
export function faultsOfRecord(
  chain: string,
  head: RecordHead,
  seal: RecordSeal,
  found: (RecordFacts & RecordSalts) | undefined,
): string[] {
  const gap =
    seal.sequence === head.sequence + 1
      ? []
      : [`has the sequence ${seal.sequence} after ${head.sequence}: seals are missing`];
  if (seal.format !== recordFormat) return [...gap, `has the unknown format ${seal.format}`];
  if (found === undefined) return [...gap, `was sealed as number ${seal.sequence} and is gone`];
  const expected = sealOfRecord(head.hash, { ...seal, chain, facts: found.facts });
  const changed =
    expected === seal.hash
      ? []
      : [`does not match its seal ${seal.sequence}: the record, or the seal before it, was changed`];
  return [
    ...gap,
    ...changed,
    ...committed('address', found.address, found.addressSalt, seal.addressCommitment),
    ...committed('text', found.texts, found.textSalt, seal.textCommitment),
  ];
}

function committed(what: string, text: string | null, salt: string | null, commitment: string | null): string[] {
  if (text === null) {
    const isErased = commitment === null || salt === null;
    return isErased ? [] : [`has lost its ${what} without a purge`];
  }
  if (salt !== null && recordCommitment(text, salt) === commitment) return [];
  return [`has another ${what} than the one that was sealed`];
}
