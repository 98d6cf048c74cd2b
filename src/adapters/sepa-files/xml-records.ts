/**
 * Reads XML piece by piece: the root alone, or the elements at given paths, each as a small tree. A document type
 * declaration is refused, so there are no entities but the five of XML.
 * @module
 */
import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes';
import { RefusedFile } from './refused-file.ts';

export class XmlNode {
  readonly name: string;
  readonly attributes: Readonly<Record<string, SaxesAttributeNS>>;
  readonly children: XmlNode[] = [];
  text = '';

  constructor({ local, attributes }: SaxesTagNS) {
    this.name = local;
    this.attributes = attributes;
  }

  attribute(name: string): string | undefined {
    return this.attributes[name]?.value;
  }

  /** The first element below this path. */
  at(...path: readonly string[]): XmlNode | undefined {
    let found: XmlNode | undefined = this;
    for (const name of path) found = found?.children.find((child) => child.name === name);
    return found;
  }

  all(name: string): readonly XmlNode[] {
    return this.children.filter((child) => child.name === name);
  }

  textAt(...path: readonly string[]): string | null {
    return this.at(...path)?.text ?? null;
  }
}

const pieceLength = 64 * 1024;

function parserOf(): SaxesParser<{ xmlns: true; position: false }> {
  const parser = new SaxesParser({ xmlns: true, position: false });
  parser.on('doctype', () => {
    throw new RefusedFile('has a document type declaration');
  });
  parser.on('xmldecl', ({ encoding, version }) => {
    if (encoding !== undefined && encoding.toUpperCase() !== 'UTF-8') throw new RefusedFile('is not declared as UTF-8');
    if (version !== undefined && version !== '1.0') throw new RefusedFile('is not XML 1.0');
  });
  parser.on('error', () => {
    throw new RefusedFile('is not well-formed XML');
  });
  return parser;
}

/** The namespace and the name of the first element. The rest is not looked at. */
export function rootOf(text: string): { readonly namespace: string; readonly name: string } {
  const parser = parserOf();
  let root: { namespace: string; name: string } | undefined;
  parser.on('opentag', ({ uri, local }) => {
    root ??= { namespace: uri, name: local };
  });
  for (let at = 0; at < text.length && root === undefined; at += pieceLength)
    parser.write(text.slice(at, at + pieceLength));
  if (root === undefined) throw new RefusedFile('has no element');
  return root;
}

/** Calls `onRecord` with each element at one of the paths, such as `Document/CstmrPmtStsRpt/GrpHdr`, in their order. */
export function readRecords(
  text: string,
  paths: ReadonlySet<string>,
  onRecord: (path: string, record: XmlNode) => void,
): void {
  const parser = parserOf();
  const names: string[] = [];
  /** From the record to the element that is open; empty outside of records. */
  const open: XmlNode[] = [];
  parser.on('opentag', (tag) => {
    names.push(tag.local);
    if (open.length === 0 && !paths.has(names.join('/'))) return;
    const node = new XmlNode(tag);
    open.at(-1)?.children.push(node);
    open.push(node);
  });
  const append = (part: string): void => {
    const node = open.at(-1);
    if (node !== undefined) node.text += part;
  };
  parser.on('text', append);
  parser.on('cdata', append);
  parser.on('closetag', () => {
    const node = open.pop();
    if (node !== undefined && open.length === 0) onRecord(names.join('/'), node);
    names.pop();
  });
  for (let at = 0; at < text.length; at += pieceLength) parser.write(text.slice(at, at + pieceLength));
  parser.close();
}
