/**
 * The adapter for a bank that is reached by a folder: a payment is a pain.001 in `outbox`, which the bank's gateway takes
 * away. A copy under the same name stays in `sent`, so that no end-to-end id is written twice. A question about a
 * payment that never came into `outbox` takes its name there, so that it never will. What happens later comes by files.
 * A mark in `sent`, which the database has too, tells the folder from another one, whose answers would be wrong; where the
 * database has none, the folder is taken only if it has what was sent, or an operator has marked it.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { access, link, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BankFiles } from '../../domains/treasury/sepa/bank-files.port.ts';
import type { BankPayment, BankRail, SendAnswer, StatusAnswer } from '../../domains/treasury/sepa/bank-rail.port.ts';
import { assert } from '../../kernel/assert.ts';
import { cents } from '../../kernel/money.ts';
import { makeFolder } from '../../platform/make-folder.ts';

/** The answer to an instant payment would come by a file as well. */
export const fileBankLimits: BankRail['limits'] = {
  offersInstant: false,
  largestInstantCents: cents(99_999_999_999),
};

/** The mark of the folder that the database knows. */
export type BankFolderMark = {
  /** Undefined before there is one. */
  kept(): Promise<string | undefined>;
  /** The mark that is kept from now on: this one, or one that was kept before. */
  keep(mark: string): Promise<string>;
  /** Payments that the bank may have and whose time to be sent is over. */
  open(): Promise<readonly OpenPayment[]>;
};

/** `isTaken`: it was in `outbox`, so its copy is in `sent`; of the others this is unknown. */
export type OpenPayment = { readonly endToEndId: string; readonly isTaken: boolean };

export type FileBankRailOptions = { folder: string; files: Pick<BankFiles, 'write'>; mark: BankFolderMark };

export function createFileBankRail({ folder, files, mark }: FileBankRailOptions): BankRail {
  const outbox = join(folder, 'outbox');
  const sent = join(folder, 'sent');
  const underWay = new Map<string, Promise<unknown>>();
  let known: string | undefined;

  /**
   * The name in `sent` is taken first, by a second link to the finished file; the file then moves into `outbox`. Until
   * it has moved, `.part` says that the bank cannot have it. An interrupted sending is never made again.
   */
  async function put(name: string, bytes: Uint8Array): Promise<SendAnswer> {
    await assertOwnFolder();
    const [part, copy, out] = [join(sent, partOf(name)), join(sent, name), join(outbox, name)];
    if (!(await exists(copy)) && (await unless('EEXIST', writeDurably(part, bytes)))) {
      if (!(await unless('EEXIST', link(part, copy)))) await rm(part, { force: true });
      else {
        await syncFolder(sent);
        if (await unless('ENOENT', rename(part, out))) {
          await Promise.all([syncFolder(outbox), syncFolder(sent)]);
          return taken;
        }
      }
    }
    return (await exists(out)) ? taken : { outcome: 'unknown', why: 'was given the payment before' };
  }

  /** What never came into `outbox` never will: its name is taken here, and a sending that is late finds that. */
  async function withdraw(name: string): Promise<StatusAnswer> {
    await assertOwnFolder();
    const [part, copy, withdrawn] = [join(sent, partOf(name)), join(sent, name), join(sent, withdrawnOf(name))];
    if (await exists(join(outbox, name))) return saysNothing;
    if (await unless('EEXIST', writeDurably(copy, new Uint8Array()))) await rm(part, { force: true });
    else if ((await stat(copy)).size > 0 && !(await isSameFile(withdrawn, copy))) {
      await unless('ENOENT', rename(part, withdrawn));
      // Another file is the part of a sending that found the name taken.
      if (!(await isSameFile(withdrawn, copy))) return saysNothing;
    }
    await syncFolder(sent);
    // The folder may have been taken away meanwhile, with what is in it.
    await assertOwnFolder();
    return { outcome: 'not_known' };
  }

  /** Only a database that knows no folder makes one: in an empty folder every payment would seem never to have been sent. */
  async function assertOwnFolder(): Promise<void> {
    known ??= await mark.kept();
    if (known === undefined) {
      if (!isOfOperator(await markIn(sent))) await assertHasOpen();
      known = await mark.keep(await markedFolder());
    }
    if ((await markIn(sent)) !== known) throw new OtherFolder();
  }

  /** A database without a mark may have sent payments before there were marks, or have been restored from that time. */
  async function assertHasOpen(): Promise<void> {
    const open = await mark.open();
    if (open.length === 0) return;
    const names = new Set(await namesIn(sent));
    const isThere = ({ endToEndId }: OpenPayment) => names.has(fileOf(endToEndId));
    const missesTaken = open.some((payment) => payment.isTaken && !isThere(payment));
    if (missesTaken || !open.some(isThere)) throw new FolderWithoutPayments();
  }

  async function markedFolder(): Promise<string> {
    const made = await Promise.all([outbox, sent].map((one) => makeFolder(one, 0o700)));
    for (const first of made) if (first !== undefined) await syncFolder(dirname(first));
    if (made.some((first) => first !== undefined)) await syncFolder(folder);
    const [fresh, part] = [randomUUID(), join(sent, `${markName}.${randomUUID()}`)];
    await writeDurably(part, new TextEncoder().encode(fresh));
    await unless('EEXIST', link(part, join(sent, markName)));
    await rm(part);
    await syncFolder(sent);
    return (await markIn(sent)) ?? fresh;
  }

  /** A second call about a payment waits for the first one of this process. */
  async function inTurn<T>(name: string, work: (name: string) => Promise<T>): Promise<T> {
    const earlier = underWay.get(name) ?? Promise.resolve();
    const turn = earlier.then(
      () => work(name),
      () => work(name),
    );
    underWay.set(name, turn);
    try {
      return await turn;
    } finally {
      if (underWay.get(name) === turn) underWay.delete(name);
    }
  }

  return {
    limits: fileBankLimits,
    cutOff: '15:00',

    async send(payment) {
      assertNamesFile(payment.endToEndId);
      const bytes = await files.write(initiationOf(payment));
      try {
        return await inTurn(fileOf(payment.endToEndId), (name) => put(name, bytes));
      } catch (error) {
        return { outcome: 'unknown', why: whyUnusable(error) };
      }
    },

    async ask(endToEndId) {
      assertNamesFile(endToEndId);
      try {
        return await inTurn(fileOf(endToEndId), withdraw);
      } catch (error) {
        return { outcome: 'no_answer', why: whyUnusable(error) };
      }
    },

    /** Before any payment is marked as being sent, so that a new deployment has its folder and need not prove it. */
    async prepare() {
      try {
        await assertOwnFolder();
        return undefined;
      } catch (error) {
        return whyUnusable(error);
      }
    },

    recall: async () => ({ outcome: 'refused', why: 'takes no recall by file: ask the bank' }),
  };
}

const taken: SendAnswer = { outcome: 'taken', status: 'submitted' };
const saysNothing: StatusAnswer = { outcome: 'no_answer', why: 'says everything by its files' };

const markName = '.folder';

/** The folder is not there, or is another one than that which payments were written to. */
class OtherFolder extends Error {
  override readonly name = 'OtherFolder';
}

/** It has no mark of an operator and lacks payments that were sent, as one whose disk is not mounted. */
class FolderWithoutPayments extends Error {
  override readonly name = 'FolderWithoutPayments';
}

async function namesIn(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return [];
  }
}

/** Deployments mark folders with UUIDs, so one proves only that some deployment had this folder. */
const isOfOperator = (mark: string | undefined): boolean => mark !== undefined && !isUuid.test(mark.trim());
const isUuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Undefined where there is none. */
async function markIn(sent: string): Promise<string | undefined> {
  try {
    return await readFile(join(sent, markName), 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
}

const fileOf = (endToEndId: string): string => `${endToEndId}.xml`;
/** Written whole, and not in `outbox` yet. */
const partOf = (name: string): string => `.${name}.part`;
/** Will never be in `outbox`. */
const withdrawnOf = (name: string): string => `.${name}.withdrawn`;

function assertNamesFile(endToEndId: string): void {
  assert(/^[0-9A-Za-z]{1,35}$/.test(endToEndId), 'an end-to-end id that can name a file');
}

/** One payment in a file, whose id is that of the payment: a status of the whole file is that of the payment. */
const initiationOf = ({ endToEndId, amountCents, payee, remittance, ...payment }: BankPayment) => ({
  messageId: endToEndId,
  createdAt: new Date(),
  scheme: payment.scheme,
  executionDate: payment.executionDate,
  payer: payment.payer,
  orders: [{ endToEndId, amountCents, payeeName: payee.name, payeeIban: payee.iban, remittance }],
});

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** False where it fails for this reason. */
async function unless(code: 'EEXIST' | 'ENOENT', work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (codeOf(error) !== code) throw error;
    return false;
  }
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  if (!(await exists(one))) return false;
  const [a, b] = await Promise.all([stat(one), stat(other)]);
  return a.ino === b.ino && a.dev === b.dev;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Undefined for what is no error of the file system. */
function codeOf(error: unknown): string | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined ? undefined : code;
}

function whyUnusable(error: unknown): string {
  if (error instanceof OtherFolder) return 'has another folder than the one that payments were written to';
  if (error instanceof FolderWithoutPayments) return 'has a folder without the payments that were sent';
  const code = codeOf(error);
  if (code === undefined) throw error;
  return `has a folder that cannot be used (${code})`;
}
