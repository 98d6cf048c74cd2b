/**
 * The content and the signature of a checkpoint: the head of each owner's chain at one instant. Its root covers the
 * root before it, so the newest checkpoint covers all earlier ones. Ed25519. Pure.
 * @module
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { numberedCursor } from '../../../kernel/page.ts';

export type CheckpointHead = {
  /** `audit` or `decisions`; absent: the owner's chain of journals. */
  readonly chain?: string | undefined;
  readonly ownerId: string;
  readonly sequence: number;
  readonly hash: string;
};
export type SignedHead = CheckpointHead & { readonly signature: string };

export type Checkpoint = {
  /** ISO 8601, real time. */
  readonly at: string;
  readonly keyId: string;
  readonly previousRoot: string;
  readonly root: string;
  readonly rootSignature: string;
  /** Owners whose chain has grown since their last checkpoint, by owner id. */
  readonly heads: readonly SignedHead[];
};

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
  heads: readonly CheckpointHead[],
): Checkpoint {
  const sorted = [...heads].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const root = rootOf(at, previousRoot, sorted);
  return {
    at,
    keyId: keyIdOf(key),
    previousRoot,
    root,
    rootSignature: signed(key, root),
    heads: sorted.map(({ chain, ownerId, sequence, hash }) => {
      const head = { ...(chain === undefined ? {} : { chain }), ownerId, sequence, hash };
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
  const { at, previousRoot, root, rootSignature, heads, keyId } = checkpoint;
  if (keyId !== keyIdOf(key)) return `is signed by the key ${keyId}, not by ${keyIdOf(key)}`;
  if (rootOf(at, previousRoot, heads) !== root) return 'names another root than its heads give';
  if (!isSignedRoot(key, root, rootSignature)) return 'has a root signature that is not ours';
  const bad = heads.find((head) => !isSignedHead(key, at, head));
  return bad && `has a signature for ${bad.ownerId} that is not ours`;
}

const nameOf = ({ ownerId, chain = '' }: CheckpointHead): string => `${ownerId}/${chain}`;

const headText = (at: string, { chain, ownerId, sequence, hash }: CheckpointHead): string =>
  ['bursar checkpoint', at, ownerId, sequence, hash, ...(chain === undefined ? [] : [chain])].join('\n');

const rootOf = (at: string, previousRoot: string, heads: readonly CheckpointHead[]): string =>
  createHash('sha256')
    .update([previousRoot, ...heads.map((head) => headText(at, head))].join('\n'))
    .digest('hex');

const signed = (key: KeyObject, text: string): string => sign(null, Buffer.from(text), key).toString('base64url');

const isSigned = (key: KeyObject, text: string, signature: string): boolean =>
  verify(null, Buffer.from(text), publicKeyOf(key), Buffer.from(signature, 'base64url'));
