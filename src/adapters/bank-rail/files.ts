/**
 * The adapter for a bank that is reached by a folder: a payment is a pain.001 in `outbox`, which the bank's gateway takes
 * away. A copy under the same name stays in `sent`, so that no end-to-end id is written twice. Everything that happens
 * later comes by files.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { access, link, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { BankFiles } from '../../domains/treasury/sepa/bank-files.port.ts';
import type { BankPayment, BankRail, SendAnswer } from '../../domains/treasury/sepa/bank-rail.port.ts';
import { assert } from '../../kernel/assert.ts';
import { cents } from '../../kernel/money.ts';
import { makeFolder } from '../../platform/make-folder.ts';

/** The answer to an instant payment would come by a file as well. */
export const fileBankLimits: BankRail['limits'] = {
  offersInstant: false,
  largestInstantCents: cents(99_999_999_999),
};

export type FileBankRailOptions = { folder: string; files: Pick<BankFiles, 'write'> };

export function createFileBankRail({ folder, files }: FileBankRailOptions): BankRail {
  const outbox = join(folder, 'outbox');
  const sent = join(folder, 'sent');
  const underWay = new Map<string, Promise<unknown>>();

  /** The name in `sent` is taken first: an interrupted sending is never made again, and its outcome is unknown. */
  async function put(name: string, bytes: Uint8Array): Promise<SendAnswer> {
    await Promise.all([outbox, sent].map((one) => makeFolder(one, 0o700)));
    const part = join(sent, `.${randomUUID()}.part`);
    await writeDurably(part, bytes);
    try {
      await link(part, join(sent, name));
      await syncFolder(sent);
      await link(part, join(outbox, name));
      await syncFolder(outbox);
      return taken;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      return (await exists(join(outbox, name))) ? taken : { outcome: 'unknown', why: 'was given the payment before' };
    } finally {
      await unlink(part);
    }
  }

  /** A second sending of a payment waits for the first one of this process. */
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
      assert(/^[0-9A-Za-z]{1,35}$/.test(payment.endToEndId), 'an end-to-end id that can name a file');
      const bytes = await files.write(initiationOf(payment));
      try {
        return await inTurn(`${payment.endToEndId}.xml`, (name) => put(name, bytes));
      } catch (error) {
        const code = codeOf(error);
        if (code === undefined) throw error;
        return { outcome: 'unknown', why: `has a folder that cannot be written to (${code})` };
      }
    },

    ask: async () => ({ outcome: 'no_answer', why: 'says everything by its files' }),
    recall: async () => ({ outcome: 'refused', why: 'takes no recall by file: ask the bank' }),
  };
}

const taken: SendAnswer = { outcome: 'taken', status: 'submitted' };

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
