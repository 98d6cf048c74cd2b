/** What the command prints: text with colours on a terminal only, or JSON. Data of others cannot steer the terminal. @module */
import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

export type Streams = { readonly stdout: Writable; readonly stderr: Writable };

export type Output = {
  /** The result: `data` with --json, otherwise the lines. */
  result(data: unknown, lines: readonly string[]): void;
  /** One of many results, as it comes: one line. */
  item(data: unknown, line: string): void;
  /** Progress and hints, on stderr, so that stdout can be piped. */
  note(line: string): void;
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
};

type Style = Parameters<typeof styleText>[0];

export function createOutput({ stdout, stderr }: Streams, isJson: boolean): Output {
  // styleText itself looks whether the stream is a terminal, and at NO_COLOR and FORCE_COLOR.
  const styled = (style: Style) => (text: string) => styleText(style, text, { stream: stdout });
  return {
    result: (data, lines) => {
      stdout.write(isJson ? `${JSON.stringify(data, undefined, 2)}\n` : lines.map((line) => `${line}\n`).join(''));
    },
    item: (data, line) => void stdout.write(`${isJson ? JSON.stringify(data) : line}\n`),
    note: (line) => void stderr.write(`${line}\n`),
    dim: styled('dim'),
    bold: styled('bold'),
    good: styled('green'),
    bad: styled('red'),
  };
}

/** Control characters and invisible direction marks of data are left out. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\u{202a}-\u{202e}\u{2066}-\u{2069}]/gu, '');

export const euros = (amount: number | null | undefined): string => (amount == null ? '' : `${amount.toFixed(2)} EUR`);

/** Columns as wide as their widest cell; the last is not padded. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

export type Branch = { readonly line: string; readonly branches: readonly Branch[] };

export const treeLines = ({ line, branches }: Branch): string[] => [line, ...branchLines(branches)];

const branchLines = (branches: readonly Branch[]): string[] =>
  branches.flatMap(({ line, branches: below }, index) => {
    const isLast = index === branches.length - 1;
    return [
      `${isLast ? '└─' : '├─'} ${line}`,
      ...branchLines(below).map((inner) => `${isLast ? '   ' : '│  '}${inner}`),
    ];
  });

/** Wraps at spaces; a longer word stays whole, so that it can be copied. */
export function wrapped(text: string, width: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, indent + line];
}
