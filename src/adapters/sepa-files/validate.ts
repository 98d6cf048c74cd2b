/**
 * Whether a file is valid by the complete schema of its message. libxml2 runs as WebAssembly in its own thread, with
 * a limit of memory and without files or network.
 * @module
 */
import { memoryPages, validateXML } from 'xmllint-wasm';
import { type MessageKind, schemaOf } from './message-kinds.ts';

const mostMemoryMiB = 320;

/**
 * Undefined for a valid file, which must be well-formed. The words name an element of the schema and a line, and never
 * what the file says: its values are personal data.
 */
export async function violationOf(kind: MessageKind, bytes: Uint8Array): Promise<string | undefined> {
  const schema = await schemaOf(kind);
  const { valid, errors } = await validateXML({
    xml: { fileName: 'file.xml', contents: bytes },
    schema: { fileName: 'schema.xsd', contents: schema },
    stream: true,
    maxMemoryPages: mostMemoryMiB * memoryPages.MiB,
    modifyArguments: (given) => ['--nonet', ...given],
  });
  if (valid) return undefined;
  const [first] = errors;
  const element = /Element '(?:\{[^}]*\})?(\w+)'/.exec(first?.message ?? '')?.[1] ?? '';
  const known = schema.includes(`<xs:element name="${element}"`) || schema.includes(` name="${element}" type=`);
  const what = known ? `element ${element}` : 'an element that is not in it';
  return `is not valid by the schema of ${kind}: ${what}${first?.loc == null ? '' : ` (line ${first.loc.lineNumber})`}`;
}
