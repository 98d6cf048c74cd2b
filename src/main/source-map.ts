/** src/README.md: which area lives where, what it offers, fires and runs; made from the sources themselves. @module */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canonicalPath } from '../http/openapi.ts';
import type { Area, Operation } from '../http/route.ts';
import { publishedAreas } from './modules/index.ts';

const source = fileURLToPath(new URL('..', import.meta.url));

export async function sourceMap(): Promise<string> {
  const files = (await readdir(source, { recursive: true })).sort();
  const places = new Map<string, string>();
  const workflows = new Map<string, string>();
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const text = await readFile(`${source}/${file}`, 'utf8');
    const tag = /defineArea\(\{\s+tag: '([^']+)'/.exec(text)?.[1];
    if (tag !== undefined) places.set(tag, file);
    const workflow = /export const \w+Workflow = '(\w+)'/.exec(text)?.[1];
    if (workflow !== undefined) workflows.set(dirname(file), workflow);
  }
  const sections = publishedAreas.map((area) => section(area, places.get(area.tag) ?? '', workflows));
  return `${[head, ...sections].join('\n\n')}\n`;
}

const head = `# Where things are

Made by \`npm run snapshot\`; a test keeps it fresh. A noun has the same name in \`src/domains\`, \`workflows\`, \`activities\` and \`test\`. What spans domains in one transaction is a file of \`src/usecases\`; \`src/main\` puts everything together.`;

function section(area: Area, file: string, workflows: ReadonlyMap<string, string>): string {
  const operations = Object.values(area.operations) as Operation[];
  const events = [...new Set(operations.flatMap(({ fires }) => fires ?? []))];
  const workflow = workflows.get(dirname(file));
  const lines = operations.map(
    (operation) =>
      `- \`${operation.method.toUpperCase()} ${canonicalPath(area, operation) || '/'}\` ${operation.summary}`,
  );
  return [
    `## ${area.tag}`,
    `\`src/${relative('.', dirname(file))}\`${workflow === undefined ? '' : `, workflow \`${workflow}\``}. ${area.description}`,
    lines.join('\n'),
    ...(events.length === 0 ? [] : [`Fires ${events.map((event) => `\`${event}\``).join(', ')}.`]),
  ].join('\n\n');
}
