/** `bursar trace`: the story of a record as a tree. @module */
import { type Api, variable } from './api.ts';
import type { Command } from './context.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import { type Branch, euros, type Output, plain, treeLines } from './output.ts';
import type { Page } from './records.ts';

type Entry = {
  readonly at: string;
  readonly part: string;
  readonly id: string | null;
  readonly parentId: string | null;
  readonly title: string;
  readonly status: string | null;
  readonly amountEuros: number | null;
  readonly rules: readonly { rule: string; outcome: string; figures: Readonly<Record<string, unknown>> }[];
  readonly lines: readonly { account: string; direction: string; amountEuros: number }[];
  readonly details: Readonly<Record<string, unknown>>;
  readonly link: string | null;
};
export type Trace = {
  readonly id: string;
  readonly rootId: string;
  readonly entries: readonly Entry[];
  readonly leftOut: readonly { readonly part: string; readonly reason: string }[];
};

export const trace: Command<{ readonly id?: string | undefined; readonly agent?: boolean }> = async (
  { api, out },
  { id: given, agent },
) => {
  const as = agent === true ? 'agent' : 'owner';
  const id = given ?? (await lastDeclared(api));
  const story = await api.call<Trace>('GET', `/trace/${encodeURIComponent(id)}`, { as });
  if (!api.isPrinting) out.result(story, traceLines(story, out));
  return exitCodes.done;
};

async function lastDeclared(api: Api): Promise<string> {
  const sample = { data: [{ id: variable('INTENT_ID') }], hasMore: false };
  const { data } = await api.call<Page<{ id: string }>>('GET', '/intents?limit=1', { as: 'agent', sample });
  if (data[0] !== undefined) return data[0].id;
  throw new CommandError(exitCodes.usage, 'the agent has declared nothing yet: name an id, or begin with bursar pay');
}

export function traceLines(story: Trace, out: Pick<Output, 'dim' | 'bold' | 'bad'>): string[] {
  const below = Map.groupBy(story.entries, ({ parentId }) => parentId);
  const shown = new Set<Entry>();
  const branch = (entry: Entry): Branch => {
    shown.add(entry);
    const children = entry.id === null ? [] : (below.get(entry.id) ?? []);
    // Each entry is shown once: several may have one id, and a cycle would be a fault of the service.
    const branches = children.flatMap((child) => (shown.has(child) ? [] : [branch(child)]));
    return { line: lineOf(entry, out), branches: [...facts(entry, out), ...branches] };
  };
  const trees = (below.get(null) ?? []).map(branch);
  const rest = story.entries
    .filter((entry) => !shown.has(entry))
    .map((entry) => ({ line: lineOf(entry, out), branches: [] }));
  const missing = story.leftOut.map(({ part, reason }) => out.dim(`left out: ${part} (${reason})`));
  return [...[...trees, ...rest].flatMap(treeLines), ...missing];
}

function lineOf(entry: Entry, { dim, bold, bad }: Pick<Output, 'dim' | 'bold' | 'bad'>): string {
  const isBad = /^(declined|denied|failed|refused|dead)$/.test(entry.status ?? '');
  return [
    dim(entry.at.slice(11, 19)),
    bold(plain(entry.title)),
    entry.status === null ? '' : isBad ? bad(plain(entry.status)) : plain(entry.status),
    euros(entry.amountEuros),
    dim(plain(entry.id ?? '')),
  ]
    .filter((part) => part !== '')
    .join('  ');
}

const facts = (entry: Entry, { dim }: Pick<Output, 'dim'>): Branch[] =>
  [
    ...Object.entries(entry.details).flatMap(([name, value]) =>
      value === null || name === 'position' ? [] : [`${name}: ${plain(String(value))}`],
    ),
    ...entry.rules.map(({ rule, outcome, figures }) => `${outcome} ${rule} ${figuresOf(figures)}`.trimEnd()),
    ...entry.lines.map(({ account, direction, amountEuros }) => `${direction} ${amountEuros.toFixed(2)} ${account}`),
    ...(entry.link === null ? [] : [entry.link]),
  ].map((line) => ({ line: dim(line), branches: [] }));

const figuresOf = (figures: Readonly<Record<string, unknown>>): string =>
  Object.entries(figures)
    .map(([name, value]) => `${name}=${plain(String(value))}`)
    .join(' ');
