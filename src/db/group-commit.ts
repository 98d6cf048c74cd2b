/**
 * Group commit: items that arrive while one batch is written form the next one, and each batch is one statement, so
 * one commit. What fails or is given up concerns its item alone: a batch that fails is repeated, then its items one by
 * one. Knows nothing of the items; the statement recognises what it wrote before.
 * @module
 */
import { unavailable } from '../kernel/errors.ts';
import { isDatabaseAway, isRepeatable } from './database.ts';

type Limits = {
  /** In one batch. */
  readonly atOnce?: number;
  /** What comes when as many wait is refused. */
  readonly mostWaiting?: number;
};

/** `gone` ends the wait of an item that is in no batch yet. */
export type GroupCommit<Item, Outcome> = (item: Item, gone?: AbortSignal) => Promise<Outcome>;

type Write<Item, Outcome> = (items: readonly Item[]) => Promise<readonly Outcome[]>;

type Queued<Item, Outcome> = {
  readonly item: Item;
  readonly done: (outcome: Outcome) => void;
  readonly failed: (error: unknown) => void;
  /** It is in a batch, or has ended. */
  readonly taken: () => void;
};

/** The caller is gone, and nothing was written for it. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

/** `write` answers with one outcome per item, in their order. */
export function groupCommit<Item, Outcome>(
  write: Write<Item, Outcome>,
  { atOnce = 256, mostWaiting = 4_096 }: Limits = {},
): GroupCommit<Item, Outcome> {
  const waiting = new Set<Queued<Item, Outcome>>();
  let isWriting = false;

  const writeOff = async (): Promise<void> => {
    while (waiting.size > 0) {
      const batch = firstOf(waiting, atOnce);
      for (const one of batch) {
        waiting.delete(one);
        one.taken();
      }
      await settle(batch, write);
    }
    isWriting = false;
  };

  return (item, gone) =>
    new Promise<Outcome>((done, failed) => {
      if (gone?.aborted === true) return failed(new CallerGone());
      if (waiting.size >= mostWaiting) return failed(unavailable('too many changes wait to be written'));
      const giveUp = (): void => {
        waiting.delete(queued);
        failed(new CallerGone());
      };
      const queued = { item, done, failed, taken: () => gone?.removeEventListener('abort', giveUp) };
      gone?.addEventListener('abort', giveUp, { once: true });
      waiting.add(queued);
      if (isWriting) return;
      isWriting = true;
      void writeOff();
    });
}

const maximumAttempts = 4;

async function settle<Item, Outcome>(
  batch: readonly Queued<Item, Outcome>[],
  write: Write<Item, Outcome>,
): Promise<void> {
  try {
    const outcomes = await repeated(() => write(batch.map(({ item }) => item)));
    if (outcomes.length !== batch.length) throw new Error(`${batch.length} items have ${outcomes.length} outcomes`);
    batch.forEach(({ done }, i) => {
      done(outcomes[i] as Outcome);
    });
  } catch (error) {
    // While the database is away, separate items fail as well, only later.
    if (batch.length === 1 || isDatabaseAway(error)) for (const { failed } of batch) failed(inWords(error));
    else for (const one of batch) await settle([one], write);
  }
}

/** A lost connection leaves the outcome unknown; the repeat finds it. */
async function repeated<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const most = isRepeatable(error) ? maximumAttempts : isDatabaseAway(error) ? 2 : 1;
      if (attempt >= most) throw error;
    }
  }
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
