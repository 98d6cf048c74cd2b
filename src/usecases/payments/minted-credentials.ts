/**
 * Keeps a minted credential in the memory of the worker, for a moment, from the step that mints it to the step that
 * presents it. It is stored nowhere: another worker, or one that was started anew, asks the processor again.
 * @module
 */
import { sendWithinMs } from '../../domains/payments/mpp-payments/mpp-payment.rules.ts';
import type { MintResult } from './mint-credential.ts';

export type MintedCredential = Extract<MintResult, { readonly outcome: 'minted' }>;

export type MintedCredentials = {
  keep(credentialId: string, minted: MintedCredential): void;
  /** Once: the first caller that takes it is the only one to have it. */
  take(credentialId: string): MintedCredential | undefined;
};

const mostKept = 1_000;

/** `livesMs`: no longer than a credential may be sent. */
export function mintedCredentials({ livesMs = sendWithinMs } = {}): MintedCredentials {
  const kept = new Map<string, { readonly minted: MintedCredential; readonly timer: NodeJS.Timeout }>();
  const take = (credentialId: string): MintedCredential | undefined => {
    const found = kept.get(credentialId);
    clearTimeout(found?.timer);
    kept.delete(credentialId);
    return found?.minted;
  };
  return {
    keep: (credentialId, minted) => {
      take(credentialId);
      if (kept.size >= mostKept) return;
      const timer = setTimeout(() => kept.delete(credentialId), livesMs).unref();
      kept.set(credentialId, { minted, timer });
    },
    take,
  };
}
