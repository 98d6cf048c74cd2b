/**
 * Remembers rows as they were read. The newest page of a list is asked for again and again: while nothing in it
 * changes, PostgreSQL tells ids and versions only. Every page is what one statement saw; none is ever out of date.
 * @module
 */
import { minute } from '../kernel/instant.ts';

/** Which row, and as which of its states. */
export type Head = { readonly id: string; readonly rowVersion: string };

type Asking<Row, Shown> = {
  /** Ids and versions of the page, by its own conditions. */
  readonly heads: () => Promise<Head[]>;
  /** The page in full. */
  readonly read: () => Promise<Row[]>;
  /** What is kept of a row: it is worked out once. */
  readonly form: (row: Row) => Shown;
};

/** `database` and `kind` are what the memory is for. What is kept is shared between those who ask, so it is frozen. */
export async function keptRows<Row extends Head, Shown>(
  database: object,
  kind: object,
  { heads, read, form }: Asking<Row, Shown>,
): Promise<Readonly<Shown>[]> {
  const memory = memoryOf<Shown>(database, kind);
  const found: Readonly<Shown>[] = [];
  for (const { id, rowVersion } of await heads()) {
    const kept = memory.get(id);
    // One that is not known would have to be read by a second statement, which sees another moment: so all are.
    if (kept?.rowVersion !== rowVersion) return keep(memory, await read(), form);
    found.push(kept.shown);
  }
  return found;
}

function keep<Row extends Head, Shown>(
  memory: Memory<Shown>['rows'],
  page: readonly Row[],
  form: (row: Row) => Shown,
): Readonly<Shown>[] {
  if (memory.size + page.length > mostKept) memory.clear();
  return page.map((row) => {
    const shown = Object.freeze(form(row));
    memory.set(row.id, { rowVersion: row.rowVersion, shown });
    return shown;
  });
}

const mostKept = 10_000;
/** A database that was set back to an earlier state could give a version a second time, so nothing is kept for long. */
const keptForMs = minute;

type Memory<Shown> = {
  since: number;
  readonly rows: Map<string, { readonly rowVersion: string; readonly shown: Readonly<Shown> }>;
};
const memories = new WeakMap<object, WeakMap<object, Memory<unknown>>>();

function memoryOf<Shown>(database: object, kind: object): Memory<Shown>['rows'] {
  const now = performance.now();
  const ofDatabase = memories.get(database) ?? new WeakMap<object, Memory<unknown>>();
  memories.set(database, ofDatabase);
  const memory = ofDatabase.get(kind) ?? { since: now, rows: new Map() };
  ofDatabase.set(kind, memory);
  if (now - memory.since > keptForMs) {
    memory.since = now;
    memory.rows.clear();
  }
  return memory.rows as Memory<Shown>['rows'];
}
