/**
 * JSON payloads that can never block a run: what cannot be decoded becomes `{unreadable: true}`, because decoding
 * comes before any handler that could refuse it. Writing refuses what would not come back equal, or is free text.
 * @module
 */
import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common';

const longestText = 512;

export type Unreadable = { readonly unreadable: true };

export const payloadConverter: PayloadConverter = {
  toPayload<T>(value: T): Payload {
    refuseUnfit(value, 0);
    return defaultPayloadConverter.toPayload(value) as Payload;
  },
  fromPayload<T>(payload: Payload): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch (_undecodable) {
      // The caller sees that something arrived and could not be read; the run goes on.
      return { unreadable: true } as T;
    }
  },
};

function refuseUnfit(value: unknown, depth: number): void {
  if (typeof value === 'bigint') throw new TypeError('payloads carry no bigint');
  if (typeof value === 'string' && value.length > longestText) throw new TypeError('payloads carry no long text');
  if (typeof value !== 'object' || value === null) return;
  if (value instanceof Date) throw new TypeError('payloads carry ISO strings, no Date');
  if (depth > 8) throw new TypeError('payloads are shallow');
  for (const part of Object.values(value)) refuseUnfit(part, depth + 1);
}
