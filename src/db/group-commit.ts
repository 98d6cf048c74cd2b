/**
 * Group commit: items that arrive while one batch is written form the next one, and each batch is one statement, so
 * one commit. What fails or is given up concerns its item alone: a batch that fails is repeated, then its items one by
 * one. Where a batch waits too long for a lock, each of its groups gets its own lane until the lane is empty, so
 * that one group's lock keeps no other waiting. Knows nothing of the items; the statement recognises what it wrote before.
 * @module
 */
import { unavailable } from '../kernel/errors.ts';
import { isDatabaseAway, isLockTimeout, isRepeatable, isUniqueViolation } from './database.ts';
import { StillAtWork } from './sessions.ts';

type Options<Item> = {
  /** In one batch. */
  readonly atOnce?: number;
  /** What comes when as many wait is refused. */
  readonly mostWaiting?: number;
  /** Items of one group may wait for the same locks, such as the items of one owner. */
  readonly groupOf?: (item: Item) => string;
  /** Lanes that write at once, besides the lane that all groups share; each takes a connection. */
  readonly mostLanes?: number;
};

/** `gone` ends the wait of an item that is in no batch yet. */
export type GroupCommit<Item, Outcome> = (item: Item, gone?: AbortSignal) => Promise<Outcome>;

/** Its lock timeout bounds how long a batch keeps the next one waiting. */
type Write<Item, Outcome> = (items: readonly Item[]) => Promise<readonly Outcome[]>;

type Queued<Item, Outcome> = {
  readonly item: Item;
  readonly done: (outcome: Outcome) => void;
  readonly failed: (error: unknown) => void;
  /** It is in a batch, or has ended. */
  readonly taken: () => void;
};

type Waiting<Item, Outcome> = Set<Queued<Item, Outcome>>;

/** Of one group whose locks took too long. */
type Lane<Item, Outcome> = {
  readonly waiting: Waiting<Item, Outcome>;
  /** The batch that waits for its locks, and how often it has. */
  stuck: readonly Queued<Item, Outcome>[];
  attempts: number;
};

/** The caller is gone, and nothing was written for it. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

/** `write` answers with one outcome per item, in their order. */
export function groupCommit<Item, Outcome>(
  write: Write<Item, Outcome>,
  { atOnce = 256, mostWaiting = 4_096, groupOf = () => '', mostLanes = 3 }: Options<Item> = {},
): GroupCommit<Item, Outcome> {
  const shared: Waiting<Item, Outcome> = new Set();
  const apart = new Map<string, Lane<Item, Outcome>>();
  /** Each takes one turn and queues again. */
  const turns: string[] = [];
  let isWriting = false;
  let lanesWriting = 0;

  const next = (waiting: Waiting<Item, Outcome>): readonly Queued<Item, Outcome>[] => {
    const batch = firstOf(waiting, atOnce);
    for (const one of batch) {
      waiting.delete(one);
      one.taken();
    }
    return batch;
  };

  const writeShared = async (): Promise<void> => {
    while (shared.size > 0) setApart(await settle(next(shared), write));
    isWriting = false;
  };

  /** What waits of these groups waits in their own lanes from now on. */
  const setApart = (stuck: readonly Queued<Item, Outcome>[]): void => {
    for (const one of stuck) laneOf(groupOf(one.item)).waiting.add(one);
    if (stuck.length === 0) return;
    for (const one of [...shared]) {
      const lane = apart.get(groupOf(one.item));
      if (lane !== undefined && shared.delete(one)) lane.waiting.add(one);
    }
    takeTurns();
  };

  const laneOf = (group: string): Lane<Item, Outcome> => {
    const known = apart.get(group);
    if (known !== undefined) return known;
    const lane: Lane<Item, Outcome> = { waiting: new Set(), stuck: [], attempts: 0 };
    apart.set(group, lane);
    turns.push(group);
    return lane;
  };

  const takeTurns = (): void => {
    while (lanesWriting < mostLanes) {
      const group = turns.shift();
      if (group === undefined) return;
      lanesWriting += 1;
      void takeTurn(group, laneOf(group));
    }
  };

  const takeTurn = async (group: string, lane: Lane<Item, Outcome>): Promise<void> => {
    lane.stuck = await settle(lane.stuck.length > 0 ? lane.stuck : next(lane.waiting), write);
    lane.attempts = lane.stuck.length > 0 ? lane.attempts + 1 : 0;
    if (lane.attempts >= mostLockWaits) {
      for (const { failed } of lane.stuck) failed(unavailable('another change holds what this one needs'));
      lane.stuck = [];
      lane.attempts = 0;
    }
    if (lane.stuck.length + lane.waiting.size > 0) turns.push(group);
    else apart.delete(group);
    lanesWriting -= 1;
    takeTurns();
  };

  const waiting = (): number => [...apart.values()].reduce((sum, lane) => sum + lane.waiting.size, shared.size);

  return (item, gone) =>
    new Promise<Outcome>((done, failed) => {
      if (gone?.aborted === true) return failed(new CallerGone());
      if (waiting() >= mostWaiting) return failed(unavailable('too many changes wait to be written'));
      const giveUp = (): void => {
        shared.delete(queued);
        apart.get(groupOf(item))?.waiting.delete(queued);
        failed(new CallerGone());
      };
      const queued = { item, done, failed, taken: () => gone?.removeEventListener('abort', giveUp) };
      gone?.addEventListener('abort', giveUp, { once: true });
      const lane = apart.get(groupOf(item));
      if (lane !== undefined) {
        lane.waiting.add(queued);
        return;
      }
      shared.add(queued);
      if (isWriting) return;
      isWriting = true;
      void writeShared();
    });
}

const maximumAttempts = 4;
/** As many times the lock timeout of the statement, an item waits for its locks in its own lane. */
const mostLockWaits = 40;

/** Returns the items whose locks took too long; nothing was written for them. */
async function settle<Item, Outcome>(
  batch: readonly Queued<Item, Outcome>[],
  write: Write<Item, Outcome>,
): Promise<readonly Queued<Item, Outcome>[]> {
  if (batch.length === 0) return []; // Its callers are gone.
  try {
    const outcomes = await repeated(() => write(batch.map(({ item }) => item)));
    if (outcomes.length !== batch.length) throw new Error(`${batch.length} items have ${outcomes.length} outcomes`);
    // The next batch is sent first: the database would wait while the callers of this one are answered.
    setImmediate(() => {
      batch.forEach(({ done }, i) => {
        done(outcomes[i] as Outcome);
      });
    });
    return [];
  } catch (error) {
    if (isLockTimeout(error)) return batch;
    // While the database is away, separate items fail as well, only later.
    if (batch.length === 1 || isDatabaseAway(error)) {
      for (const { failed } of batch) failed(inWords(error));
      return [];
    }
    const stuck: Queued<Item, Outcome>[] = [];
    for (const one of batch) stuck.push(...(await settle([one], write)));
    return stuck;
  }
}

/** A lost connection leaves the outcome unknown, and a row may have been written meanwhile; the repeat finds either. */
async function repeated<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= attemptsAfter(error)) throw error;
    }
  }
}

function attemptsAfter(error: unknown): number {
  // A repeat could be refused, and what it repeats could succeed afterwards.
  if (error instanceof StillAtWork) return 1;
  if (isRepeatable(error)) return maximumAttempts;
  return isDatabaseAway(error) || isUniqueViolation(error) ? 2 : 1;
}

const inWords = (error: unknown): unknown =>
  isRepeatable(error) ? unavailable('too many changes at once', error) : error;

function firstOf<T>(all: ReadonlySet<T>, most: number): T[] {
  const first: T[] = [];
  for (const one of all) {
    if (first.length >= most) break;
    first.push(one);
  }
  return first;
}
