/**
 * Whose key signed a message, with the ceiling of its messages. A wrong signature is counted by the address that sent
 * it, and refused.
 * @module
 */
import type { Call } from '../../../http/caller.ts';
import type { FailureLimit } from '../../../http/failure-limit.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { MessageCeiling } from './network.ceiling.ts';
import { type NetworkKeys, type Signer, signerOf } from './network.signature.ts';

export type SignedByDeps = {
  readonly networkKeys: NetworkKeys;
  /** Counts a message by the key that signed it. */
  readonly countMessage: MessageCeiling;
  /** Counts a bad signature by the address that sent it; a good one from that address is still accepted. */
  readonly countBadSignature: FailureLimit;
  /** Where the signature is right, and the clocks of the network and of this process are apart. */
  readonly noteUntimely: (message: Signer['untimely']) => Promise<unknown>;
};

type Input = {
  readonly requestLine: string;
  readonly rawBody: Uint8Array;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

/** Answers with the adapter. Throws `unauthenticated`, or `rate_limited`. */
export type SignedBy = (input: Input, call: Call) => Promise<string>;

export const signedBy =
  (deps: SignedByDeps): SignedBy =>
  async ({ requestLine, rawBody, headers }, call) => {
    const header = headers['x-network-signature'];
    const signature = typeof header === 'string' ? header : undefined;
    const { adapter, untimely } = signerOf({ signature, requestLine, rawBody }, deps.networkKeys, Date.now());
    if (adapter === undefined) {
      // First, so that an address above its limit writes nothing.
      deps.countBadSignature(call.cause.sourceAddress ?? 'unknown');
      await deps.noteUntimely(untimely);
      throw new DomainError('unauthenticated', wrongSignature);
    }
    deps.countMessage(adapter);
    return adapter;
  };

const wrongSignature =
  'X-Network-Signature is missing, wrong, or more than 5 minutes off: sign t.METHOD target.body with this network’s key';
