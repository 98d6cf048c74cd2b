/** The outcomes of the last run of each planted fault, and the table of docs/testing.md that shows them. @module */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { type Fault, faultKinds } from './fault.ts';
import { faults } from './faults.ts';

export const outcomes = ['noticed', 'missed', 'does not fit', 'did not run', 'too slow'] as const;
export type Outcome = (typeof outcomes)[number];
export type Outcomes = Record<string, Outcome>;

const file = new URL('outcomes.json', import.meta.url);
export const testingPage = fileURLToPath(new URL('../../docs/testing.md', import.meta.url));

/** A fault that is changed counts as a new one. */
export const idOf = ({ file: path, from, to }: Fault): string =>
  createHash('sha256').update(`${path}\n${from}\n${to}`).digest('hex').slice(0, 12);

export const readOutcomes = async (): Promise<Outcomes> =>
  z.record(z.string(), z.enum(outcomes)).parse(JSON.parse(await readFile(file, 'utf8')));

/** Only of faults that are in the list, in its order. */
export async function writeOutcomes(known: Outcomes): Promise<void> {
  const kept = faults.flatMap((fault) => {
    const outcome = known[idOf(fault)];
    return outcome === undefined ? [] : [[idOf(fault), outcome] as const];
  });
  await writeFile(file, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
}

const [begin, end] = ['<!-- planted faults -->', '<!-- end of planted faults -->'];

/** The page with its tables made anew. */
export function renderTesting(page: string, known: Outcomes): string {
  const [before = '', rest = ''] = page.split(begin);
  const [, after = ''] = rest.split(end);
  return `${before}${begin}\n\n${faultKinds.map((kind) => tableOf(kind, known)).join('\n\n')}\n\n${end}${after}`;
}

function tableOf(kind: Fault['kind'], known: Outcomes): string {
  const rows = faults
    .filter((fault) => fault.kind === kind)
    .map((fault) => {
      const outcome = known[idOf(fault)] ?? 'not run yet';
      return `| \`${fault.file.split('/').at(-1)}\` | ${fault.harm} | ${outcome}${fault.harmless === undefined ? '' : `: ${fault.harmless}`} |`;
    });
  return [`### ${kind}`, '', '| file | the fault’s harm | outcome |', '|---|---|---|', ...rows].join('\n');
}
