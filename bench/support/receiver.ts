/** Starts the receiver of webhooks and asks it what came. @module */
import { type Program, startProgram } from './program.ts';
import type { Ending } from './run.ts';

/** The event's number, the path, and when, in milliseconds since 1970. */
export type Receipt = readonly [sequence: number, path: string, at: number];

export type BenchReceiver = Program & {
  /** So far, as of a moment ago; without what `/slow` and `/fails` got. */
  received(): number;
  /** What came since the last call. */
  take(): Promise<readonly Receipt[]>;
};

type Said = { readonly received?: number; readonly notes?: readonly Receipt[] };

export async function startBenchReceiver(atEnd: Ending): Promise<BenchReceiver> {
  const program = await startProgram('bench/support/receiver-program.ts', {}, atEnd);
  let received = 0;
  let answer: ((notes: readonly Receipt[]) => void) | undefined;
  program.child.on('message', (said: Said) => {
    if (said.received !== undefined) received = said.received;
    if (said.notes !== undefined) answer?.(said.notes);
  });
  return {
    ...program,
    received: () => received,
    take: () =>
      new Promise((done) => {
        answer = done;
        program.child.send('take');
      }),
  };
}
