/**
 * The folder in which a bank's gateway puts files: each is received, then moved to `done`, or to `refused` where nothing
 * of it can be used. A file that could not be received for another reason stays, and is read again; the others go on.
 * @module
 */
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '../../kernel/errors.ts';
import type { Logger } from '../../platform/log.ts';
import { makeFolder } from '../../platform/make-folder.ts';

export type BankInboxOptions = {
  /** `inbox`, `done` and `refused` are made in it. */
  readonly folder: string;
  readonly receive: (bytes: Uint8Array) => Promise<unknown>;
  readonly largestBytes: number;
  readonly log: Pick<Logger, 'error' | 'info'>;
  /** A younger file may still be being written. */
  readonly youngestMs?: number;
};

/** One pass over the folder. Returns how many files were moved. */
export const bankInbox =
  ({ folder, receive, largestBytes, log, youngestMs = 2_000 }: BankInboxOptions) =>
  async (): Promise<number> => {
    const inbox = join(folder, 'inbox');
    await Promise.all([inbox, join(folder, 'done'), join(folder, 'refused')].map((one) => makeFolder(one, 0o700)));
    let moved = 0;
    const failures: unknown[] = [];
    for (const name of (await readdir(inbox)).sort()) {
      const path = join(inbox, name);
      const found = await lstat(path);
      const { size, mtimeMs } = found;
      if (!found.isFile() || name.startsWith('.') || Date.now() - mtimeMs < youngestMs) continue;
      try {
        await take(name, size > largestBytes ? undefined : await readFile(path), size);
        moved += 1;
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return moved;

    async function take(name: string, bytes: Uint8Array | undefined, size: number): Promise<void> {
      const refusal = bytes === undefined ? `is larger than ${largestBytes} bytes` : await refusalOf(bytes);
      if (refusal === undefined) log.info({ size }, 'a file of the bank was received from the folder');
      else log.error({ size, why: refusal }, 'a file of the bank in the folder was refused');
      const kept = join(folder, refusal === undefined ? 'done' : 'refused', keptName(name, bytes ?? `${name}/${size}`));
      await rename(join(inbox, name), kept);
    }

    async function refusalOf(bytes: Uint8Array): Promise<string | undefined> {
      try {
        await receive(bytes);
        return undefined;
      } catch (error) {
        if (error instanceof DomainError && ['invalid_request', 'idempotency_conflict'].includes(error.code))
          return error.message;
        throw error;
      }
    }

    /** Another file with the same name does not take its place. */
    function keptName(name: string, content: Uint8Array | string): string {
      return `${createHash('sha256').update(content).digest('hex').slice(0, 16)}-${name.slice(-200)}`;
    }
  };
