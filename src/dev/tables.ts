/**
 * Builds the generated tables: areas (README.md), limits (docs/limits.md) and our own events (docs/webhooks.md). The text
 * around them is written by hand.
 * @module
 */
import { readFile } from 'node:fs/promises';
import { eventCatalog } from '../events/catalog.ts';
import { namedAreas } from '../main/modules/index.ts';
import { boundedOtherwise, limits } from '../platform/limits.ts';

const pageAt = (path: string): Promise<string> => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Areas of one tag are one row each, with the noun of the area behind the tag. */
export async function readmeWithAreas(): Promise<string> {
  const tags = namedAreas.map(({ contract }) => contract.tag);
  const rows = namedAreas.map(({ name, contract: { tag, description, operations } }) => {
    const isShared = tags.filter((one) => one === tag).length > 1;
    const area = isShared ? `${tag}: ${nounOf(name, tag)}` : tag;
    return `| ${area} | ${Object.keys(operations).length} | ${firstSentence(description)} |`;
  });
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

export async function pageOfWebhooks(): Promise<string> {
  const own = Object.entries(eventCatalog).filter(([, entry]) => 'extension' in entry);
  const rows = [...new Set(own.map(([, { category }]) => category))].map((category) => {
    const names = own.filter(([, entry]) => entry.category === category).map(([name]) => `\`${name}\``);
    return `| ${category} | ${names.join(', ')} |`;
  });
  return withTable(await pageAt('docs/webhooks.md'), '| subject | events |\n|---|---|\n', rows);
}

const nounOf = (name: string, tag: string): string => name.replace(`${tag.toLowerCase()}-`, '').replaceAll('-', ' ');

const firstSentence = (text: string): string => /^.*?[.?](?= |$)/.exec(text)?.[0] ?? text;

/** Replaces the rows of the table that begins with `head`. */
function withTable(page: string, head: string, rows: readonly string[]): string {
  const start = page.indexOf(head);
  if (head === '' || start === -1) throw new Error('the page has no table of this form any more');
  const before = page.slice(0, start + head.length);
  const after = page.slice(before.length).replace(/^(\|[^\n]*\n)*/, '');
  return `${before}${rows.join('\n')}\n${after}`;
}
