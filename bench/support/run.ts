/**
 * Runs one bench to its end: says where it runs, ends everything that it started, whatever happened, and answers with
 * exit code 1 when a figure misses its target. Measures nothing itself.
 * @module
 */
import { cpus, release, totalmem, type } from 'node:os';
import { stopSignals } from '../../src/supervisor/stop-signals.ts';

export type Ending = (stop: () => Promise<unknown>) => void;

/** How long the product is measured for each of its targets; its floor gets half of it or more. */
export const secondsOr = (usual: number): number => Math.max(1, Number(process.env.BENCH_SECONDS) || usual);
export const measuredSeconds = secondsOr(30);

/** `work` passes the function that stops what it starts, right after the start; the last started is stopped first. */
export async function runBench(name: string, work: (atEnd: Ending) => Promise<boolean>): Promise<void> {
  say(`${name}: ${machine()}`);
  const stops = stopsInTurn();
  const signals = stopSignals({ again: () => process.exit(130) });
  try {
    const ended = await Promise.race([work(stops.add), signals.came, thrownElsewhere()]);
    process.exitCode = typeof ended === 'string' ? 130 : ended ? 0 : 1;
  } finally {
    await stops.run();
    signals.release();
  }
}

/** Ends what `work` started once it is over, so that it does not run beside what is measured next. */
export async function byItself<Found>(atEnd: Ending, work: (atEnd: Ending) => Promise<Found>): Promise<Found> {
  const stops = stopsInTurn();
  atEnd(stops.run);
  try {
    return await work(stops.add);
  } finally {
    await stops.run();
  }
}

/** Each of them runs once, the last added first, although one before it fails: what it leaves would slow what follows. */
function stopsInTurn(): { readonly add: Ending; run(): Promise<void> } {
  const stops: (() => Promise<unknown>)[] = [];
  return {
    add: (stop) => stops.push(stop),
    run: async () => {
      for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop().catch(sayFailed);
    },
  };
}

/** An error that nobody waits for ends the bench too, and with it what it started. */
const thrownElsewhere = (): Promise<never> =>
  new Promise((_, reject) => process.once('uncaughtException', reject).once('unhandledRejection', reject));

function sayFailed(error: unknown): void {
  say(`not ended: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

const machine = (): string =>
  `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ` +
  `${type()} ${release()}, Node ${process.version}`;
