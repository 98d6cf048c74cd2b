/**
 * Rewrites openapi.json and events.json, the published interface as reviewers see it change. `--check` only compares
 * and fails on a difference.
 * @module
 */
import { readFile, writeFile } from 'node:fs/promises';
import { eventsDocument, openApiDocument } from './documents.ts';

const files = { 'openapi.json': openApiDocument(), 'events.json': eventsDocument() };
const stale: string[] = [];
for (const [name, document] of Object.entries(files)) {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const path = new URL(`../../${name}`, import.meta.url);
  if (process.argv.includes('--check')) {
    if ((await readFile(path, 'utf8').catch(() => '')) !== text) stale.push(name);
  } else {
    await writeFile(path, text);
  }
}
if (stale.length > 0) {
  process.stderr.write(
    `${stale.join(' and ')} differ from the code; run npm run snapshot and look at the difference\n`,
  );
  process.exit(1);
}
