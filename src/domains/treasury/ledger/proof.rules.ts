/**
 * A proof that one journal was in an owner's book when a checkpoint was signed, without any other journal. It is checked
 * with the public key alone. Pure.
 * @module
 */
import { createHash, type KeyObject } from 'node:crypto';
import { isIncluded, leafHash } from '../../../platform/record-chains/merkle.rules.ts';
import { isSignedHead, keyIdOf } from './checkpoint.rules.ts';
import {
  type JournalOnRecord,
  leafText,
  leafTextOfFormat1,
  type SealOnRecord,
  sealedTextOfFormat1,
} from './seal.rules.ts';

export type JournalProof = {
  /** Of the journal's seal. */
  readonly format: number;
  readonly ownerId: string;
  readonly journalId: string;
  readonly sequence: number;
  /** The facts of the journal, exactly as they were hashed. */
  readonly text: string;
  /** From the leaf to the root, lowest first. */
  readonly path: readonly string[];
  readonly checkpoint: {
    readonly at: string;
    readonly keyId: string;
    /** Of the tree: how many journals the checkpoint speaks for. */
    readonly size: number;
    readonly treeRoot: string;
    readonly head: string;
    readonly signature: string;
  };
};

/** What the leaf of a journal is made of. `previous`: the seal before it, which format 1 covers. */
export const provenText = (seal: SealOnRecord, previous: string, journal: JournalOnRecord): string =>
  seal.format === 1
    ? sealedTextOfFormat1(previous, seal.sequence, journal)
    : leafText(seal.sequence, seal.sealedAt ?? '', journal);

/** Undefined when the proof holds under this key; otherwise what is wrong, in words. */
export function faultOfProof(key: KeyObject, proof: JournalProof): string | undefined {
  const { ownerId, sequence, path, checkpoint } = proof;
  const { at, keyId, size, treeRoot, head: hash, signature } = checkpoint;
  if (keyId !== keyIdOf(key)) return `names the key ${keyId}, not ${keyIdOf(key)}`;
  if (!isSignedHead(key, at, { ownerId, sequence: size, hash, treeRoot, signature }))
    return 'has a checkpoint whose signature is not ours';
  if (!saysWhatItNames(proof)) return 'has a text that is of another journal, place or format than it names';
  const isUnderRoot = isIncluded({ leaf: leafOfText(proof), index: sequence - 1, size, path, root: treeRoot });
  return isUnderRoot ? undefined : 'does not lead from the journal to the root of the checkpoint';
}

const leafOfText = ({ format, sequence, text }: JournalProof): string =>
  leafHash(format === 1 ? leafTextOfFormat1(sequence, createHash('sha256').update(text).digest('hex')) : text);

/** Where the number, the journal and the owner stand in the text of a format. */
const placesOf: Readonly<Record<number, readonly [sequence: number, journal: number, owner: number]>> = {
  1: [1, 2, 3],
  2: [2, 4, 5],
};

function saysWhatItNames({ format, sequence, journalId, ownerId, text }: JournalProof): boolean {
  const facts = parsed(text);
  const places = placesOf[format];
  if (!Array.isArray(facts) || places === undefined) return false;
  if (format === 2 && (facts[0] !== 'bursar journal' || facts[1] !== 2)) return false;
  const [place, id, owner] = places.map((index): unknown => facts[index]);
  return place === sequence && id === journalId && owner === ownerId;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (_noJson) {
    return undefined;
  }
}
