/**
 * The sealer loop of the worker: seals journals, audit rows and decisions every quarter of a second, and writes a
 * checkpoint every ten minutes of real time when a chain has grown.
 * @module
 */
import type { Database } from '../../../db/database.ts';
import { minute } from '../../../kernel/instant.ts';
import { beat } from '../../../platform/heartbeats.ts';
import type { Logger } from '../../../platform/log.ts';
import { type Loop, startLoop } from '../../../platform/loop.ts';
import type { RecordChain } from '../../../platform/record-chains/record-chain.ts';
import { sealRecords } from '../../../platform/record-chains/seal-records.ts';
import { type CheckpointKeeper, writeCheckpoint } from './checkpoint.service.ts';
import { sealJournals } from './seal.service.ts';

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

export function startSealer(deps: SealerDeps): Loop {
  const { database, log, checkpoints, chains = [], pauseMs = 250, checkpointEveryMs = 10 * minute } = deps;
  let nextCheckpointAt = 0;
  let nextBeatAt = 0;

  const round = async (): Promise<void> => {
    const journals = await database.write((tx) => sealJournals(tx));
    const sealed = journals + (await database.write((tx) => sealRecords(tx, chains)));
    if (Date.now() >= nextBeatAt) {
      await beat(database, 'sealer');
      nextBeatAt = Date.now() + beatEveryMs;
    }
    // While there is a backlog sealing comes first; a checkpoint can wait for the next round without one.
    if (sealed >= backlog) loop.wake();
    else if (checkpoints !== undefined && Date.now() >= nextCheckpointAt) {
      await database.write((tx) => writeCheckpoint(tx, checkpoints));
      nextCheckpointAt = Date.now() + checkpointEveryMs;
    }
  };

  const loop = startLoop({ name: 'sealer', everyMs: pauseMs, log, pass: round });
  return loop;
}

/** A round that seals so many leaves more: the next one follows at once. */
const backlog = 500;

/** For health, which takes a loop for dead after a minute of silence. */
const beatEveryMs = 10_000;
