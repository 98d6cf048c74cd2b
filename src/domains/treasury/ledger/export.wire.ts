/** The book as a file: one line of JSON or of CSV for each entry, amounts in euros. Shapes only. @module */
import { type CsvValue, csvLine } from '../../../http/csv.ts';
import { Streamed, type StreamedType } from '../../../http/streamed.ts';
import { isoOrNull } from '../../../kernel/instant.ts';
import { entryWire } from './entry.wire.ts';
import type { ChainRange, SealedEntry } from './export.queries.ts';
import type { ExportFormat } from './export.rules.ts';

/** `sequence` and `sealedAt` are those of the entry's journal. */
const exported = (entry: SealedEntry) => ({
  sequence: entry.sequence,
  sealedAt: isoOrNull(entry.sealedAt),
  ...entryWire(entry),
});
type Exported = ReturnType<typeof exported>;

const columns = [
  ...['sequence', 'sealedAt', 'id', 'journalId', 'ownerId', 'agentId', 'kind', 'account', 'walletId', 'direction'],
  ...['amountEuros', 'balanceBeforeEuros', 'balanceAfterEuros', 'referenceType', 'referenceId', 'memo', 'requestId'],
  ...['runId', 'createdAt'],
] as readonly (keyof Exported)[];

const lineOf: Readonly<Record<ExportFormat, (entry: Exported) => string>> = {
  ndjson: (entry) => `${JSON.stringify(entry)}\n`,
  csv: (entry) => csvLine(columns.map((column): CsvValue => entry[column])),
};

const typeOf = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const satisfies Record<
  ExportFormat,
  StreamedType
>;

export const exportedFile = (
  format: ExportFormat,
  { ownerId, after, last }: ChainRange,
  parts: AsyncIterable<readonly SealedEntry[]>,
): Streamed =>
  new Streamed(typeOf[format], `ledger-${ownerId}-${after + 1}-${last}.${format}`, exportedText(format, parts));

/** One text for each part that is read. */
async function* exportedText(
  format: ExportFormat,
  parts: AsyncIterable<readonly SealedEntry[]>,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(columns);
  for await (const entries of parts) yield entries.map((entry) => lineOf[format](exported(entry))).join('');
}
