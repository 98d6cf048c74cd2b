/**
 * The sealer loop of the worker: seals journals, audit rows and decisions every quarter of a second, and writes a
 * checkpoint every ten minutes of real time when a chain has grown. It logs an error and repeats the round, less often
 * while rounds fail.
 * @module
 */
import type { Database } from '../../../db/database.ts';
import { minute, second } from '../../../kernel/instant.ts';
import { beat } from '../../../platform/heartbeats.ts';
import type { Logger } from '../../../platform/log.ts';
import type { RecordChain } from '../../../platform/record-chains/record-chain.ts';
import { sealRecords } from '../../../platform/record-chains/seal-records.ts';
import { type CheckpointKeeper, writeCheckpoint } from './checkpoint.service.ts';
import { sealJournals } from './seal.service.ts';

export type SealerState = {
  readonly running: boolean;
  /** Real time of the last round that went well. */
  readonly lastRoundAt: Date | null;
  readonly sealed: number;
};

export type Sealer = { start(): void; stop(): Promise<void>; state(): SealerState };

export type SealerDeps = {
  readonly database: Database;
  readonly log: Logger;
  /** The kinds of records that are sealed beside journals. */
  readonly chains?: readonly RecordChain[];
  /** Without one no checkpoints are written. */
  readonly checkpoints?: CheckpointKeeper;
  readonly pauseMs?: number;
  readonly checkpointEveryMs?: number;
};

export function runSealer(deps: SealerDeps): Sealer {
  const { database, log, checkpoints, chains = [], pauseMs = 250, checkpointEveryMs = 10 * minute } = deps;
  let stopping = Promise.withResolvers<void>();
  let state: SealerState = { running: false, lastRoundAt: null, sealed: 0 };
  let loop: Promise<void> = Promise.resolve();
  let nextCheckpointAt = 0;
  let nextBeatAt = 0;

  const round = async (): Promise<number> => {
    const journals = await database.write((tx) => sealJournals(tx));
    const sealed = journals + (await database.write((tx) => sealRecords(tx, chains)));
    if (Date.now() >= nextBeatAt) {
      await beat(database, 'sealer');
      nextBeatAt = Date.now() + beatEveryMs;
    }
    state = { ...state, lastRoundAt: new Date(), sealed: state.sealed + sealed };
    // While there is a backlog sealing comes first; a checkpoint can wait for the next round without one.
    if (sealed < backlog && checkpoints !== undefined && Date.now() >= nextCheckpointAt) {
      await database.write((tx) => writeCheckpoint(tx, checkpoints));
      nextCheckpointAt = Date.now() + checkpointEveryMs;
    }
    return sealed;
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    while (state.running) {
      try {
        const sealed = await round();
        failures = 0;
        if (sealed < backlog) await pause(pauseMs, stopping.promise);
      } catch (error) {
        log.error({ err: error }, 'a round of the sealer failed; trying again');
        await pause(Math.min(shortestBackoffMs * 2 ** failures, longestBackoffMs), stopping.promise);
        failures += 1;
      }
    }
  };

  return {
    start: () => {
      if (state.running) return;
      state = { ...state, running: true };
      stopping = Promise.withResolvers();
      loop = run();
    },
    stop: async () => {
      state = { ...state, running: false };
      stopping.resolve();
      await loop;
    },
    state: () => state,
  };
}

/** A round that seals so many leaves more: the next one follows at once. */
const backlog = 500;

/** No error is logged more often than once a second. */
const shortestBackoffMs = second;
const longestBackoffMs = 8 * second;

/** For health, which takes a loop for dead after a minute of silence. */
const beatEveryMs = 10_000;

async function pause(ms: number, unless: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    unless,
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    }),
  ]);
  clearTimeout(timer);
}
