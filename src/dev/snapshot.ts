/**
 * Rewrites every generated file: openapi.json and events.json (the published interface, so that reviewers see each
 * change), the map src/README.md, workflows/index.ts, and the tables of areas, limits and our own events in the
 * documentation. With `--check` it compares only and fails on a difference.
 * @module
 */
import { readFile, writeFile } from 'node:fs/promises';
import { eventsDocument, openApiDocument } from './documents.ts';
import { sourceMap } from './source-map.ts';
import { pageOfLimits, pageOfWebhooks, readmeWithAreas } from './tables.ts';
import { workflowIndex } from './workflow-index.ts';

const asJson = (document: object): string => `${JSON.stringify(document, null, 2)}\n`;
const files = {
  'openapi.json': asJson(openApiDocument()),
  'events.json': asJson(eventsDocument()),
  'src/README.md': await sourceMap(),
  'workflows/index.ts': await workflowIndex(),
  'README.md': await readmeWithAreas(),
  'docs/limits.md': await pageOfLimits(),
  'docs/webhooks.md': await pageOfWebhooks(),
};
const stale: string[] = [];
for (const [name, text] of Object.entries(files)) {
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
