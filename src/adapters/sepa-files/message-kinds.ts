/** The three messages of ISO 20022 that are exchanged with a bank, with their schemas. @module */
import { readFile } from 'node:fs/promises';

const namespacePrefix = 'urn:iso:std:iso:20022:tech:xsd:';

export const messageKinds = ['pain.001.001.09', 'pain.002.001.10', 'camt.054.001.08'] as const;
export type MessageKind = (typeof messageKinds)[number];

export const namespaceOf = (kind: MessageKind): string => `${namespacePrefix}${kind}`;

/** Undefined for every other message, also for other versions of these three. */
export const kindOfNamespace = (namespace: string): MessageKind | undefined =>
  messageKinds.find((kind) => namespaceOf(kind) === namespace);

const schemas = new Map<MessageKind, Promise<string>>();

/** The complete schema, as ISO publishes it; read once. */
export function schemaOf(kind: MessageKind): Promise<string> {
  const known = schemas.get(kind) ?? readFile(new URL(`xsd/${kind}.xsd`, import.meta.url), 'utf8');
  schemas.set(kind, known);
  return known;
}
