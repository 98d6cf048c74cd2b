/**
 * The files of ISO 20022 that are exchanged with a bank: payments out (pain.001), status reports (pain.002) and booked
 * entries (camt.054) in. Each is validated by its complete schema.
 * @module
 */
import type { BankFiles, PaymentInitiation, ReadOutcome } from '../../domains/treasury/sepa/bank-files.port.ts';
import { assert } from '../../kernel/assert.ts';
import { readNotification } from './camt-054.ts';
import { kindOfNamespace, type MessageKind } from './message-kinds.ts';
import { paymentInitiationXml } from './pain-001.ts';
import { readStatusReport } from './pain-002.ts';
import { RefusedFile } from './refused-file.ts';
import { violationOf } from './validate.ts';
import { rootOf } from './xml-records.ts';

/** More than 30,000 entries. A bank divides larger statements. */
export const largestFileBytes = 48 * 1024 * 1024;

export const isoBankFiles: BankFiles = {
  async write(initiation: PaymentInitiation): Promise<Uint8Array> {
    const bytes = new TextEncoder().encode(paymentInitiationXml(initiation));
    const violation = await violationOf('pain.001.001.09', bytes);
    assert(violation === undefined, `a payment file that ${violation}`);
    return bytes;
  },

  async read(bytes: Uint8Array): Promise<ReadOutcome> {
    try {
      return { outcome: 'read', file: await readFile(bytes) };
    } catch (error) {
      if (error instanceof RefusedFile) return { outcome: 'refused', why: error.message };
      throw error;
    }
  },
};

async function readFile(bytes: Uint8Array) {
  if (bytes.length > largestFileBytes) throw new RefusedFile(`is larger than ${largestFileBytes} bytes`);
  const text = textOf(bytes);
  const kind = kindOf(text);
  if (kind === 'pain.001.001.09') throw new RefusedFile('is a payment initiation, which no bank sends');
  // First, because libxml2 shall see neither a document type declaration nor a file that breaks off.
  const file = kind === 'pain.002.001.10' ? readStatusReport(text) : readNotification(text);
  const violation = await violationOf(kind, bytes);
  if (violation !== undefined) throw new RefusedFile(violation);
  return file;
}

function kindOf(text: string): MessageKind {
  const { namespace, name } = rootOf(text);
  const kind = name === 'Document' ? kindOfNamespace(namespace) : undefined;
  if (kind === undefined) throw new RefusedFile('is not a message of ISO 20022 that Bursar reads');
  return kind;
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new RefusedFile('is not in UTF-8');
  }
}
