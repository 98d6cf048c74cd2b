/**
 * Takes what waits in batches, in a few lanes at once, so that one batch is read and decided while another is written.
 * The first lane takes at once what is there; a further one begins when enough wait, or one has waited for long enough.
 * Knows nothing of the items but their keys and groups. What cannot begin in time is refused, and has changed nothing.
 * @module
 */
export type Outcome<Result> =
  | { readonly done: Result }
  | { readonly failed: unknown }
  /** What it collided with in its batch. It is taken again, and that is its group from now on. */
  | { readonly again: string };

type Options<Item> = {
  /** Batches at once; each takes a connection. */
  readonly lanes?: number;
  /** In one batch. */
  readonly atOnce?: number;
  /** While another lane works, a batch of fewer begins only when one of them has waited for `patienceMs`. */
  readonly fewestBeside?: number;
  readonly patienceMs?: number;
  /** What comes when as many wait is refused, and before that where too little is begun for the time that is left. */
  readonly mostWaiting?: number;
  /** From the arrival to the begin, and as long again for what a batch leaves, which has changed nothing. */
  readonly withinMs: number;
  readonly tooLate: () => Error;
  /** As many wait as may. */
  readonly tooMany: () => Error;
  /** Two items of one key are never under way together. */
  readonly keyOf: (item: Item) => string;
  /** Items of one group are under way in one batch only, and as many of them. */
  readonly groupOf: (item: Item) => string;
  readonly ofGroup?: number;
};

/** The first of a batch is never to be taken again, so each batch ends one. An error of the work fails all its items. */
type Work<Item, Result> = (items: readonly Item[]) => Promise<readonly Outcome<Result>[]>;

type Queued<Item, Result> = {
  readonly item: Item;
  readonly key: string;
  /** Changes only while it waits. */
  group: string;
  /** By its arrival. */
  readonly place: number;
  readonly arrivedAt: number;
  /** Infinite while a batch has it. */
  until: number;
  /** The same of what a batch left. */
  readonly untilAgain: number;
  readonly patientUntil: number;
  readonly done: (result: Result) => void;
  readonly failed: (error: unknown) => void;
};

export type Lanes<Item, Result> = {
  (item: Item): Promise<Result>;
  /** What comes now is refused, so that a caller may spare itself all work before. */
  readonly isFull: () => boolean;
};

/** Of the time that an item may wait. */
const longestBehind = 0.7;

export function inLanes<Item, Result>(
  work: Work<Item, Result>,
  {
    lanes = 2,
    atOnce = 32,
    fewestBeside = 8,
    patienceMs = 10,
    mostWaiting = 1_024,
    ofGroup = 4,
    withinMs,
    tooLate,
    tooMany,
    keyOf,
    groupOf,
  }: Options<Item>,
): Lanes<Item, Result> {
  let waiting: Queued<Item, Result>[] = [];
  let running = 0;
  let arrived = 0;
  /** How long the first one has waited that the latest batch left only because it was full; 0 where it left none so. */
  let behindMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let patience: NodeJS.Timeout | undefined;
  const keys = new Set<string>();
  const groups = new Set<string>();

  const takeBatch = (): Queued<Item, Result>[] => {
    const [batch, left]: [Queued<Item, Result>[], Queued<Item, Result>[]] = [[], []];
    const counts = new Map<string, number>();
    let crowdedOut: Queued<Item, Result> | undefined;
    for (const one of waiting) {
      const count = counts.get(one.group) ?? 0;
      const isFree = count < ofGroup && !keys.has(one.key) && !groups.has(one.group);
      if (isFree && batch.length === atOnce) crowdedOut ??= one;
      if (isFree && batch.length < atOnce) {
        batch.push(one);
        keys.add(one.key);
        counts.set(one.group, count + 1);
      } else left.push(one);
    }
    for (const one of batch) {
      groups.add(one.group);
      one.until = Number.POSITIVE_INFINITY;
    }
    behindMs = crowdedOut === undefined ? 0 : performance.now() - crowdedOut.arrivedAt;
    waiting = left;
    return batch;
  };

  const begin = (): void => {
    while (running < lanes && waiting.length > 0) {
      if (!isWorthLane()) return;
      refuseLate();
      const batch = takeBatch();
      if (batch.length === 0) return;
      running += 1;
      void run(batch);
    }
  };

  /**
   * A statement costs nearly as much for one item as for a few, so a second lane that took each item as it comes would
   * keep the database busy with small batches. Beside a batch that hangs, an item waits for `patienceMs` at most.
   */
  const isWorthLane = (): boolean => {
    if (running === 0 || waiting.length >= fewestBeside) return true;
    // By their arrival, also what was taken back.
    const leftMs = (waiting[0]?.patientUntil ?? 0) - performance.now();
    if (leftMs <= 0) return true;
    if (patience === undefined) {
      const over = (): void => {
        patience = undefined;
        begin();
      };
      patience = setTimeout(over, Math.ceil(leftMs)).unref();
    }
    return false;
  };

  const run = async (batch: readonly Queued<Item, Result>[]): Promise<void> => {
    const outcomes = await outcomesOf(batch);
    running -= 1;
    for (const { key, group } of batch) {
      keys.delete(key);
      groups.delete(group);
    }
    takeBack(batch, outcomes);
    // The next batch is sent first: the database would wait while the callers of this one are answered.
    setImmediate(() => {
      batch.forEach(({ done, failed }, i) => {
        const outcome = outcomes[i];
        if (outcome === undefined || 'again' in outcome) return;
        if ('done' in outcome) done(outcome.done);
        else failed(outcome.failed);
      });
    });
    begin();
  };

  /** To their places by arrival, so that nobody is overtaken for ever. */
  const takeBack = (batch: readonly Queued<Item, Result>[], outcomes: readonly Outcome<Result>[]): void => {
    const again = batch.filter((one, i) => {
      const outcome = outcomes[i];
      if (outcome === undefined || !('again' in outcome)) return false;
      one.group = outcome.again;
      one.until = one.untilAgain;
      return true;
    });
    if (again.length === 0) return;
    waiting = [...again, ...waiting].sort((one, other) => one.place - other.place);
    watch();
  };

  const outcomesOf = async (batch: readonly Queued<Item, Result>[]): Promise<readonly Outcome<Result>[]> => {
    try {
      const outcomes = await work(batch.map(({ item }) => item));
      if (outcomes.length === batch.length) return outcomes;
      throw new Error(`${batch.length} items have ${outcomes.length} outcomes`);
    } catch (error) {
      return batch.map(() => ({ failed: error }));
    }
  };

  const refuseLate = (): void => {
    const now = performance.now();
    if (waiting.every(({ until }) => until > now)) return;
    for (const { failed } of waiting.filter(({ until }) => until <= now)) failed(tooLate());
    waiting = waiting.filter(({ until }) => until > now);
  };

  /** One timer, for the one that is late first: a lane that hangs refuses nothing. */
  const watch = (): void => {
    const first = waiting.reduce((least, { until }) => Math.min(least, until), Number.POSITIVE_INFINITY);
    if (timer !== undefined || first === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        refuseLate();
        watch();
      },
      Math.max(1, first - performance.now()),
    ).unref();
  };

  /** Also where what comes now would wait for nearly as long as it may: it would be refused in the end, at the full price. */
  const isFull = (): boolean =>
    waiting.length >= mostWaiting || (waiting.length >= atOnce && behindMs > longestBehind * withinMs);
  const take = (item: Item) =>
    new Promise<Result>((done, failed) => {
      if (isFull()) return failed(tooMany());
      const now = performance.now();
      const times = {
        arrivedAt: now,
        until: now + withinMs,
        untilAgain: now + 2 * withinMs,
        patientUntil: now + patienceMs,
      };
      waiting.push({ item, key: keyOf(item), group: groupOf(item), place: arrived++, ...times, done, failed });
      begin();
      if (timer === undefined) watch();
    });
  return Object.assign(take, { isFull });
}
