/**
 * JSON payloads that cannot block a run. Decoding never throws: invalid input becomes `{unreadable: true}`, because
 * decoding comes before any handler that could refuse it. Encoding refuses values that would not be decoded equal, and
 * text so long that it may be free text.
 * @module
 */
import { defaultPayloadConverter, type Payload, type PayloadConverter, RawValue } from '@temporalio/common';

const longestText = 512;
const deepest = 8;

export type Unreadable = { readonly unreadable: true };

/** `refusal` makes the error for a value that must not be written; its sentence never repeats the value. */
export function createPayloadConverter(refusal: (why: string) => Error): PayloadConverter {
  const refuseUnfit = (value: unknown, depth: number): void => {
    if (typeof value === 'bigint') throw refusal('payloads carry no bigint');
    if (typeof value === 'string' && value.length > longestText) {
      throw refusal(`payloads carry no text over ${longestText} characters`);
    }
    if (typeof value !== 'object' || value === null) return;
    if (value instanceof Date) throw refusal('payloads carry ISO strings, no Date');
    if (depth > deepest) throw refusal(`payloads carry at most ${deepest} levels`);
    for (const part of Object.values(value)) refuseUnfit(part, depth + 1);
  };
  return {
    toPayload<T>(value: T): Payload {
      // The SDK's own answers to operators (details, stack traces) are payloads already.
      if (!(value instanceof RawValue)) refuseUnfit(value, 0);
      return defaultPayloadConverter.toPayload(value) as Payload;
    },
    fromPayload<T>(payload: Payload): T {
      try {
        return defaultPayloadConverter.fromPayload<T>(payload);
      } catch (_undecodable) {
        // The caller sees that something arrived and could not be read; the run continues.
        return { unreadable: true } as T;
      }
    },
  };
}
