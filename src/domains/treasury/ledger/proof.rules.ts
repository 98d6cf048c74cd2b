/**
 * A proof that one journal, audit row or decision was in an owner's chain when a checkpoint was signed, without any
 * other record. It is checked with the public key alone. Pure.
 * @module
 */
import { createHash, type KeyObject } from 'node:crypto';
import { isIncluded, leafHash, pathLength } from '../../../platform/record-chains/merkle.rules.ts';
import { leafTextOfRecordFormat1 } from '../../../platform/record-chains/record-chain.rules.ts';
import { isSignedHead, keyIdOf } from './checkpoint.rules.ts';
import {
  type JournalOnRecord,
  leafText,
  leafTextOfFormat1,
  type SealOnRecord,
  sealedTextOfFormat1,
} from './seal.rules.ts';

/** Of the file; a new form gets a new number. */
export const proofVersion = 1;

export type ProvenChain = 'journals' | 'audit' | 'decisions';

export type Proof = {
  readonly version: typeof proofVersion;
  readonly chain: ProvenChain;
  readonly ownerId: string;
  /** Of the journal or audit row; the number of a decision. */
  readonly id: string;
  readonly sequence: number;
  /** Of the record's seal. */
  readonly format: number;
  /** The facts of the record, exactly as they were hashed. */
  readonly text: string;
  readonly leaf: string;
  /** From the leaf to the root, lowest first. */
  readonly path: readonly string[];
  readonly checkpoint: {
    readonly at: string;
    readonly keyId: string;
    /** Of the tree: how many records the checkpoint speaks for. */
    readonly size: number;
    readonly treeRoot: string;
    readonly head: string;
    readonly signature: string;
  };
};

/** What a sentence calls one of its records. */
export const nounOf: Readonly<Record<ProvenChain, string>> = {
  journals: 'journal',
  audit: 'audit row',
  decisions: 'decision',
};

/** What the leaf of a journal is made of. `previous`: the seal before it, which format 1 covers. */
export const provenText = (seal: SealOnRecord, previous: string, journal: JournalOnRecord): string =>
  seal.format === 1
    ? sealedTextOfFormat1(previous, seal.sequence, journal)
    : leafText(seal.sequence, seal.sealedAt ?? '', journal);

/** Undefined when the proof holds under this key; otherwise what is wrong, in words. */
export function faultOfProof(key: KeyObject, given: Proof): string | undefined {
  const { chain, ownerId, sequence, leaf, path, checkpoint } = given;
  const { at, keyId, size, treeRoot, head, signature } = checkpoint;
  if (keyId !== keyIdOf(key)) return `names the key ${keyId}, not ${keyIdOf(key)}`;
  const signed = { chain: chain === 'journals' ? undefined : chain, ownerId, sequence: size, hash: head, treeRoot };
  if (!isSignedHead(key, at, { ...signed, signature }))
    return 'has a checkpoint that the key did not sign: its root, size, head, owner, chain or time was changed';
  if (!saysWhatItNames(given)) return 'has a text that is of another record, place or format than it names';
  if (leafOfText(given) !== leaf) return 'has a text that does not hash to its leaf: the text was changed';
  const due = pathLength(sequence - 1, size);
  if (path.length !== due) return `has a path of ${path.length} hashes; from its leaf to the root there are ${due}`;
  const isUnderRoot = isIncluded({ leaf, index: sequence - 1, size, path, root: treeRoot });
  return isUnderRoot ? undefined : 'does not lead from its leaf to the root of the checkpoint';
}

export function leafOfText({ chain, format, sequence, text }: Pick<Proof, 'chain' | 'format' | 'sequence' | 'text'>) {
  if (format !== 1) return leafHash(text);
  const seal = createHash('sha256').update(text).digest('hex');
  return leafHash(
    chain === 'journals' ? leafTextOfFormat1(sequence, seal) : leafTextOfRecordFormat1(chain, sequence, seal),
  );
}

/** What the text of a format begins with, and where it names the record. */
type Form = {
  readonly fixed: Readonly<Record<number, string | number>>;
  readonly sequence: number;
  readonly id: number;
  readonly owner: (facts: readonly unknown[]) => unknown;
};

const formOf = (chain: ProvenChain, format: number): Form | undefined => {
  const ownerOfRecord = (facts: readonly unknown[]): unknown => listIn(facts[5])?.[0];
  const forms: Readonly<Record<string, Form>> = {
    'journal 1': { fixed: {}, sequence: 1, id: 2, owner: (facts) => facts[3] },
    'journal 2': { fixed: { 0: 'bursar journal', 1: 2 }, sequence: 2, id: 4, owner: (facts) => facts[5] },
    'record 1': { fixed: { 1: chain, 3: 1 }, sequence: 2, id: 4, owner: ownerOfRecord },
    'record 2': { fixed: { 0: 'bursar record', 1: 2, 2: chain }, sequence: 3, id: 4, owner: ownerOfRecord },
  };
  return forms[`${chain === 'journals' ? 'journal' : 'record'} ${format}`];
};

function saysWhatItNames({ chain, format, sequence, id, ownerId, text }: Proof): boolean {
  const form = formOf(chain, format);
  const facts = listIn(text);
  if (form === undefined || facts === undefined) return false;
  const isOfForm = Object.entries(form.fixed).every(([index, value]) => facts[Number(index)] === value);
  return isOfForm && facts[form.sequence] === sequence && facts[form.id] === id && form.owner(facts) === ownerId;
}

function listIn(text: unknown): readonly unknown[] | undefined {
  const found = typeof text === 'string' ? parsed(text) : undefined;
  return Array.isArray(found) ? found : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (_noJson) {
    return undefined;
  }
}
