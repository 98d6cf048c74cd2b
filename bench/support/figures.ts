/** How figures are worked out and shown. @module */
import { say } from './run.ts';

/** The smallest value that `share` of them do not exceed; the values need no order. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1))] ?? Number.NaN;
}

export const perSecond = (count: number, seconds: number): number => count / seconds;
export const inMs = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
export const whole = (value: number): string => Math.round(value).toLocaleString('en');

/** Prints one line per target and answers whether all are met. */
export function evaluate(targets: readonly { what: string; found: string; target: string; isMet: boolean }[]): boolean {
  say('');
  for (const { what, found, target, isMet } of targets) {
    say(`${isMet ? 'met   ' : 'MISSED'} ${what}: ${found} (target ${target})`);
  }
  return targets.every(({ isMet }) => isMet);
}

export function table(heads: readonly string[], lines: readonly (readonly string[])[]): void {
  const widths = heads.map((head, i) => Math.max(head.length, ...lines.map((line) => (line[i] ?? '').length)));
  const show = (line: readonly string[]) =>
    say(line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '));
  say('');
  show(heads);
  for (const line of lines) show(line);
}
