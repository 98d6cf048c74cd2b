/** The outcomes of the last run for each file of rules, and the tables of docs/testing.md that show them. @module */
import { readFile, writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { testingPage } from '../faults/outcomes.ts';
import { accepted, type Change } from './accepted.ts';
import { mutatedFiles, tables } from './files.ts';

export { testingPage };

const fileOutcome = z.object({
  changes: z.int(),
  /** Noticed only because the tests ran longer than the limit; absent where that was not counted. */
  late: z.int().optional(),
  missed: z.array(z.object({ from: z.string(), to: z.string() })),
});
export type FileOutcome = z.infer<typeof fileOutcome>;
export type Outcomes = Record<string, FileOutcome>;

const stored = new URL('outcomes.json', import.meta.url);

export const readOutcomes = async (): Promise<Outcomes> =>
  z.record(z.string(), fileOutcome).parse(JSON.parse(await readFile(stored, 'utf8')));

/** Only of files that are in the list, in its order. */
export async function writeOutcomes(known: Outcomes): Promise<void> {
  const kept = mutatedFiles.flatMap(({ file }) => (known[file] === undefined ? [] : [[file, known[file]] as const]));
  await writeFile(stored, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
}

/** Source as the outcomes name it. */
export const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

export const whyAccepted = (file: string, { from, to }: Change): string | undefined =>
  accepted.find((one) => one.file === file && one.changes.some((change) => change.from === from && change.to === to))
    ?.why;

const [begin, end] = ['<!-- changed rules -->', '<!-- end of changed rules -->'];

/** The page with its tables made anew. */
export function renderTable(page: string, known: Outcomes): string {
  const [before = '', rest = ''] = page.split(begin);
  const [, after = ''] = rest.split(end);
  return `${before}${begin}\n\n${scores(known)}\n\n${unchanged()}\n\n${survivors(known)}\n\n${end}${after}`;
}

function scores(known: Outcomes): string {
  const rows = mutatedFiles.map(({ file }) => {
    const outcome = known[file];
    if (outcome === undefined) return `| \`${nameOf(file)}\` | not run yet | | | |`;
    const { changes, missed, late = 'not counted' } = outcome;
    const percent = Math.floor(((changes - missed.length) / changes) * 1_000) / 10;
    return `| \`${nameOf(file)}\` | ${changes} | ${missed.length} | ${percent} % | ${late} |`;
  });
  const head = '| file | changes | not noticed | noticed | of these by the limit |';
  return [head, '|---|---|---|---|---|', ...rows].join('\n');
}

function unchanged(): string {
  const rows = Object.entries(tables).map(([file, why]) => `| \`${nameOf(file)}\` | ${why} |`);
  return ['| file | why it is not changed |', '|---|---|', ...rows].join('\n');
}

function survivors(known: Outcomes): string {
  const rows = mutatedFiles.flatMap(({ file }) =>
    (known[file]?.missed ?? []).map(
      (change) =>
        `| \`${nameOf(file)}\` | ${code(change.from)} | ${code(change.to)} | ${whyAccepted(file, change) ?? 'not looked at yet'} |`,
    ),
  );
  return ['| file | line | changed to | why nobody can notice it |', '|---|---|---|---|', ...rows].join('\n');
}

const mostShown = 160;

/** In a cell of a table `|` ends the cell, also within backticks. */
function code(line: string): string {
  const text = line.length > mostShown ? `${line.slice(0, mostShown)}…` : line;
  return `<code>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('|', '&#124;').replaceAll('`', '&#96;')}</code>`;
}

const nameOf = (file: string): string => file.split('/').at(-1) ?? file;
