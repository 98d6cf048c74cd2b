/**
 * How the handler of an atomic operation writes: its item joins a batch (`group-commit.ts`) that one call of a database
 * function writes with keys, answers, effects, events and audit rows (`atomic-writes.sql`). A second call with a key
 * waits for the first, and is answered as it was, unless that one was refused.
 * @module
 */
import * as z from 'zod';
import type { Database } from '../db/database.ts';
import { CallerGone, groupCommit } from '../db/group-commit.ts';
import { oneRowOf, rowsOf } from '../db/statement.ts';
import type { Tx } from '../db/tx.ts';
import { type ChangeRecords, publishChanges } from '../events/record.ts';
import { type DomainError, unavailable } from '../kernel/errors.ts';
import type { AtomicKey } from './atomic-key.ts';
import type { Call } from './caller.ts';
import { otherRequest, stillRunning } from './idempotency.ts';
import { Reply } from './route.ts';

type AtomicCall = Pick<Call, 'atomicKey' | 'cause'> & Partial<Pick<Call, 'gone'>>;

type Writing<Item, Result> = {
  readonly database: Pick<Database, 'read'>;
  /** The database function, which takes the items as one array. */
  readonly function: string;
  readonly result: z.ZodType<Result>;
  /** Whose locks an item may wait for; those of other owners do not wait with it. */
  readonly ownerOf: (item: Item) => string;
  /** The refusal for an outcome of the function's own; undefined for one that it does not have. */
  readonly refusalOf: (outcome: string, detail: unknown, item: Item) => DomainError | undefined;
};

/** What the operation made; of an earlier call with this key where `isReplayed`. */
export type Written<Result> = { readonly result: Result; readonly isReplayed: boolean };

/** `tx`: the transaction of a caller who writes more in it; the item then joins no batch. */
export type AtomicWrite<Item, Result> = (call: AtomicCall, item: Item, tx?: Tx) => Promise<Written<Result>>;

/** The answer of an atomic operation. */
export const replyOf = <Result, Body>({ result, isReplayed }: Written<Result>, wire: (result: Result) => Body) =>
  new Reply<Body>(200, wire(result), { isReplayed });

type Outcome = { readonly outcome: string; readonly result: unknown };
type Open = { readonly request: string; readonly ending: Promise<Outcome> };

/** One for each function and process, with one queue. */
export function atomicWrites<Item extends ChangeRecords, Result>({
  database,
  function: name,
  result,
  refusalOf,
  ownerOf,
}: Writing<Item, Result>): AtomicWrite<Item, Result> {
  const statement = `select outcome, result from ${name}($1::jsonb)`;
  const submit = groupCommit(
    (items: readonly (Item & { key: AtomicKey | null })[]) =>
      rowsOf(database.read(), outcomeRow, statement, [JSON.stringify(items)], {
        answeredWithinMs: batchMs,
        endsLostSession: true,
      }),
    { groupOf: ownerOf },
  );
  /** The calls with a key that are under way in this process. */
  const open = new Map<string, Open>();

  const ask = async ({ gone }: AtomicCall, key: AtomicKey | null, item: Item): Promise<Outcome> => {
    for (;;) {
      const found = await submit({ ...item, key }, gone?.());
      if (found.outcome !== 'again') return found;
    }
  };

  const askIn = async (tx: Tx, key: AtomicKey | null, item: Item): Promise<Outcome> => {
    for (;;) {
      const found = await oneRowOf(tx, outcomeRow, statement, [JSON.stringify([{ ...item, key }])]);
      if (found.outcome !== 'again') return found;
    }
  };

  const askOnce = async (call: AtomicCall, key: AtomicKey, item: Item): Promise<Outcome> => {
    const scope = JSON.stringify([key.ownerId, key.callerKind, key.agentId, key.key]);
    const request = `${key.method} ${key.path} ${key.requestHash}`;
    for (let first = open.get(scope); first !== undefined; first = open.get(scope)) {
      const ended = await endOf(first);
      if (ended === 'gone') continue;
      // A refusal left nothing under the key: this call asks for itself.
      if (ended.outcome !== 'done' && ended.outcome !== 'replayed') continue;
      return first.request === request ? { ...ended, outcome: 'replayed' } : { outcome: 'conflict', result: null };
    }
    const ending = ask(call, key, item);
    open.set(scope, { request, ending });
    try {
      return await ending;
    } finally {
      open.delete(scope);
    }
  };

  const asked = (call: AtomicCall, item: Item, tx: Tx | undefined): Promise<Outcome> => {
    const { atomicKey: key = null } = call;
    if (tx !== undefined) return askIn(tx, key, item);
    return givenUp(key === null ? ask(call, null, item) : askOnce(call, key, item));
  };

  return async (call, item, tx) => {
    const { outcome, result: value } = await asked(call, item, tx);
    if (outcome === 'done') publishChanges(call.cause, item);
    if (outcome === 'done' || outcome === 'replayed') {
      return { result: result.parse(value), isReplayed: outcome === 'replayed' };
    }
    if (outcome === 'conflict') throw otherRequest();
    if (outcome === 'running') throw stillRunning();
    throw refusalOf(outcome, value, item) ?? new Error(`${name} answered ${outcome}`);
  };
}

/** A batch takes milliseconds, and waits a quarter of a second for locks. All later ones wait for it. */
const batchMs = 15_000;

const outcomeRow = z.object({ outcome: z.string(), result: z.unknown() });

/** The end of the first call with a key; `gone`: it was given up before anything was written. */
async function endOf({ ending }: Open): Promise<Outcome | 'gone'> {
  try {
    return await ending;
  } catch (error) {
    if (error instanceof CallerGone) return 'gone';
    throw error;
  }
}

/** No caller reads this answer. */
async function givenUp(asked: Promise<Outcome>): Promise<Outcome> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof CallerGone) throw unavailable('the caller is gone', error);
    throw error;
  }
}
