/**
 * Decides how much of a body is read for whom: of a caller that its headers do not prove to be a bank no more than of
 * any other caller, and of banks only some large files at once, from their first byte to the answer.
 * @module
 */
import { DomainError } from '../../../kernel/errors.ts';
import { largestBodyBytes } from './bank-file.contract.ts';

/** What any other operation reads as well. */
export const largestUnprovenBytes = 1024 * 1024;
export const mostLargeFiles = 4;

type Body = {
  /** The headers alone show which bank signed. */
  readonly isProven: boolean;
  /** Infinite where the headers do not say it. */
  readonly declaredBytes: number;
};

type Limit = { readonly limitBytes: number; readonly advice?: string };

export type BankFileBodies = {
  /** Throws `unavailable` where too many large files are held. */
  holding<T>(body: Body, work: (limit: Limit) => Promise<T>): Promise<T>;
};

export function createBankFileBodies(): BankFileBodies {
  let held = 0;
  return {
    async holding({ isProven, declaredBytes }, work) {
      if (!isProven) return work({ limitBytes: largestUnprovenBytes, advice });
      if (declaredBytes <= largestUnprovenBytes) return work({ limitBytes: largestUnprovenBytes });
      if (held >= mostLargeFiles) throw new DomainError('unavailable', tooMany, { retryAfterSeconds: 5 });
      held += 1;
      try {
        return await work({ limitBytes: largestBodyBytes });
      } finally {
        held -= 1;
      }
    },
  };
}

const advice = `sign a larger file, of up to ${largestBodyBytes}, by its digest: Content-Digest and a signature v2`;
const tooMany = `${mostLargeFiles} files of more than ${largestUnprovenBytes} bytes are being received; send it again`;
