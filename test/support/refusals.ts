/** How a test looks at a call that is refused: as a pattern to expect, as status and message, or as status alone. @module */
import { expect } from '@jest/globals';
import { Refused } from '../../src/client/client.ts';
import { DomainError } from '../../src/kernel/errors.ts';

/** For `rejects.toEqual`. */
export const refusal = (status: number, message?: RegExp) =>
  expect.objectContaining({ status, ...(message ? { message: expect.stringMatching(message) } : {}) });

/** Fails where the call was accepted, and where it failed without an answer. */
export const refusalOf = (attempt: Promise<unknown>): Promise<[status: number, message: string]> =>
  attempt.then(
    (answer) => Promise.reject(new Error(`accepted: ${JSON.stringify(answer)}`)),
    (error: unknown) => (error instanceof Refused ? [error.status, error.message] : Promise.reject(error)),
  );

/** 200 when there was no refusal. */
export const statusOf = (attempt: Promise<unknown>): Promise<number> =>
  attempt.then(
    () => 200,
    (refused: { status?: number }) => refused.status ?? 0,
  );

/** What a rule or a check throws as 400 `invalid_request`. Throws where nothing is refused. */
export function refusalMessage(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof DomainError && error.code === 'invalid_request') return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}
