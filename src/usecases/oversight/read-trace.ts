/**
 * The trace of any record: finds the record whose story it is, reads the parts that the caller may read with a fixed
 * number of statements of one snapshot, and puts them in order. Changes nothing.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import type { TraceEntryWire } from '../../domains/oversight/trace/trace.contract.ts';
import type { ReadTrace } from '../../domains/oversight/trace/trace.routes.ts';
import {
  mostEvents,
  mostOfPart,
  type Omission,
  pointerOfKind,
  rankOf,
  scopeOfKind,
  scopeOfPart,
  type TracePart,
} from '../../domains/oversight/trace/trace.rules.ts';
import type { IntentRow } from '../../domains/spending/intents/index.ts';
import { type Caller, mayReach, type Own, type Owned } from '../../http/caller.ts';
import type { Lookups } from '../../http/reaches.ts';
import { grants, type Scope } from '../../http/scopes.ts';
import { DomainError, notFound } from '../../kernel/errors.ts';
import { type IdKind, idPrefixes, isId } from '../../kernel/ids.ts';
import { cents, eurosFromCents } from '../../kernel/money.ts';
import { nounOf } from '../../kernel/nouns.ts';
import {
  findPlain,
  readDecisions,
  readDeliveries,
  readEvents,
  readMessages,
  readPostings,
  readRecords,
  readRuns,
  type TracedRecord,
  type Whose,
} from './trace.queries.ts';
import {
  decisionEntry,
  deliveryEntry,
  entryOf,
  eventEntry,
  intentEntries,
  messageEntry,
  postingEntry,
  recordEntry,
  runEntry,
} from './trace-entries.ts';

type Deps = {
  readonly database: Pick<Database, 'snapshot'>;
  /** Of every area: how a record is found by its id. */
  readonly lookupsIn: (tx: Tx) => Lookups;
  /** The first parts of the workflow ids. */
  readonly runPrefixes: readonly string[];
  readonly links: {
    urlsOf(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  };
  /** The page of a run in Temporal's Web UI; null where no Web UI is known. */
  readonly runUrl: (workflowId: string) => string | null;
};

type Found = Owned & Readonly<Record<string, unknown>>;
type Root = { readonly id: string; readonly kind: IdKind; readonly row: Found };

export const readTrace =
  (deps: Deps): ReadTrace =>
  async (id, own, { caller }) => {
    const may = mayRead(caller);
    const leftOut = new Map<TracePart, Omission>();
    const cut = <Row>(part: TracePart, rows: readonly Row[], most: number = mostOfPart): readonly Row[] => {
      if (rows.length > most) leftOut.set(part, 'too_many');
      return rows.slice(0, most);
    };
    const { root, entries } = await deps.database.snapshot(async (tx) => {
      const root = await rootOf(tx, deps, id, { own, caller });
      return { root, entries: await entriesOf(tx, deps, root, { own, caller, cut }) };
    });
    for (const { part } of entries) if (may(part) !== true) leftOut.set(part, may(part) as Omission);
    for (const part of partsOf(root)) if (may(part) !== true) leftOut.set(part, may(part) as Omission);
    const kept = entries.filter(({ part }) => may(part) === true);
    const ids = new Set(kept.map((entry) => entry.id));
    return {
      id,
      rootId: root.id,
      agentId: root.row.agentId ?? null,
      entries: kept.map((entry) => withParent(entry, root.id, ids)).sort(byTime),
      leftOut: [...leftOut].map(([part, reason]) => ({ part, reason })),
    };
  };

type Asking = { readonly own: Own; readonly caller: Caller };

type Reading = Asking & {
  readonly cut: <Row>(part: TracePart, rows: readonly Row[], most?: number) => readonly Row[];
};

async function entriesOf(tx: Tx, deps: Deps, root: Root, { own, caller, cut }: Reading): Promise<TraceEntryWire[]> {
  const whose: Whose = { ownerId: own.ownerId, agentId: own.agentId ?? null };
  const records = await readRecords(tx, whose, root.id);
  const shown = [...Map.groupBy(records, ({ part }) => part)].flatMap(([part, rows]) => cut(part, rows));
  const ids = [...new Set([root.id, ...shown.map((record) => record.id)])];
  const transactionIds = shown.filter(({ part }) => part === 'transaction').map((record) => record.id);
  const runIds = deps.runPrefixes.flatMap((prefix) => ids.map((subject) => `${prefix}/${subject}`));
  const isOwner = caller.kind === 'key';
  const [decisions, messages, postings, events, runs, urls] = await Promise.all([
    readDecisions(tx, whose, transactionIds),
    readMessages(tx, transactionIds),
    readPostings(tx, whose, ids),
    readEvents(tx, whose, ids),
    readRuns(tx, whose, runIds),
    isOwner && isWaiting(root) ? deps.links.urlsOf(tx, [root.id]) : new Map<string, string>(),
  ]);
  const shownEvents = cut('event', events, mostEvents);
  const deliveries = isOwner
    ? await readDeliveries(
        tx,
        own.ownerId,
        shownEvents.map((event) => event.id),
      )
    : [];
  return [
    ...rootEntries(root, urls.get(root.id) ?? null, transactionIds),
    ...shown.map((record) => recordEntry(record, parentOf(record, shown, root.id))),
    ...cut('charge_decision', decisions).map(decisionEntry),
    ...cut('network_message', messages).map(messageEntry),
    ...cut('posting', postings).map(postingEntry),
    ...shownEvents.map(eventEntry),
    ...cut('delivery', deliveries, mostEvents).map(deliveryEntry),
    ...cut('workflow_run', runs).map((run) => runEntry(run, isOwner ? deps.runUrl(run.id) : null)),
  ];
}

function rootEntries({ id, kind, row }: Root, link: string | null, transactionIds: readonly string[]) {
  if (kind === 'intent') return intentEntries(row as unknown as Readonly<IntentRow>, link);
  if (transactionIds.includes(id)) return [];
  const { status, amountCents } = row;
  const at = instantOf(row);
  if (at === undefined) return [];
  return [
    entryOf({
      at,
      part: 'record',
      id,
      title: nounOf(kind),
      status: typeof status === 'string' ? status : null,
      amountEuros: typeof amountCents === 'number' ? eurosFromCents(cents(amountCents)) : null,
      link,
    }),
  ];
}

/** Some lookups answer with the record as published. */
function instantOf({ createdAt }: Found): Date | undefined {
  if (createdAt instanceof Date) return createdAt;
  return typeof createdAt === 'string' ? new Date(createdAt) : undefined;
}

const isWaiting = ({ row }: Root): boolean => row.status === 'pending_approval' || row.status === 'pending';

/** What led to a record: the checkout before the payment, the payment before the credential, these before the transaction. */
function parentOf({ part, id, paymentId }: TracedRecord, all: readonly TracedRecord[], rootId: string): string | null {
  if (id === rootId) return null;
  const named = (wanted: TracedRecord['part'], by: (record: TracedRecord) => boolean) =>
    all.find((record) => record.part === wanted && by(record))?.id;
  if (part === 'machine_payment') return named('checkout', (record) => record.paymentId === id) ?? rootId;
  if (part === 'credential') return named('machine_payment', (record) => record.id === paymentId) ?? rootId;
  if (part !== 'transaction') return rootId;
  const paid = (record: TracedRecord) => record.transactionId === id;
  return named('credential', paid) ?? named('machine_payment', paid) ?? named('checkout', paid) ?? rootId;
}

/** An entry whose parent the caller may not see follows from the root. */
const withParent = (entry: TraceEntryWire, rootId: string, ids: ReadonlySet<string | null>): TraceEntryWire =>
  entry.parentId === null || ids.has(entry.parentId)
    ? entry
    : { ...entry, parentId: ids.has(rootId) && entry.id !== rootId ? rootId : null };

const byTime = (one: TraceEntryWire, other: TraceEntryWire): number =>
  one.at.localeCompare(other.at) || rankOf(one.part) - rankOf(other.part) || positionIn(one) - positionIn(other);

const positionIn = ({ details }: TraceEntryWire): number => Number(details.position ?? 0);

/** The parts that a story of this kind can have, whether or not there are rows. */
const partsOf = ({ kind }: Root): readonly TracePart[] =>
  kind === 'intent' || kind === 'transaction'
    ? ['checkout', 'machine_payment', 'credential', 'transaction', 'posting', 'evidence', 'access', 'event', 'delivery']
    : ['posting', 'event', 'delivery'];

/** True, or why not. */
const mayRead =
  (caller: Caller) =>
  (part: TracePart): true | Omission => {
    if (caller.kind !== 'agent') return true;
    const scope = scopeOfPart[part];
    if (scope === 'owner') return 'owner_only';
    return grants(caller.scopes, scope) ? true : 'scope';
  };

/** Follows the record to the one whose story it belongs to, as far as the caller reaches. */
async function rootOf(tx: Tx, deps: Deps, id: string, asking: Asking): Promise<Root> {
  const lookups = deps.lookupsIn(tx);
  let root = await found(tx, lookups, id, asking);
  for (let hops = 0; hops < mostHops; hops++) {
    const next = root.row[pointerOfKind[root.kind] ?? ''] ?? root.row.pointer;
    if (typeof next !== 'string') break;
    try {
      root = await found(tx, lookups, next, asking);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      break; // What lies behind is closed to the caller: the story begins here.
    }
  }
  return root;
}

/** A delivery names an event, which names a transaction, which names an intent. */
const mostHops = 4;

async function found(tx: Tx, lookups: Lookups, id: string, { own, caller }: Asking): Promise<Root> {
  const kind = kindOf(id);
  if (kind === undefined) throw notFound('record', id);
  const plain = findPlain(tx, kind, id);
  const lookup = (lookups as Readonly<Record<string, (id: string, own: Own) => Promise<Owned | null>>>)[kind];
  const row = plain === undefined ? await lookup?.(id, own) : await plain;
  const reached = mayReach(own, nounOf(kind), id, row ?? null);
  assertScope(caller, kind);
  return { id, kind, row: reached as Found };
}

function assertScope(caller: Caller, kind: IdKind): void {
  if (caller.kind !== 'agent') return;
  const scope = (scopeOfKind as Partial<Record<IdKind, Scope>>)[kind];
  if (scope === undefined) throw new DomainError('insufficient_scope', `only an API key reads a ${nounOf(kind)}`);
  if (!grants(caller.scopes, scope)) throw new DomainError('insufficient_scope', `this token lacks the scope ${scope}`);
}

const kindOf = (id: string): IdKind | undefined =>
  (Object.keys(idPrefixes) as IdKind[]).find((kind) => id.startsWith(`${idPrefixes[kind]}_`) && isId(kind, id));
