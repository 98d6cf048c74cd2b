/** CSV: values come back as they were, and no text is run as a formula. @module */
import { expect, test } from '@jest/globals';
import { csvLine } from '../../../src/http/csv.ts';

test.each([
  [['a', 1, null, -2.5], 'a,1,,-2.5\r\n'],
  [['a,b', 'say "hi"', 'two\nlines', 'two\r\nlines'], '"a,b","say ""hi""","two\nlines","two\r\nlines"\r\n'],
  [["it's", ''], '"it\'s",\r\n'],
])('%j is written as RFC 4180 says', (values, line) => {
  expect(csvLine(values)).toBe(line);
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '\n=1', '＝1+1', '=HYPERLINK("http://x","y")'])(
  'the formula %j begins with an apostrophe',
  (formula) => {
    expect(csvLine([formula])).toBe(`"'${formula.replaceAll('"', '""')}"\r\n`);
  },
);

test.each(['a=1', 'wal_00000001', '2026-03-02T10:00:00.000Z'])('%j is no formula', (text) => {
  expect(csvLine([text])).toBe(`${text}\r\n`);
});
