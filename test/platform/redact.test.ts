/** No secret survives the redactor wherever it stands, and what operators need to read stays readable. @module */

import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { endToEndIdOf } from '../../src/domains/treasury/sepa/end-to-end-id.rules.ts';
import { type IdKind, idPrefixes, newId, uuidv7 } from '../../src/kernel/ids.ts';
import { passesLuhn } from '../../src/platform/card-number-spans.ts';
import { redact, redactText } from '../../src/platform/redact.ts';
import { masked, secretForms } from '../../src/platform/secret-forms.ts';

const digits = (length: number): fc.Arbitrary<string> =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length }).map((all) => all.join(''));

const cardNumber = fc.integer({ min: 13, max: 19 }).chain((length) =>
  digits(length - 2).map((middle) => {
    const open = `4${middle}`;
    return open + [...'0123456789'].find((check) => passesLuhn(open + check));
  }),
);
const groupedCardNumber = fc
  .tuple(cardNumber, fc.constantFrom(' ', '-', '  ', ' - ', '\u2011', '\u00a0'), fc.integer({ min: 2, max: 6 }))
  .filter(([, separator]) => separator.length <= 2)
  .map(([number, separator, size]) => number.match(new RegExp(`\\d{1,${size}}`, 'g'))!.join(separator));

const base64url = fc
  .uint8Array({ minLength: 18, maxLength: 40 })
  .map((bytes) => Buffer.from(bytes).toString('base64url'));
const prefixed = fc
  .tuple(
    fc.constantFrom(
      'sk_',
      'sk_sandbox_',
      'sk_test_',
      'sk_live_',
      'at_',
      'at_test_',
      'at_live_',
      'at_dlg_',
      'spt_',
      'mer_sk_',
      'whsec_',
    ),
    base64url,
  )
  .map(([prefix, rest]) => prefix + rest);
const dotted = fc
  .tuple(fc.constantFrom(3, 5), fc.array(base64url, { minLength: 5, maxLength: 5 }))
  .map(([parts, texts]) => `eyJhbGciOiJkaXIi${texts.slice(0, parts).join('.')}`);
const pem = base64url.map((body) => `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----`);
const bearer = base64url.map((token) => `Bearer ${token}`);
const iban = fc
  .constantFrom(
    'DE89370400440532013000',
    'FR1420041010050500013M02606',
    'NL91ABNA0417164300',
    'MT84MALT011000012345MTLCAST001S',
  )
  .chain((account) => fc.constantFrom(account, account.match(/.{1,4}/g)!.join(' '), account.toLowerCase()));
const secret = fc.oneof(cardNumber, groupedCardNumber, prefixed, dotted, pem, bearer, iban);

/** Words that stand beside a secret without being glued to it. */
const beside = fc.constantFrom(
  '',
  'card ',
  '"',
  ' – ',
  'a=1&b=',
  'line\n',
  '(',
  'ü ',
  'x: ',
  '[1,"',
  'id int_00000000000000000000000000 ',
);

describe('secrets', () => {
  test('no secret survives in any text', () => {
    fc.assert(
      fc.property(
        beside,
        secret,
        fc.constantFrom('', ' ', '"', '.', ', next', '\n', ')', ' exp'),
        (before, hidden, after) => {
          expect(redactText(before + hidden + after)).not.toContain(hidden);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('no secret survives at any place of nested data', () => {
    const nested = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 5 },
        fc.tuple(beside, secret).map(([words, hidden]) => ({ value: words + hidden, hidden: [hidden] })),
        fc.dictionary(fc.string(), tie('node'), { minKeys: 1, maxKeys: 3 }).map(joined((all) => all)),
        fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((all) => joined(Object.values)({ ...all })),
        tie('node').map((inner) => wrapped(inner, (value) => new Map([['k', value]]))),
        tie('node').map((inner) => wrapped(inner, (value) => new Set([value]))),
        tie('node').map((inner) => wrapped(inner, (value) => new Error('failed', { cause: value }))),
        tie('node').map((inner) => wrapped(inner, (value) => Object.assign(new Error(messageOf(value)), { value }))),
        secret.map((hidden) => ({ value: { [hidden]: 1 }, hidden: [hidden] })),
      ),
    })).node as fc.Arbitrary<Planted>;
    fc.assert(
      fc.property(nested, ({ value, hidden }) => {
        const written = JSON.stringify(redact(value));
        for (const one of hidden) expect(written).not.toContain(JSON.stringify(one).slice(1, -1));
      }),
      { numRuns: 500 },
    );
  });

  test('a card number as a number is masked', () => {
    expect(redact({ a: 4242424242424242, b: 4242424242424242n, c: [5555555555554444] })).toEqual({
      a: masked,
      b: masked,
      c: [masked],
    });
  });

  test('values under secret names are redacted whatever their form is', () => {
    const data = {
      Authorization: 'x',
      'X-Dashboard-Secret': 'y',
      nested: { cvc: 123, cvv: '456', password: ['z'], iban: 'q', pan: null },
    };
    expect(redact(data)).toEqual({
      Authorization: masked,
      'X-Dashboard-Secret': masked,
      nested: { cvc: masked, cvv: masked, password: masked, iban: masked, pan: null },
    });
  });

  test('a card number with its expiry behind it, a password in a URL and an unfinished PEM are masked', () => {
    expect(redactText('4242 4242 4242 4242 12 2027')).not.toMatch(/4242/);
    expect(redactText('postgres://user:hunter2@db.example/x')).toBe(`postgres://${masked}@db.example/x`);
    expect(redactText('-----BEGIN EC PRIVATE KEY-----\nabcdef')).toBe(masked);
  });

  test('a long text is searched before it is cut', () => {
    const text = `${'a '.repeat(8_185)}4242424242424242 ${'b'.repeat(50_000)}`;
    expect(String(redact(text))).not.toContain('42424242');
    expect(String(redact(text)).length).toBeLessThan(17_000);
  });

  const pieces = ['eyJ', 'eyJ.', '1 ', '12-', 'DE12', '://a:', 'sk_', '-----BEGIN A-----', 'Bearer ', 'Basic\n', 'x'];

  // measured in processor time, which other processes do not change; both texts are shorter than the cut
  test.each(pieces)(
    'the time to search a text of repeated "%s" grows with its length, not with its square',
    (piece) => {
      const cpuMs = (length: number) => {
        const text = piece.repeat(length / piece.length);
        const before = process.cpuUsage();
        redact(text);
        return process.cpuUsage(before).user / 1_000;
      };
      const short = cpuMs(2_000);
      const long = cpuMs(16_000);
      expect(long).toBeLessThan(24 * Math.max(short, 2));
    },
  );

  // The secret at the end is found only by a search that reaches it before its limit. V8 optimizes no pattern any more in
  // a process that has compiled many; a search then goes back up to 6 times per character, otherwise at most twice.
  test.each(pieces)('each pattern goes back less than 12 times per character of repeated "%s"', (piece) => {
    const samples = [
      '-----BEGIN A-----',
      'eyJabcdefgh.x',
      'Bearer abcdefgh12345678',
      'whsec_abcdefgh12345678',
      'sk_abcdefgh12345678',
      '://a:b@',
    ];
    const found = secretForms.map(([{ source, flags }], at) => {
      const text = `${piece.repeat(20_000)} ${samples[at]}`;
      const limited = withBacktrackLimit(source, flags, 12 * text.length);
      let last: string | undefined;
      for (let match = limited.exec(text); match !== null; match = limited.exec(text)) last = match[0];
      return last?.endsWith(samples[at] ?? '');
    });
    expect(found).toEqual(samples.map(() => true));
  });

  test('signed and sealed texts are masked as by the plain pattern', () => {
    const plain = /eyJ[\w-]{6,}(?:\.[\w-]*){1,4}/g;
    const [, [form, replacement] = [/^$/, '']] = secretForms;
    expect(form.source).toContain('eyJ');
    const part = fc.constantFrom(
      'eyJ',
      'ey',
      'J',
      '.',
      '..',
      '-',
      '_',
      'abc',
      'abcdef',
      '123456789',
      ' ',
      '"',
      'ü',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const text = parts.join('');
        expect(text.replace(form, replacement)).toBe(text.replace(plain, masked));
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('what stays readable', () => {
  const kinds = Object.keys(idPrefixes) as IdKind[];

  test('ids of every kind and request ids survive', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.uint8Array({ minLength: 16, maxLength: 16 }), (kind, bytes) => {
        const id = newId(kind, bytes);
        expect(redactText(`card 1 ${id} 22`)).toBe(`card 1 ${id} 22`);
        expect(redact({ id, list: [`intent/${id}`] })).toEqual({ id, list: [`intent/${id}`] });
      }),
      { numRuns: 1_000 },
    );
    for (let i = 0; i < 2_000; i++) {
      const requestId = uuidv7();
      expect(redactText(`7 ${requestId} 12`)).toBe(`7 ${requestId} 12`);
    }
  });

  test('what a bank calls a transfer survives, and a Turkish account does not', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        const name = endToEndIdOf(newId('transfer', bytes));
        expect(redactText(`the bank knows no ${name}.`)).toBe(`the bank knows no ${name}.`);
      }),
      { numRuns: 1_000 },
    );
    expect(redactText('from TR330006100519786457841326')).toBe('from [redacted]');
  });

  test('amounts, instants, clocks, hashes, event names and ordinary words survive', () => {
    const hash = randomBytes(32).toString('hex').replaceAll(/\d/g, 'a');
    for (const text of [
      'declined: daily limit 100.00, spent 92.50, asked 12.00',
      '2026-11-20T08:52:24.123Z',
      'risk.review_required',
      hash,
      'task_runner_configuration_file',
      'format_string_with_arguments',
      'updated_at_least_once_today',
      '127.0.0.1:54329',
      '4242424242424241',
    ])
      expect(redactText(text)).toBe(text);
    expect(redact({ at: 1_763_627_544_004, n: 1.5, big: 10n, none: null, yes: true })).toEqual({
      at: 1_763_627_544_004,
      n: 1.5,
      big: '10',
      none: null,
      yes: true,
    });
  });

  test('cycles, depths, binary, functions, bad dates and throwing getters become words', () => {
    const ring: Record<string, unknown> = {
      buffer: Buffer.alloc(3),
      call: () => 1,
      date: new Date(Number.NaN),
      when: new Date(0),
    };
    ring.self = ring;
    Object.defineProperty(ring, 'bad', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    expect(redact(ring)).toEqual({
      buffer: '[3 bytes]',
      call: '[function]',
      date: 'invalid date',
      when: '1970-01-01T00:00:00.000Z',
      self: '[circular]',
      bad: '[unreadable]',
    });
    let deep: unknown = 'end';
    for (let i = 0; i < 50; i++) deep = { deep };
    expect(JSON.stringify(redact(deep))).toContain('[too deep]');
    expect(redact(Array(300).fill(1))).toHaveLength(201);
  });

  test('redacting twice changes nothing more', () => {
    fc.assert(
      fc.property(fc.tuple(beside, secret), ([words, hidden]) => {
        const once = redactText(words + hidden);
        expect(redactText(once)).toBe(once);
      }),
    );
  });
});

type Planted = { value: unknown; hidden: string[] };

const wrapped = (inner: unknown, wrap: (value: unknown) => unknown): Planted => {
  const { value, hidden } = inner as Planted;
  return { value: wrap(value), hidden };
};

/** An object may have a member named `toString`. */
const messageOf = (value: unknown): string => (typeof value === 'string' ? value : 'failed');

const joined =
  (shape: (values: Record<string, unknown>) => unknown) =>
  (all: Record<string, unknown>): Planted => {
    const parts = Object.entries(all) as [string, Planted][];
    return {
      value: shape(Object.fromEntries(parts.map(([name, part]) => [name, part.value]))),
      hidden: parts.flatMap(([, part]) => part.hidden),
    };
  };

/** V8 counts the steps that a search takes back; a search past its limit finds nothing. */
const withBacktrackLimit = (source: string, flags: string, limit: number): RegExp => {
  setFlagsFromString('--allow-natives-syntax');
  try {
    const make: (...given: unknown[]) => RegExp = runInThisContext(
      '(source, flags, limit) => %NewRegExpWithBacktrackLimit(source, flags, limit)',
    );
    return make(source, flags, limit);
  } finally {
    setFlagsFromString('--no-allow-natives-syntax');
  }
};
