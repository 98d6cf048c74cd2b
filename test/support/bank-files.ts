/** Files that a bank sends to an installation: camt.054 with given lines, signed like a network's message. @module */
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { camt054, pain002, type TestEntry, type TestStatus } from '../conformance/bank-files/bank-messages.ts';

type Target = { readonly apiUrl: string; readonly networkKey: string };

const path = '/network/sepa/files';

/** Unique, and short enough for an id of a message. */
export const freshReference = (): string => randomUUID().replaceAll('-', '').toUpperCase();

export const bankSignature = ({ networkKey }: Pick<Target, 'networkKey'>, xml: string | Uint8Array): string => {
  const seconds = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', networkKey).update(`${seconds}.POST ${path}.`).update(xml).digest('hex');
  return `t=${seconds},v1=${mac}`;
};

/** Over the digest, as files of more than 1 MiB are signed. */
export function digestHeaders({ networkKey }: Pick<Target, 'networkKey'>, xml: string | Uint8Array, target = path) {
  const seconds = Math.floor(Date.now() / 1000);
  const digest = `sha-256=:${createHash('sha256').update(xml).digest('base64')}:`;
  const mac = createHmac('sha256', networkKey).update(`v2.${seconds}.POST ${target}.${digest}`).digest('hex');
  return { 'Content-Digest': digest, 'X-Network-Signature': `t=${seconds},v2=${mac}` };
}

/** Each with another message id. */
export const notificationOf = (entries: readonly TestEntry[], iban: string, messageId = freshReference()): string =>
  camt054(
    entries.map((entry) => ({ reference: freshReference(), direction: 'CRDT', ...entry })),
    iban,
  ).replace('<MsgId>N-1<', `<MsgId>${messageId}<`);

export const statusesOf = (statuses: readonly TestStatus[], messageId = freshReference()): string =>
  pain002(statuses).replace('<MsgId>S-1<', `<MsgId>${messageId}<`);

export type FileAnswer = {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test names the fields that it expects
  readonly body: any;
};

export async function sendBankFile(target: Target, xml: string | Uint8Array, headers = {}): Promise<FileAnswer> {
  const answer = await fetch(`${target.apiUrl}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml', 'X-Network-Signature': bankSignature(target, xml), ...headers },
    body: xml as string,
  });
  return { status: answer.status, body: await answer.json() };
}
