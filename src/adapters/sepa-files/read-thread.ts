/** The thread that reads one file of a bank; started by read-in-thread.ts. @module */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../kernel/assert.ts';
import { readFile } from './read-file.ts';
import type { ThreadAnswer } from './read-in-thread.ts';
import { RefusedFile } from './refused-file.ts';

/** Each is taken up at once by the other thread, so it is small. */
const linesInPart = 250;

const { bytes, lines: channel } = workerData as { bytes: Uint8Array; lines: MessagePort };

async function answered(): Promise<ThreadAnswer> {
  try {
    const { lines, ...file } = await readFile(bytes);
    for (let at = 0; at < lines.length; at += linesInPart) channel.postMessage(lines.slice(at, at + linesInPart));
    return { file };
  } catch (error) {
    if (error instanceof RefusedFile) return { refused: error.message };
    throw error;
  }
}

assert(parentPort !== null, 'this is a thread');
parentPort.postMessage(await answered());
