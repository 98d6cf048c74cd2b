/**
 * The folder in which a bank's gateway puts files: each is received, then moved to `done`, or to `refused` where nothing
 * of it can be used. A file that could not be received stays and is read again, and the others go on; one that fails
 * time and again, while nothing else is wrong, is moved to `failed`.
 * @module
 */
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../platform/log.ts';
import { makeFolder } from '../../platform/make-folder.ts';

export type BankInboxOptions = {
  /** `inbox`, `done`, `refused` and `failed` are made in it. */
  readonly folder: string;
  /** Says why nothing of the file can be used; nothing of it was booked then. */
  readonly receive: (bytes: Uint8Array) => Promise<{ readonly why: string } | undefined>;
  /** The failure is not the file's: a database that is away. */
  readonly isPassing: (error: unknown) => boolean;
  readonly largestBytes: number;
  readonly log: Pick<Logger, 'error' | 'info'>;
  /** A younger file may still be being written. */
  readonly youngestMs?: number;
};

/** A file is read this often before it is set aside. */
const mostFailures = 10;

const places = ['inbox', 'done', 'refused', 'failed'] as const;
type Place = (typeof places)[number];

/** `version`: another one where the gateway puts another file under the name. */
type Ready = { readonly size: number; readonly version: string };

/** One pass over the folder. Returns how many files were moved. */
export function bankInbox(options: BankInboxOptions): () => Promise<number> {
  const { folder, receive, isPassing, largestBytes, log, youngestMs = 2_000 } = options;
  const inbox = join(folder, 'inbox');
  const failures = new Map<string, number>();

  return async () => {
    await Promise.all(places.map((place) => makeFolder(join(folder, place), 0o700)));
    let moved = 0;
    const failed: unknown[] = [];
    const names = (await readdir(inbox)).sort();
    for (const known of failures.keys()) if (!names.includes(known)) failures.delete(known);
    for (const name of names) {
      try {
        if (await pass(name)) moved += 1;
      } catch (error) {
        failed.push(error);
      }
    }
    if (failed.length > 0) throw failed[0];
    return moved;
  };

  /** Whether the file was moved. */
  async function pass(name: string): Promise<boolean> {
    const ready = await readyFile(name);
    if (ready === undefined) return false;
    const { size } = ready;
    try {
      return await take(name, size > largestBytes ? undefined : await readFile(join(inbox, name)), ready);
    } catch (error) {
      if (isPassing(error)) throw error;
      const count = (failures.get(name) ?? 0) + 1;
      failures.set(name, count);
      if (count < mostFailures) throw error;
      await keep(name, 'failed', ready.version);
      log.error({ size, err: error }, 'a file of the bank failed time and again: it is in the folder failed');
    }
    return true;
  }

  /** Undefined for what is no file, hidden, gone, or may still be being written. */
  async function readyFile(name: string): Promise<Ready | undefined> {
    if (name.startsWith('.')) return undefined;
    try {
      const found = await lstat(join(inbox, name));
      if (!found.isFile() || Date.now() - found.mtimeMs < youngestMs) return undefined;
      const { size, ino, mtimeMs } = found;
      return { size, version: `${name}/${ino}/${mtimeMs}/${size}` };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** False where another file has come under the name meanwhile, which nobody has read. */
  async function take(name: string, bytes: Uint8Array | undefined, { size, version }: Ready): Promise<boolean> {
    const refusal = bytes === undefined ? { why: `is larger than ${largestBytes} bytes` } : await receive(bytes);
    if (refusal === undefined) log.info({ size }, 'a file of the bank was received from the folder');
    else log.error({ size, why: refusal.why }, 'a file of the bank in the folder was refused');
    if ((await readyFile(name))?.version !== version) return false;
    await keep(name, refusal === undefined ? 'done' : 'refused', bytes ?? version);
    return true;
  }

  /** Another file with the same name does not take its place. */
  async function keep(name: string, place: Place, content: Uint8Array | string): Promise<void> {
    const digest = createHash('sha256').update(content).digest('hex').slice(0, 16);
    await rename(join(inbox, name), join(folder, place, `${digest}-${name.slice(-200)}`));
    failures.delete(name);
  }
}
