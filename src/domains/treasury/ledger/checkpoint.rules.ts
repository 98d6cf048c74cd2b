/**
 * The content and the signature of a checkpoint: end and tree of each owner's chain at one instant. Its root covers the
 * root before it, so the newest checkpoint covers all earlier ones. Ed25519. Pure.
 * @module
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { numberedCursor } from '../../../kernel/page.ts';
import { leafHash, merkleRoot } from '../../../platform/record-chains/merkle.rules.ts';

/** Of checkpoints that are made from now on; those without a version are of format 1. */
export const checkpointVersion = 2;

export type CheckpointHead = {
  /** `audit` or `decisions`; absent: the owner's chain of journals. */
  readonly chain?: string | undefined;
  readonly ownerId: string;
  /** Of the last record, and so the size of the tree. */
  readonly sequence: number;
  readonly hash: string;
  /** Root of the Merkle tree over the records 1 to `sequence`; absent in format 1. */
  readonly treeRoot?: string | undefined;
};
export type SignedHead = CheckpointHead & { readonly signature: string };

export type Checkpoint = {
  readonly version?: typeof checkpointVersion | undefined;
  /** ISO 8601, real time. */
  readonly at: string;
  readonly keyId: string;
  readonly previousRoot: string;
  readonly root: string;
  readonly rootSignature: string;
  /** Owners whose chain has grown since their last checkpoint, by owner id. */
  readonly heads: readonly SignedHead[];
};

type Content = Pick<Checkpoint, 'version' | 'at' | 'previousRoot'> & { readonly heads: readonly CheckpointHead[] };

/** A page of checkpoints ends with a sequence: an owner has one checkpoint for each. */
export const checkpointCursor = numberedCursor('sequence', 15);

export const firstRoot = '0'.repeat(64);

/** `pem`: an Ed25519 private key in PKCS#8. */
export function signingKeyFrom(pem: string): KeyObject {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== 'ed25519')
    throw new Error(`a signing key must be Ed25519, not ${key.asymmetricKeyType}`);
  return key;
}

export const publicKeyOf = (key: KeyObject): KeyObject => (key.type === 'public' ? key : createPublicKey(key));

export const publicPemOf = (key: KeyObject): string =>
  publicKeyOf(key).export({ type: 'spki', format: 'pem' }).toString();

export const keyIdOf = (key: KeyObject): string =>
  createHash('sha256')
    .update(publicKeyOf(key).export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);

export function makeCheckpoint(
  key: KeyObject,
  at: string,
  previousRoot: string,
  heads: readonly (CheckpointHead & { readonly treeRoot: string })[],
): Checkpoint {
  const sorted = [...heads].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const content = { version: checkpointVersion, at, previousRoot, heads: sorted } as const;
  const root = rootOf(content);
  return {
    version: checkpointVersion,
    at,
    keyId: keyIdOf(key),
    previousRoot,
    root,
    rootSignature: signed(key, root),
    heads: sorted.map(({ chain, ownerId, sequence, hash, treeRoot }) => {
      const head = { ...(chain === undefined ? {} : { chain }), ownerId, sequence, hash, treeRoot };
      return { ...head, signature: signed(key, headText(at, head)) };
    }),
  };
}

export const isSignedHead = (key: KeyObject, at: string, head: SignedHead): boolean =>
  isSigned(key, headText(at, head), head.signature);

export const isSignedRoot = (key: KeyObject, root: string, signature: string): boolean =>
  isSigned(key, root, signature);

/** What is wrong with a single checkpoint; undefined when it is whole and signed by this key. */
export function faultOf(key: KeyObject, checkpoint: Checkpoint): string | undefined {
  const { at, root, rootSignature, heads, keyId } = checkpoint;
  if (keyId !== keyIdOf(key)) return `is signed by the key ${keyId}, not by ${keyIdOf(key)}`;
  if (heads.some(({ treeRoot }) => (treeRoot === undefined) !== (checkpoint.version === undefined)))
    return 'mixes heads of two formats';
  if (rootOf(checkpoint) !== root) return 'names another root than its heads give';
  if (!isSignedRoot(key, root, rootSignature)) return 'has a root signature that is not ours';
  const bad = heads.find((head) => !isSignedHead(key, at, head));
  return bad && `has a signature for ${bad.ownerId} that is not ours`;
}

const nameOf = ({ ownerId, chain = '' }: CheckpointHead): string => `${ownerId}/${chain}`;

/** What the signature of a head covers: never the same text for two heads, chains or formats. */
export const headText = (at: string, { chain, ownerId, sequence, hash, treeRoot }: CheckpointHead): string =>
  treeRoot === undefined
    ? ['bursar checkpoint', at, ownerId, sequence, hash, ...(chain === undefined ? [] : [chain])].join('\n')
    : ['bursar checkpoint 2', at, ownerId, chain ?? 'journals', sequence, treeRoot, hash].join('\n');

/** In format 2 one head can be shown to be under the root without the others. */
function rootOf({ version, at, previousRoot, heads }: Content): string {
  const texts = heads.map((head) => headText(at, head));
  const content =
    version === undefined
      ? [previousRoot, ...texts]
      : ['bursar checkpoints 2', at, previousRoot, texts.length, merkleRoot(texts.map((text) => leafHash(text)))];
  return createHash('sha256').update(content.join('\n')).digest('hex');
}

const signed = (key: KeyObject, text: string): string => sign(null, Buffer.from(text), key).toString('base64url');

const isSigned = (key: KeyObject, text: string, signature: string): boolean =>
  verify(null, Buffer.from(text), publicKeyOf(key), Buffer.from(signature, 'base64url'));
