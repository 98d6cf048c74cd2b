/** Which challenge of a merchant's headers is answered, over a list of headers with a reason each. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseAuthenticate } from '../../../../src/domains/payments/mpp/authenticate-header.rules.ts';
import { type ChallengeChoice, chooseChallenge } from '../../../../src/domains/payments/mpp/challenge.wire.ts';
import { headerCases, nowMs } from './authenticate-headers.ts';

const chosen = (lines: readonly string[]): ChallengeChoice => chooseChallenge(parseAuthenticate(lines), nowMs);

describe('the headers of the list', () => {
  test.each(headerCases.map((one) => ({ why: one[0], lines: one[1], expected: one[2] })))(
    '$why',
    ({ lines, expected }) => {
      const choice = chosen(lines);
      if (expected === 'none') expect(choice).toEqual({ ok: false, reasons: [], offered: [] });
      else if ('pays' in expected) expect(choice).toMatchObject({ ok: true, challenge: { id: expected.pays } });
      else {
        expect(choice.ok).toBe(false);
        expect(choice.ok ? [] : choice.reasons).toContainEqual(expect.stringContaining(expected.refuses));
      }
    },
  );

  test('are at least 150, each with its own reason', () => {
    expect(headerCases.length).toBeGreaterThanOrEqual(150);
    expect(new Set(headerCases.map(([why]) => why)).size).toBe(headerCases.length);
  });
});

describe('any header', () => {
  const tokens = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
  const values = fc.string({ unit: fc.constantFrom(...'ab ,="\\\t/+éÿ'), maxLength: 20 });
  const quote = (value: string): string => `"${value.replace(/[\\"]/g, '\\$&')}"`;

  test('is parsed into the challenges that it was written from, whatever the quoted strings contain', () => {
    const challenge = fc.record({
      scheme: tokens,
      parameters: fc.uniqueArray(fc.tuple(tokens, values), { selector: ([name]) => name, minLength: 1, maxLength: 5 }),
    });
    const separator = fc.constantFrom(', ', ',', ' , ', ',,', ', ,\t');
    fc.assert(
      fc.property(
        fc.array(challenge, { minLength: 1, maxLength: 5 }),
        separator,
        fc.boolean(),
        (written, comma, split) => {
          const texts = written.map(
            ({ scheme, parameters }) =>
              `${scheme} ${parameters.map(([name, value]) => `${name}=${quote(value)}`).join(comma)}`,
          );
          const parsed = parseAuthenticate(split ? texts : [texts.join(comma)]);
          expect(
            parsed.map(({ scheme, parameters, fault }) => ({ scheme, parameters: [...parameters], fault })),
          ).toEqual(written.map(({ scheme, parameters }) => ({ scheme, parameters, fault: undefined })));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('never throws', () => {
    const anything = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), values, fc.string({ maxLength: 500 }));
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 4 }), (lines) => {
        expect(chosen(lines)).toHaveProperty('ok');
        expect(chosen(lines.map((line) => `Payment ${line}`))).toHaveProperty('ok');
      }),
      { numRuns: 1_000 },
    );
  });
});

test('a refusal names every method that was offered', () => {
  const lines = [
    'Payment id="1", realm="r", method="tempo", intent="charge", request="e30"',
    'Payment method="evm", intent="session"',
  ];
  expect(chosen(lines)).toMatchObject({ ok: false, offered: ['tempo/charge', 'evm/session'] });
});

describe('a header with a fault', () => {
  const schemes = (line: string) => parseAuthenticate([line]).map(({ scheme, fault }) => [scheme, fault !== undefined]);

  test.each([
    ['Payment id=é"x, Evil id=1", Other id=2'],
    ['Payment id=é"x \\", Evil id=1", Other id=2'],
    ['Payment id=é"x\\\\", Other id=2'],
    ['Payment id=é" ", Other id=2'],
    ['Payment id=é"a\\ b, Evil id=1", Other id=2'],
  ])('%s: what is quoted behind it begins no challenge', (line) => {
    expect(schemes(line)).toEqual([
      ['payment', true],
      ['other', false],
    ]);
  });

  test.each([['Payment id=é"x, Other id=2'], ['Payment id=é"x, Other id=2\\']])(
    '%s: an unterminated quote reaches the end',
    (line) => {
      expect(schemes(line)).toEqual([['payment', true]]);
    },
  );
});

test('a backslash quotes any character, a space too', () => {
  const [challenge] = parseAuthenticate(['Payment id="a\\ b\\"c"']);
  expect(challenge?.parameters.get('id')).toBe('a b"c');
});
