/**
 * Builds the generated tables: areas (README.md) and limits (docs/limits.md). The text around them is written by hand.
 * @module
 */
import { readFile } from 'node:fs/promises';
import { publishedAreas } from '../main/modules/index.ts';
import { boundedOtherwise, limits } from '../platform/limits.ts';

const pageAt = (path: string): Promise<string> => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

export async function readmeWithAreas(): Promise<string> {
  const rows = publishedAreas.map(
    ({ tag, description, operations }) =>
      `| ${tag} | ${Object.keys(operations).length} | ${firstSentence(description)} |`,
  );
  return withTable(await pageAt('README.md'), '| area | operations | what for |\n|---|---|---|\n', rows);
}

export async function pageOfLimits(): Promise<string> {
  const inThousands = new Intl.NumberFormat('en-US');
  const rows = Object.entries(limits).map(
    ([name, { most, per, counted, operations }]) =>
      `| \`${name}\` | ${inThousands.format(most)} | ${per} | ${counted} | ${operations.map((one) => `\`${one}\``).join(', ')} |`,
  );
  const others = Object.entries(boundedOtherwise).map(([name, why]) => `| \`${name}\` | ${why} |`);
  const head = '| limit | most | for each | what counts | operations |\n|---|---|---|---|---|\n';
  const page = withTable(await pageAt('docs/limits.md'), head, rows);
  return withTable(page, /\n(\|[^\n]*\|\n\|---\|---\|\n)/.exec(page)?.[1] ?? '', others);
}

const firstSentence = (text: string): string => /^.*?[.?](?= |$)/.exec(text)?.[0] ?? text;

/** Replaces the rows of the table that begins with `head`. */
function withTable(page: string, head: string, rows: readonly string[]): string {
  const start = page.indexOf(head);
  if (head === '' || start === -1) throw new Error('the page has no table of this form any more');
  const before = page.slice(0, start + head.length);
  const after = page.slice(before.length).replace(/^(\|[^\n]*\n)*/, '');
  return `${before}${rows.join('\n')}\n${after}`;
}
