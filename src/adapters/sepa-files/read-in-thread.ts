/**
 * Reads a large file of a bank in a thread with a limit of memory, so that the process answers others meanwhile and
 * outlives a file that needs too much. One file at a time, for a limited time; few wait for their turn.
 * @module
 */
import { setImmediate as untilOthersRan } from 'node:timers/promises';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Notification, StatusReport } from '../../domains/treasury/sepa/bank-files.port.ts';
import { unavailable } from '../../kernel/errors.ts';
import { RefusedFile } from './refused-file.ts';

const mostMemoryMiB = 320;

/** What the thread says when it has ended its work; the lines are in the channel by then. */
export type ThreadAnswer =
  | { readonly file: Omit<StatusReport, 'lines'> | Omit<Notification, 'lines'> }
  | { readonly refused: string };

/** A busy machine may be slow, so a file that takes longer is not refused: it is to come again. */
const longestReadingMs = 120_000;

/** Each is in memory. */
const mostWaiting = 8;

let turn: Promise<unknown> = Promise.resolve();
let waiting = 0;

/** Throws RefusedFile. */
export async function readInThread(
  bytes: Uint8Array,
  longestMs = longestReadingMs,
): Promise<StatusReport | Notification> {
  if (waiting >= mostWaiting) throw unavailable('too many large files are waiting to be read');
  waiting += 1;
  const mine = turn.then(() => {
    waiting -= 1;
    return read(bytes, longestMs);
  });
  turn = mine.catch(() => undefined); // The next one does not mind.
  return mine;
}

async function read(bytes: Uint8Array, longestMs: number): Promise<StatusReport | Notification> {
  const { port1: lines, port2: toUs } = new MessageChannel();
  const thread = new Worker(new URL('read-thread.ts', import.meta.url), {
    workerData: { bytes, lines: toUs },
    transferList: [toUs],
    resourceLimits: { maxOldGenerationSizeMb: mostMemoryMiB },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    const answer = await new Promise<ThreadAnswer>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`a file was not read within ${longestMs} ms`)), longestMs);
      thread.once('message', resolve);
      thread.once('error', reject);
      thread.once('exit', (code) => reject(new Error(`the thread that reads a file ended with ${code}`)));
    });
    if ('refused' in answer) throw new RefusedFile(answer.refused);
    const read: object[] = [];
    for (let part = receiveMessageOnPort(lines); part !== undefined; part = receiveMessageOnPort(lines)) {
      read.push(...part.message);
      await untilOthersRan();
    }
    return { ...answer.file, lines: read } as unknown as StatusReport | Notification;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    throw new RefusedFile(`needs more than ${mostMemoryMiB} MiB to be read`);
  } finally {
    clearTimeout(timer);
    lines.close();
    await thread.terminate();
  }
}
