/**
 * Reads a large file of a bank in a thread with a limit of memory, so that the process answers others meanwhile and
 * outlives a file that needs too much. One file at a time.
 * @module
 */
import { setImmediate as untilOthersRan } from 'node:timers/promises';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Notification, StatusReport } from '../../domains/treasury/sepa/bank-files.port.ts';
import { RefusedFile } from './refused-file.ts';

const mostMemoryMiB = 320;

/** What the thread says when it has ended its work; the lines are in the channel by then. */
export type ThreadAnswer =
  | { readonly file: Omit<StatusReport, 'lines'> | Omit<Notification, 'lines'> }
  | { readonly refused: string };

let turn: Promise<unknown> = Promise.resolve();

/** Throws RefusedFile. */
export function readInThread(bytes: Uint8Array): Promise<StatusReport | Notification> {
  const mine = turn.then(() => read(bytes));
  turn = mine.catch(() => undefined); // The next one does not mind.
  return mine;
}

async function read(bytes: Uint8Array): Promise<StatusReport | Notification> {
  const { port1: lines, port2: toUs } = new MessageChannel();
  const thread = new Worker(new URL('read-thread.ts', import.meta.url), {
    workerData: { bytes, lines: toUs },
    transferList: [toUs],
    resourceLimits: { maxOldGenerationSizeMb: mostMemoryMiB },
  });
  try {
    const answer = await new Promise<ThreadAnswer>((resolve, reject) => {
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
    lines.close();
    await thread.terminate();
  }
}
