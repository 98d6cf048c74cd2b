/** The bank's files on their way to Bursar: sent in their order, each until it is taken. @module */
import { randomBytes } from 'node:crypto';
import type { pino } from 'pino';
import type { BursarApi } from '../network/bursar-api.ts';
import type { Store } from '../store.ts';

type FileRow = {
  id: string;
  xml: string;
  is_taken: 0 | 1;
  attempts: number;
  last_status: number | null;
  last_answer: string | null;
};

const attemptTimeoutMs = 30_000;
const longestPauseMs = 5_000;
const filesInRound = 20;

/** Of upper-case letters and digits, which every bank accepts. Random: a new store must not repeat an old reference. */
export const newBankReference = (prefix: string): string => `${prefix}${randomBytes(12).toString('hex').toUpperCase()}`;

type Options = { store: Store; bursar: BursarApi; log: pino.Logger };

export function createFileQueue({ store, bursar, log }: Options) {
  async function send({ id, xml, attempts }: FileRow): Promise<void> {
    const answer = await bursar.sendBankFile(xml, attemptTimeoutMs);
    const isTaken = answer !== undefined && answer.status >= 200 && answer.status < 300;
    store.run(
      `UPDATE bank_files SET is_taken = ?, attempts = attempts + 1, next_attempt_at_ms = ?, last_status = ?,
         last_answer = ? WHERE id = ?`,
      isTaken ? 1 : 0,
      Date.now() + Math.min(longestPauseMs, 100 * 2 ** Math.min(attempts, 10)),
      answer?.status ?? null,
      answer?.text.slice(0, 2_000) ?? null,
      id,
    );
    const said = { fileId: id, status: answer?.status, attempt: attempts + 1 };
    if (isTaken) log.info(said, 'a file of the bank was taken');
    else log.warn(said, 'a file of the bank was not taken yet');
  }

  return {
    /** To be called inside a transaction. */
    enqueue(written: (id: string) => string): string {
      const id = newBankReference('SBF');
      store.run('INSERT INTO bank_files (id, xml) VALUES (?, ?)', id, written(id));
      return id;
    },
    async sendReady(isStopping: () => boolean): Promise<void> {
      const ready = store.all<FileRow>(
        'SELECT * FROM bank_files WHERE is_taken = 0 AND next_attempt_at_ms <= ? ORDER BY seq LIMIT ?',
        Date.now(),
        filesInRound,
      );
      for (const file of ready) if (!isStopping()) await send(file);
    },
    latest: (count: number): FileRow[] =>
      store.all<FileRow>('SELECT * FROM bank_files ORDER BY seq DESC LIMIT ?', count),
  };
}
