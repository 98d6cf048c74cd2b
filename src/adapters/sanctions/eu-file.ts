/**
 * The consolidated list of the European Union as a file: XML in the namespace of its export, version 1.1. The file is
 * read as a stream and again when it changes. One that is broken is reported and not used: the last good list stays, and
 * without any every comparison is `unavailable`. A document type declaration is refused, so no entity is ever declared.
 * @module
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { SaxesParser, type SaxesTagNS } from 'saxes';
import type {
  ListedName,
  ListOfNames,
  SanctionsList,
  SanctionsState,
} from '../../domains/treasury/beneficiaries/sanctions.port.ts';
import { DomainError } from '../../kernel/errors.ts';

const namespace = 'http://eu.europa.ec/fpi/fsd/export';
/** Ten times the list of 2026. */
const mostBytes = 256 * 1024 * 1024;

type Deps = {
  readonly path: string;
  readonly log: { error(details: object, message: string): void; info(details: object, message: string): void };
};

export function createEuSanctionsFile({ path, log }: Deps): SanctionsList {
  let good: ListOfNames | undefined;
  /** What was read last, good or not. */
  let seen: { readonly mark: string; readonly isGood: boolean } | undefined;
  let reading: Promise<void> | undefined;

  async function readOnce(): Promise<void> {
    const mark = await markOf(path);
    if (mark === seen?.mark) return;
    try {
      good = await readEuList(path);
      seen = { mark, isGood: true };
      log.info({ list: good.id, names: good.names.length }, 'sanctions list read');
    } catch (error) {
      seen = { mark, isGood: false };
      log.error({ err: error, used: good?.id ?? null }, 'the sanctions list cannot be read');
    }
  }

  /** Callers that come while the file is read share the reading. */
  async function refresh(): Promise<void> {
    reading ??= readOnce().finally(() => {
      reading = undefined;
    });
    await reading;
  }

  return {
    async current() {
      await refresh();
      if (good !== undefined) return good;
      throw new DomainError('unavailable', 'the sanctions list cannot be read, so nobody can be screened', {
        retryAfterSeconds: 60,
      });
    },
    async state(): Promise<SanctionsState> {
      await refresh();
      if (good === undefined) return 'down';
      return seen?.isGood === true ? 'ok' : 'degraded';
    },
  };
}

/** Another one after each change of the file. */
async function markOf(path: string): Promise<string> {
  try {
    const { mtimeMs, ctimeMs, size, ino } = await stat(path);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch (error) {
    return `absent: ${(error as NodeJS.ErrnoException).code}`;
  }
}

/** Throws for anything that is not a whole list. */
export async function readEuList(path: string): Promise<ListOfNames> {
  if ((await stat(path)).size > mostBytes) throw new Error(`the sanctions list has more than ${mostBytes} bytes`);
  const names: ListedName[] = [];
  let generated: string | undefined;
  let reference = '';
  let depth = 0;
  const parser = new SaxesParser({ xmlns: true });
  parser.on('doctype', () => {
    throw new Error('the sanctions list has a document type declaration');
  });
  parser.on('opentag', (tag: SaxesTagNS) => {
    depth += 1;
    if (depth === 1) generated = dateOfExport(tag);
    if (tag.uri !== namespace) return;
    if (depth === 2 && tag.local === 'sanctionEntity') reference = referenceOf(tag);
    if (depth !== 3 || tag.local !== 'nameAlias' || reference === '') return;
    const name = nameOf(tag);
    if (name !== '') names.push({ reference, name });
  });
  parser.on('closetag', () => {
    depth -= 1;
    if (depth === 1) reference = '';
  });
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 256 * 1024 })) {
    parser.write(chunk as string); // Between two chunks other work goes on.
  }
  parser.close();
  if (generated === undefined || names.length === 0) throw new Error('the sanctions list names nobody');
  return { id: `eu ${generated}`, names };
}

function dateOfExport(tag: SaxesTagNS): string {
  const date = /^\d{4}-\d{2}-\d{2}/.exec(attributeOf(tag, 'generationDate'))?.[0];
  if (tag.uri === namespace && tag.local === 'export' && date !== undefined) return date;
  throw new Error('the file is no export of the EU list, version 1.1');
}

/** Entries of before the numbering have only the number of the record. */
const referenceOf = (tag: SaxesTagNS): string =>
  (attributeOf(tag, 'euReferenceNumber') || `record ${attributeOf(tag, 'logicalId')}`).slice(0, 100);

const nameOf = (tag: SaxesTagNS): string =>
  (
    attributeOf(tag, 'wholeName') ||
    ['firstName', 'middleName', 'lastName'].map((part) => attributeOf(tag, part)).join(' ')
  )
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 400);

const attributeOf = (tag: SaxesTagNS, name: string): string => tag.attributes[name]?.value.trim() ?? '';
