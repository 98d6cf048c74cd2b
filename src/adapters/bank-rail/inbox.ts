/**
 * The folder in which a bank's gateway puts files. A worker claims each by a rename, receives it, and moves it to `done`,
 * or to `refused` where nothing of it can be used. A file that could not be received goes back and is read again, and
 * the others go on; one that fails time and again, while others are received, is moved to `failed`.
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { link, lstat, mkdir, readdir, readFile, rename, rmdir, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../platform/log.ts';
import { makeFolder } from '../../platform/make-folder.ts';

export type BankInboxOptions = {
  /** `inbox`, `taking`, `done`, `refused` and `failed` are made in it. */
  readonly folder: string;
  /** Says why nothing of the file can be used; nothing of it was booked then. */
  readonly receive: (bytes: Uint8Array) => Promise<{ readonly why: string } | undefined>;
  /** The failure is not the file's: a database that is away. */
  readonly isPassing: (error: unknown) => boolean;
  readonly largestBytes: number;
  readonly log: Pick<Logger, 'error' | 'info'>;
  /** A younger file may still be being written. */
  readonly youngestMs?: number;
  /** After the first failure; each further one doubles it, up to a hundred times as much. */
  readonly retryMs?: number;
  /** What a worker has claimed that was not alive for so long is taken over. */
  readonly takeOverMs?: number;
};

/** So many failures, between which other files were received, are the file's own. */
const mostFailures = 10;

const places = ['inbox', 'taking', 'done', 'refused', 'failed'] as const;
type Place = (typeof places)[number];

/** Names are bytes: a gateway may write them in any encoding. */
type Found = { readonly folder: string; readonly name: Buffer };
type Failures = { readonly all: number; readonly counted: number; readonly received: number; readonly nextAt: number };

/** One pass over the folder. Returns how many files were moved. */
export function bankInbox(options: BankInboxOptions): () => Promise<number> {
  const { folder, receive, isPassing, largestBytes, log } = options;
  const { youngestMs = 2_000, retryMs = 5_000, takeOverMs = 120_000 } = options;
  const inbox = join(folder, 'inbox');
  const taking = join(folder, 'taking');
  const own = join(taking, randomBytes(8).toString('hex'));
  const failures = new Map<string, Failures>();
  const firstSeen = new Map<string, number>();
  let received = 0;
  let hasFolders = false;

  return async () => {
    if (!hasFolders) await Promise.all(places.map((place) => makeFolder(join(folder, place), 0o700)));
    hasFolders = true;
    await sayAlive();
    const found = await claimable();
    let moved = 0;
    const failed: unknown[] = [];
    for (const one of found) {
      try {
        if (await pass(one)) moved += 1;
      } catch (error) {
        failed.push(error);
      }
    }
    if (failed.length > 0) throw failed[0];
    return moved;
  };

  /** The time of the folder of claims. Another worker may have removed it while this one was held up. */
  async function sayAlive(): Promise<void> {
    await unless(['EEXIST'], mkdir(own, { mode: 0o700 }));
    const now = new Date();
    await unless(['ENOENT'], utimes(own, now, now));
  }

  /** In the order of their names: what is in the inbox, and what was claimed by this worker or by one that is dead. */
  async function claimable(): Promise<Found[]> {
    const inInbox = await namesIn(inbox);
    const found = inInbox.map((name): Found => ({ folder: inbox, name }));
    for (const worker of await readdir(taking)) {
      const claims = join(taking, worker);
      if (claims !== own && !(await isDead(claims))) continue;
      const names = await namesIn(claims);
      if (names.length === 0 && claims !== own) await unless(['ENOENT', 'ENOTEMPTY', 'EEXIST'], rmdir(claims));
      found.push(...names.map((name): Found => ({ folder: claims, name })));
    }
    forgetOthers([failures, firstSeen], new Set(found.map(({ name }) => keyOf(name))));
    return found.sort((one, other) => Buffer.compare(one.name, other.name));
  }

  async function isDead(claims: string): Promise<boolean> {
    const seen = await ifThere(lstat(claims));
    return seen?.isDirectory() === true && Date.now() - seen.mtimeMs >= takeOverMs;
  }

  /** Whether the file was moved. */
  async function pass(found: Found): Promise<boolean> {
    const key = keyOf(found.name);
    if (Date.now() < (failures.get(key)?.nextAt ?? 0) || !(await isReady(found)) || !(await claim(found))) return false;
    const path = pathOf(own, found.name);
    const alive = setInterval(() => void sayAlive().catch(() => undefined), takeOverMs / 4); // The next pass says why.
    try {
      const { size } = await lstat(path);
      await take(found.name, size, size > largestBytes ? undefined : await readFile(path));
      failures.delete(key);
      return true;
    } catch (error) {
      if (isPassing(error) || !isOwnFault(key)) {
        await putBack(found.name);
        throw error;
      }
      await keep(found.name, 'failed', found.name);
      log.error({ err: error }, 'a file of the bank failed time and again: it is in the folder failed');
      return true;
    } finally {
      clearInterval(alive);
    }
  }

  /** Not hidden, gone, no file, or younger than a file that is still being written. A time to come says nothing. */
  async function isReady({ folder: from, name }: Found): Promise<boolean> {
    const seen = name[0] === dot ? undefined : await ifThere(lstat(pathOf(from, name)));
    if (seen === undefined || !seen.isFile()) return false;
    const age = Date.now() - seen.mtimeMs;
    if (age >= youngestMs) return true;
    if (age > -60_000) return false;
    const version = `${keyOf(name)}/${seen.ino}/${seen.mtimeMs}/${seen.size}`;
    const first = firstSeen.get(version);
    if (first === undefined) firstSeen.set(version, Date.now());
    return first !== undefined && Date.now() - first >= youngestMs;
  }

  /** False where another worker was faster, or a claimed file with the same name comes first. */
  async function claim({ folder: from, name }: Found): Promise<boolean> {
    if (from === own) return true;
    if ((await ifThere(lstat(pathOf(own, name)))) !== undefined) return false;
    return unless(['ENOENT'], rename(pathOf(from, name), pathOf(own, name)));
  }

  async function take(name: Buffer, size: number, bytes: Uint8Array | undefined): Promise<void> {
    const refusal = bytes === undefined ? { why: `is larger than ${largestBytes} bytes` } : await receive(bytes);
    if (refusal === undefined) log.info({ size }, 'a file of the bank was received from the folder');
    else log.error({ size, why: refusal.why }, 'a file of the bank in the folder was refused');
    if (refusal === undefined) received += 1;
    await keep(name, refusal === undefined ? 'done' : 'refused', bytes ?? name);
  }

  /** A failure counts where another file was received since the one before: what works for others is not away. */
  function isOwnFault(key: string): boolean {
    const { all, counted, received: before } = failures.get(key) ?? { all: 0, counted: 0, received };
    const now = counted + (received > before ? 1 : 0);
    const nextAt = Date.now() + retryMs * Math.min(2 ** all, 100);
    failures.set(key, { all: all + 1, counted: now, received, nextAt });
    return now >= mostFailures;
  }

  /** Where the gateway has put another file under the name meanwhile, it stays claimed and is read again from there. */
  async function putBack(name: Buffer): Promise<void> {
    const path = pathOf(own, name);
    if (await unless(['EEXIST', 'ENOENT'], link(path, pathOf(inbox, name)))) await unlink(path);
  }

  /** Another file with the same name does not take its place. A worker that took the file over has moved it. */
  async function keep(name: Buffer, place: Place, content: Uint8Array): Promise<void> {
    const digest = createHash('sha256').update(content).digest('hex').slice(0, 16);
    const target = Buffer.concat([Buffer.from(`${digest}-`), endOf(name)]);
    await unless(['ENOENT'], rename(pathOf(own, name), pathOf(join(folder, place), target)));
    // Renaming onto another link of the same file leaves both.
    await unless(['ENOENT'], unlink(pathOf(own, name)));
  }
}

const dot = '.'.charCodeAt(0);
const longestName = 200;

const keyOf = (name: Buffer): string => name.toString('latin1');
const pathOf = (folder: string, name: Buffer): Buffer => Buffer.concat([Buffer.from(`${folder}/`), name]);
const namesIn = async (folder: string): Promise<Buffer[]> =>
  (await ifThere(readdir(folder, { encoding: 'buffer' }))) ?? [];

/** From the beginning of a character of UTF-8. */
function endOf(name: Buffer): Buffer {
  const end = name.subarray(-longestName);
  const start = end.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return end.length === name.length || start === -1 ? end : end.subarray(start);
}

/** Keys begin with the name of a file, or are it. */
function forgetOthers(maps: readonly Map<string, unknown>[], names: ReadonlySet<string>): void {
  for (const map of maps) for (const key of map.keys()) if (!names.has(key.split('/', 1)[0] ?? '')) map.delete(key);
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** False where it fails for one of these reasons. */
async function unless(codes: readonly string[], work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (!codes.includes(codeOf(error) ?? '')) throw error;
    return false;
  }
}

async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
}
