/**
 * The children's log files: keeps each under a size and reads the end of one. Must not need the child's help, which
 * writes into the file on its own.
 * @module
 */
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

/** The full file is kept as `.1`; children append, so they go on at the start of the emptied one. */
export function capLogs(dir: string, maxBytes = 20_000_000): void {
  if (!existsSync(dir)) return;
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (!name.endsWith('.log') || statSync(path).size <= maxBytes) continue;
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
  }
}

export function lastLines(path: string, count: number): string {
  if (!existsSync(path)) return '';
  return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
}
