/**
 * The files of ISO 20022 that are exchanged with a bank: payments out (pain.001), status reports (pain.002) and booked
 * entries (camt.054) in. Each is validated by its complete schema.
 * @module
 */
import type { BankFiles, PaymentInitiation, ReadOutcome } from '../../domains/treasury/sepa/bank-files.port.ts';
import { assert } from '../../kernel/assert.ts';
import { paymentInitiationXml } from './pain-001.ts';
import { readFile } from './read-file.ts';
import { readInThread } from './read-in-thread.ts';
import { RefusedFile } from './refused-file.ts';
import { violationOf } from './validate.ts';

/** More than 30,000 entries. A bank divides larger statements. */
export const largestFileBytes = 48 * 1024 * 1024;

/** Read without a thread, in some 20 ms. */
export const largestAtOnceBytes = 64 * 1024;

export const isoBankFiles: BankFiles = {
  async write(initiation: PaymentInitiation): Promise<Uint8Array> {
    const bytes = new TextEncoder().encode(paymentInitiationXml(initiation));
    const violation = await violationOf('pain.001.001.09', bytes);
    assert(violation === undefined, `a payment file that ${violation}`);
    return bytes;
  },

  async read(bytes: Uint8Array): Promise<ReadOutcome> {
    try {
      if (bytes.length > largestFileBytes) throw new RefusedFile(`is larger than ${largestFileBytes} bytes`);
      const read = bytes.length > largestAtOnceBytes ? readInThread : readFile;
      return { outcome: 'read', file: await read(bytes) };
    } catch (error) {
      if (error instanceof RefusedFile) return { outcome: 'refused', why: error.message };
      throw error;
    }
  },
};
