/**
 * Which tests say that they prove a fact: a comment `// spec: <id>` directly above a `test(`, one line for each fact.
 * `*` at its end stands for all that begin so, and is allowed only where the test takes its cases from the facts.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Tag = { readonly id: string; readonly place: string };

const root = fileURLToPath(new URL('..', import.meta.url));

export function tags(): { readonly tags: readonly Tag[]; readonly misplaced: readonly string[] } {
  const found: Tag[] = [];
  const misplaced: string[] = [];
  for (const file of testFiles()) {
    const name = relative(root, file);
    const lines = readFileSync(file, 'utf8').split('\n');
    for (const [index, line] of lines.entries()) {
      const id = /^\s*\/\/ spec: (.+)$/.exec(line)?.[1]?.trim();
      if (id === undefined) continue;
      const place = `${name}:${index + 1}`;
      const next = lines.slice(index + 1).find((one) => !/^\s*\/\/ spec: /.test(one)) ?? '';
      if (!/^\s*test(\.each)?[(<]/.test(next)) misplaced.push(`${place}: no test( directly below`);
      if (id.endsWith('*') && !name.startsWith('specification/'))
        misplaced.push(`${place}: * outside test/specification`);
      found.push({ id, place });
    }
  }
  return { tags: found, misplaced };
}

const testFiles = (): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => join(root, name));

export const proves = (tag: Tag, id: string): boolean =>
  tag.id === id || (tag.id.endsWith('*') && id.startsWith(tag.id.slice(0, -1)));
