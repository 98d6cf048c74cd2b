/**
 * Lets a program give way when the processor is short: what a caller waits for goes first, and what goes on by itself
 * takes what is left. A wish, not a promise: systems that cannot weigh programs leave them equal.
 * @module
 */
import { writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** A third of the weight of a program that does not give way. */
const niceness = 5;
const tries = 5;
/** Linux takes one such wish in a tenth of a second. */
const pauseMs = 150;

/** To be asked as soon as the program is there: threads that it has already are not reached by its own priority. */
export async function giveWay(pid: number): Promise<void> {
  try {
    setPriority(pid, niceness);
    // Where Linux weighs sessions, and each program here has one of its own, its own priority says nothing.
    await wishForSession(pid);
  } catch (error) {
    if (!isImpossibleHere(error)) throw error;
  }
}

async function wishForSession(pid: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeFile(`/proc/${pid}/autogroup`, String(niceness), { flag: 'r+' });
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN' || attempt === tries) throw error;
      await sleep(pauseMs);
    }
  }
}

/** The program has ended, or this system has no such thing, or does not allow it. */
const isImpossibleHere = (error: unknown): boolean =>
  ['ESRCH', 'ENOENT', 'ENOSYS', 'ENOTSUP', 'EACCES', 'EPERM', 'EROFS', 'EAGAIN'].includes(codeOf(error) ?? '');

const codeOf = (error: unknown): string | undefined => {
  const { code, info } = error as { code?: string; info?: { code?: string } };
  return info?.code ?? code; // Node keeps the system's own code of a priority in `info`.
};
