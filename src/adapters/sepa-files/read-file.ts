/**
 * Reads a file of a bank as a whole: its encoding, its kind, its content, and whether it is valid by the schema. It
 * takes seconds of computation for a large one, so large ones are read in a thread (read-in-thread.ts).
 * @module
 */
import type { Notification, StatusReport } from '../../domains/treasury/sepa/bank-files.port.ts';
import { readNotification } from './camt-054.ts';
import { kindOfNamespace, type MessageKind } from './message-kinds.ts';
import { readStatusReport } from './pain-002.ts';
import { RefusedFile } from './refused-file.ts';
import { violationOf } from './validate.ts';
import { rootOf } from './xml-records.ts';

/** Throws RefusedFile. */
export async function readFile(bytes: Uint8Array): Promise<StatusReport | Notification> {
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
