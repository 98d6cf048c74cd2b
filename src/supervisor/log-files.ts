/**
 * The log files of child processes: limits their size and reads their ends. A child writes its file directly and takes
 * no part in this.
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
