/**
 * Lines of CSV as in RFC 4180. A text that a spreadsheet would run as a formula gets an apostrophe in front, so that it
 * is shown and not run. Pure.
 * @module
 */
export type CsvValue = string | number | null;

export const csvLine = (values: readonly CsvValue[]): string => `${values.map(cellOf).join(',')}\r\n`;

function cellOf(value: CsvValue): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const shown = /^\s*[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",\r\n']/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}
