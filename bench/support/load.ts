/** Asks the load program for one measurement. @module */
import { once } from 'node:events';
import { type Program, startProgram } from './program.ts';
import type { Ending } from './run.ts';

export type Call = {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
};

type To = { readonly url: string; readonly headers: Record<string, string>; readonly connections: number };

export type Job =
  | (To & { readonly kind: 'gets'; readonly seconds: number; readonly paths: readonly string[] })
  | (To & {
      readonly kind: 'posts';
      readonly seconds: number;
      /** Each is sent once; the measurement ends early when they run out. */
      readonly calls: readonly Call[];
      /** Absent: as fast as they are answered. */
      readonly perSecond?: number;
      readonly keepsAnswers?: boolean;
      /** An answer 503 is counted, and is no failure. */
      readonly mayBeRefused?: boolean;
    });

export type Loaded = {
  readonly count: number;
  readonly seconds: number;
  readonly failures: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly answers: readonly string[];
  /** Which calls were answered 503. */
  readonly refused: readonly number[];
};

export type Load = (job: Job) => Promise<Loaded>;

/** A measurement with a failed request is none. */
export async function startLoad(atEnd: Ending): Promise<{ load: Load; program: Program }> {
  const program = await startProgram('bench/support/load-program.ts', {}, atEnd);
  const load: Load = async (job) => {
    program.child.send(job);
    const [answer] = (await once(program.child, 'message')) as [{ loaded?: Loaded; failed?: string }];
    if (answer.loaded === undefined) throw new Error(`the load failed: ${answer.failed}`);
    if (answer.loaded.failures > 0)
      throw new Error(`${answer.loaded.failures} of ${answer.loaded.count} requests failed`);
    return answer.loaded;
  };
  return { load, program };
}
