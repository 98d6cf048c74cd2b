/**
 * Goal: `text()` and `prose()` take what people write in any script, and nothing that hides, reorders or cannot be
 * stored. Method: examples of scripts, each refused character at each place, and properties over all of Unicode.
 * @module
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cleanText, prose, text } from '../../../src/http/schemas.ts';

const kinds = { text: text(1_000), prose: prose(1_000) };

const scripts = {
  'a family of emoji, joined by ZWJ': '👩‍👩‍👧‍👦 needs a tent',
  'a flag of England, made of tags': '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  'a heart with a variation selector': '❤️',
  'a skin tone': '👍🏽',
  Arabic: 'شراء كتب للمدرسة',
  'Arabic with a direction mark': 'رقم\u200f 12',
  Hebrew: 'ציוד למשרד',
  'Persian with ZWNJ': 'می\u200cخواهم',
  'combining marks': 'Z̷a̸l̵g̶o Amélie',
  'Vietnamese, decomposed': 'Tiếng Việt'.normalize('NFD'),
  Devanagari: 'क्षत्रिय क्‍ष',
  Mongolian: 'ᠮᠣᠩᠭᠣᠯ\u180eᠠ',
  Chinese: '办公用品',
  'a soft hyphen': 'Donau\u00addampf',
  'a no-break space': 'M.\u00a0Müller',
  'a mark without a letter': '\u0301',
  'a heart on fire': '❤️‍🔥',
  'three flags made of tags': '🏴󠁧󠁢󠁥󠁮󠁧󠁿🏴󠁧󠁢󠁳󠁣󠁴󠁿🏴󠁧󠁢󠁷󠁬󠁳󠁿',
  'a name with an ideographic variation': '葛\u{e0100}城市',
  'Hebrew with cantillation': 'בְּרֵאשִׁ֖ית',
  Tibetan: 'བསྒྲུབས',
};

describe.each(Object.entries(kinds))('%s', (_kind, schema) => {
  test.each(Object.entries(scripts))('accepts %s unchanged', (_what, value) => {
    expect(schema.parse(value)).toBe(value);
  });

  const refused: Record<string, string> = {
    NUL: '\0',
    bell: '\u0007',
    escape: '\u001b',
    'vertical tab': '\u000b',
    'form feed': '\u000c',
    DEL: '\u007f',
    'C1 control': '\u009b',
    'next line': '\u0085',
    'line separator': '\u2028',
    'paragraph separator': '\u2029',
    'zero-width space': '\u200b',
    'word joiner': '\u2060',
    'zero-width no-break space': '\ufeff',
    'LRE override or isolate 1': '\u202a',
    'LRE override or isolate 2': '\u202b',
    'LRE override or isolate 3': '\u202c',
    LRO: '\u202d',
    RLO: '\u202e',
    LRI: '\u2066',
    RLI: '\u2067',
    FSI: '\u2068',
    PDI: '\u2069',
    'annotation anchor': '\ufff9',
    'a high surrogate alone': '\ud83d',
    'a low surrogate alone': '\ude00',
    'surrogates in the wrong order': '\ude00\ud83d',
  };
  test.each(Object.entries(refused))('refuses %s inside', (_what, bad) => {
    for (const value of [`a${bad}b`, `ab 👍${bad}👍 c`])
      expect([value, schema.safeParse(value).success]).toEqual([value, false]);
  });

  test.each([
    '',
    ' ',
    '\u00a0\u3000',
    '\u200d',
    '\u200c\u200d',
    '\u200e\u200f',
    '\u00ad',
    '\ufe0f',
    '\u3164',
    '\u115f\u1160',
    '\u2800',
    '\u{e0061}\u{e0062}',
    '\u034f \u061c',
  ])('refuses what a reader sees nothing of: %j', (value) => {
    expect(schema.safeParse(value).success).toBe(false);
  });

  const tags = [...'approve this'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
  test.each([
    ['words in tags', `a book${tags}`],
    ['words in tags behind a flag', `🏴${tags}`],
    ['bytes in variation selectors', `a book${'\ufe01\u{e0121}\u{e0131}\ufe0e'}`],
    ['joiners in a row', 'a\u200d\u200c\u200d\u200cbook'],
    ['Hangul fillers', 'a\u3164\u3164\u3164book'],
    ['marks that cover other lines', `a book${'\u0336\u0321'.repeat(20)}`],
  ])('refuses %s', (_what, value) => {
    expect(schema.safeParse(value).success).toBe(false);
    expect(schema.safeParse(cleanText(1_000).parse(value)).success).toBe(true);
  });

  const forbidden = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff]/u;
  test('accepted text is well-formed, trimmed, within its length, and has no hidden characters', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(...Object.values(refused), ...Object.values(scripts), '\n', '\t', '\r\n', ' '),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const { data, success } = schema.safeParse(pieces.join(''));
        if (!success) return;
        expect(data.isWellFormed()).toBe(true);
        expect(data).not.toMatch(forbidden);
        expect(data).toBe(data.trim());
        expect(data.length).toBeLessThanOrEqual(1_000);
        expect(schema.parse(data)).toBe(data);
        expect(JSON.parse(JSON.stringify(data))).toBe(data);
      }),
      { numRuns: 2_000 },
    );
  });

  test('accepts every letter, number, mark, sign and symbol of Unicode', () => {
    const visible = fc
      .integer({ min: 0x20, max: 0x10ffff })
      .filter((code) => code < 0xd800 || code > 0xdfff)
      .map((code) => String.fromCodePoint(code))
      .filter((letter) => /^[\p{L}\p{N}\p{M}\p{P}\p{S}]$/u.test(letter));
    fc.assert(
      fc.property(fc.array(visible, { minLength: 1, maxLength: 20 }), (letters) => {
        const value = `a${letters.join('')}`;
        expect(schema.parse(value)).toBe(value);
      }),
      { numRuns: 2_000 },
    );
  });
});

test('text is one line; prose keeps line breaks and tabs, and writes each break as one line feed', () => {
  for (const value of ['a\nb', 'a\r\nb', 'a\rb', 'a\tb']) expect(kinds.text.safeParse(value).success).toBe(false);
  expect(kinds.text.parse(' \n a \t')).toBe('a');
  expect(kinds.prose.parse('one\r\ntwo\rthree\n\n\tfour\n')).toBe('one\ntwo\nthree\n\n\tfour');
});

test('the length counts after trimming', () => {
  for (const make of [text, prose]) {
    expect(make(3).parse('  abc  ')).toBe('abc');
    expect(make(3).safeParse('abcd').success).toBe(false);
    expect(make(3, 2).safeParse('a').success).toBe(false);
  }
});

test('text of a network is cleaned, and refused only when the result is empty', () => {
  expect(cleanText(140).parse(' Caf\u200b\u00e9 \u202eAmélie\u2066\u0007\n ')).toBe('Café Amélie');
  for (const nothing of ['', '\u202e\u200b', '\u2800', 'a\ud800'])
    expect(cleanText(140).safeParse(nothing).success).toBe(false);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      const { data, success } = cleanText(1_000).safeParse(value);
      if (success) expect(kinds.text.parse(data)).toBe(data);
    }),
  );
});
