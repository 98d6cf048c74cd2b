/**
 * How an audit row or a decision is sealed: its facts are a leaf of a Merkle tree and a link of a hash chain. Addresses
 * and texts are covered only by salted commitments, so that they can be erased and the chain stays valid. Pure.
 * @module
 */
import { createHash } from 'node:crypto';
import { leafHash } from './merkle.rules.ts';

export type RecordFacts = {
  readonly recordId: string;
  /** Ids, states, codes and instants, as one text that does not vary. */
  readonly facts: string;
  /** Null where there is none, or where it was erased. */
  readonly address: string | null;
  /** Everything that a person may have written, as one text. Null where it was erased. */
  readonly texts: string | null;
};

/** The version of leaf and link. A new format gets a new number; old seals keep theirs. */
export const recordFormat = 2;

/** The hash before the first record of a chain. */
export const genesisOfRecords = '0'.repeat(64);

export type SealedFields = {
  readonly chain: string;
  readonly sequence: number;
  readonly recordId: string;
  readonly facts: string;
  readonly addressCommitment: string | null;
  readonly textCommitment: string | null;
};

/** What a leaf is the hash of: a JSON array of texts, integers and nulls, as RFC 8785 (JCS) prescribes. */
export const leafTextOfRecord = (sealed: SealedFields): string =>
  JSON.stringify([
    'bursar record',
    recordFormat,
    sealed.chain,
    sealed.sequence,
    sealed.recordId,
    sealed.facts,
    sealed.addressCommitment,
    sealed.textCommitment,
  ]);

export const sealOfRecord = (previous: string, leaf: string): string =>
  createHash('sha256').update(`bursar record seal\n${recordFormat}\n${previous}\n${leaf}`).digest('hex');

export const sealOfRecordFormat1 = (previous: string, sealed: SealedFields): string =>
  createHash('sha256').update(sealedTextOfRecordFormat1(previous, sealed)).digest('hex');

export const sealedTextOfRecordFormat1 = (previous: string, sealed: SealedFields): string =>
  JSON.stringify([
    previous,
    sealed.chain,
    sealed.sequence,
    1,
    sealed.recordId,
    sealed.facts,
    sealed.addressCommitment,
    sealed.textCommitment,
  ]);

/** The tree also has the seals that are older than it. */
export const leafTextOfRecordFormat1 = (chain: string, sequence: number, hash: string): string =>
  JSON.stringify(['bursar record seal', 1, chain, sequence, hash]);

export const leafOfRecord = (
  chain: string,
  { sequence, hash, leaf }: Pick<RecordSeal, 'sequence' | 'hash' | 'leaf'>,
): string => leaf ?? leafHash(leafTextOfRecordFormat1(chain, sequence, hash));

export const recordCommitment = (text: string, salt: string): string =>
  createHash('sha256').update(`${salt}:${text}`).digest('hex');

export type RecordHead = { readonly sequence: number; readonly hash: string };

export type RecordSeal = {
  readonly sequence: number;
  readonly recordId: string;
  readonly format: number;
  readonly addressCommitment: string | null;
  readonly textCommitment: string | null;
  /** Null in format 1. */
  readonly leaf: string | null;
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
  if (seal.format !== 1 && seal.format !== recordFormat) return [...gap, `has the unknown format ${seal.format}`];
  if (found === undefined) return [...gap, `was sealed as number ${seal.sequence} and is gone`];
  const changed = isSealed(head.hash, seal, { ...seal, chain, facts: found.facts })
    ? []
    : [`does not match its seal ${seal.sequence}: the record, or the seal before it, was changed`];
  return [
    ...gap,
    ...changed,
    ...committed('address', found.address, found.addressSalt, seal.addressCommitment),
    ...committed('text', found.texts, found.textSalt, seal.textCommitment),
  ];
}

function isSealed(previous: string, { format, leaf, hash }: RecordSeal, sealed: SealedFields): boolean {
  if (format === 1) return sealOfRecordFormat1(previous, sealed) === hash;
  return leafHash(leafTextOfRecord(sealed)) === leaf && sealOfRecord(previous, leaf) === hash;
}

function committed(what: string, text: string | null, salt: string | null, commitment: string | null): string[] {
  if (text === null) {
    const isErased = commitment === null || salt === null;
    return isErased ? [] : [`has lost its ${what} without a purge`];
  }
  if (salt !== null && recordCommitment(text, salt) === commitment) return [];
  return [`has another ${what} than the one that was sealed`];
}
