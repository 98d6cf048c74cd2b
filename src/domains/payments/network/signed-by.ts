/**
 * Whose key signed a message, with the ceiling of its messages. A wrong signature is counted by the address that sent
 * it, and refused.
 * @module
 */
import type { Call } from '../../../http/caller.ts';
import type { FailureLimit } from '../../../http/failure-limit.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { MessageCeiling } from './network.ceiling.ts';
import { type NetworkKeys, type Signer, signerOf, signerOfHead } from './network.signature.ts';

export type SignedByDeps = {
  readonly networkKeys: NetworkKeys;
  /** Counts a message by the key that signed it. */
  readonly countMessage: MessageCeiling;
  /** Counts a bad signature by the address that sent it; a good one from that address is still accepted. */
  readonly countBadSignature: FailureLimit;
  /** Where the signature is right, and the clocks of the network and of this process are apart. */
  readonly noteUntimely: (message: Signer['untimely']) => Promise<unknown>;
};

type Head = {
  readonly requestLine: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};
type Input = Head & { readonly rawBody: Uint8Array };

/** Answers with the adapter. Throws `unauthenticated`, or `rate_limited`. */
export type SignedBy = (input: Input, call: Call) => Promise<string>;

/** Whether the headers alone show who signed. Throws for those that no signed message has. Counts no message. */
export type SignedHead = (head: Head, call: Call) => Promise<boolean>;

export const signedBy =
  (deps: SignedByDeps): SignedBy =>
  async ({ rawBody, ...head }, call) => {
    const { adapter, untimely } = signerOf({ ...signedHeadOf(head), rawBody }, deps.networkKeys, Date.now());
    if (adapter === undefined) throw await refusedSignature(deps, untimely, call);
    deps.countMessage(adapter);
    return adapter;
  };

export const signedHead =
  (deps: SignedByDeps): SignedHead =>
  async (head, call) => {
    const signer = signerOfHead(signedHeadOf(head), deps.networkKeys, Date.now());
    if (signer === 'by body') return false;
    if (signer.adapter === undefined) throw await refusedSignature(deps, signer.untimely, call);
    return true;
  };

function signedHeadOf({ requestLine, headers }: Head) {
  const only = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  return { requestLine, signature: only('x-network-signature'), contentDigest: only('content-digest') };
}

async function refusedSignature(
  { countBadSignature, noteUntimely }: SignedByDeps,
  untimely: Signer['untimely'],
  call: Call,
): Promise<DomainError> {
  // First, so that an address above its limit writes nothing.
  countBadSignature(call.cause.sourceAddress ?? 'unknown');
  await noteUntimely(untimely);
  return new DomainError('unauthenticated', wrongSignature);
}

const wrongSignature =
  'X-Network-Signature is missing, wrong, or more than 5 minutes off: sign t.METHOD target.body with this network’s key';
