/** Starts the receiver of webhooks and asks it what came. @module */
import { type Program, startProgram } from './program.ts';
import type { Ending } from './run.ts';

/** The event's number, the path, and when, in milliseconds since 1970. */
export type Receipt = readonly [sequence: number, path: string, at: number];

export type BenchReceiver = Program & {
  readonly origins: readonly string[];
  /** So far, as of a moment ago; without what `/slow` and `/fails` got. */
  received(): number;
  /** What came since the last call. */
  take(): Promise<readonly Receipt[]>;
};

type Said = {
  readonly received?: number;
  readonly notes?: readonly Receipt[];
  readonly origins?: readonly string[];
};

export async function startBenchReceiver(origins: number, atEnd: Ending): Promise<BenchReceiver> {
  const program = await startProgram('bench/support/receiver-program.ts', { ORIGINS: String(origins) }, atEnd);
  let received = 0;
  let answer: ((notes: readonly Receipt[]) => void) | undefined;
  const known = Promise.withResolvers<readonly string[]>();
  program.child.on('message', (said: Said) => {
    if (said.received !== undefined) received = said.received;
    if (said.notes !== undefined) answer?.(said.notes);
    if (said.origins !== undefined) known.resolve(said.origins);
  });
  program.child.send('origins');
  return {
    ...program,
    origins: await known.promise,
    received: () => received,
    take: () =>
      new Promise((done) => {
        answer = done;
        program.child.send('notes');
      }),
  };
}
