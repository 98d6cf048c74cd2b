/**
 * Goal: a payload that cannot be read never throws, and one that must not be written is refused with the error that
 * its place can bear. Method: both converters, generated payloads and values.
 * @module
 */
import { describe, expect, test } from '@jest/globals';
import { ApplicationFailure, RawValue } from '@temporalio/common';
import fc from 'fast-check';
import { payloadConverter as outside } from '../../../src/temporal/data-converter.ts';
import { payloadConverter as inside } from '../../../src/temporal/workflow-data-converter.ts';

const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
const unfit: [string, unknown][] = [
  ['a Date', { at: new Date(0) }],
  ['a bigint', [1n]],
  ['a long text', { text: 'x'.repeat(513) }],
  ['depth', deep(10)],
];

const errorOf = (write: () => unknown): unknown => {
  try {
    return write();
  } catch (error) {
    return error;
  }
};

describe('writing', () => {
  test.each(unfit)('%s: a TypeError in client and activities', (_, value) => {
    expect(errorOf(() => outside.toPayload(value))).toBeInstanceOf(TypeError);
  });

  test.each(unfit)('%s: a failure that is not retried in workflow code', (_, value) => {
    const error = errorOf(() => inside.toPayload(value));
    expect(error).toBeInstanceOf(ApplicationFailure);
    expect(error).toMatchObject({ type: 'unfit_payload', nonRetryable: true });
  });

  test('no refusal repeats the value', () => {
    const error = errorOf(() => outside.toPayload({ purpose: 'secret '.repeat(100) }));
    expect(String(error)).not.toContain('secret');
  });

  test('valid values are decoded unchanged; answers of the SDK may be long', () => {
    const value = { id: 'int_aaaaaaaa', amountCents: 1_250, text: 'x'.repeat(512), inner: deep(7) };
    expect(inside.fromPayload(inside.toPayload(value) as never)).toEqual(value);
    expect(inside.fromPayload(inside.toPayload(new RawValue('x'.repeat(2_000))) as never)).toHaveLength(2_000);
  });
});

test('decoding never throws', () => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  const encodings = fc.constantFrom(
    'json/plain',
    'binary/plain',
    'binary/null',
    'json/protobuf',
    'binary/encrypted',
    '',
  );
  const payload = fc.record(
    {
      metadata: fc.option(fc.record({ encoding: encodings.map((name) => Buffer.from(name)) }, { requiredKeys: [] })),
      data: fc.option(
        fc.oneof(
          bytes,
          fc.json().map((text) => Buffer.from(text)),
        ),
      ),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(payload, (given) => {
      inside.fromPayload(given as never);
      outside.fromPayload(given as never);
    }),
    { numRuns: 500 },
  );
  expect(inside.fromPayload({ metadata: { encoding: Buffer.from('x/y') } })).toEqual({ unreadable: true });
});
