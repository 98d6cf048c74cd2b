/**
 * Goal: a file of 10,000 payments is written in under 2 s, and a notification of 10,000 entries is read in under 20 s
 * within 512 MiB, both validated by their schemas. Method: each in this process, which starts nothing else; peak memory
 * is that of the whole process.
 * @module
 */
import { parseArgs } from 'node:util';
import { isoBankFiles } from '../src/adapters/sepa-files/bank-files.ts';
import { endToEndIdOf } from '../src/domains/treasury/sepa/end-to-end-id.rules.ts';
import { calendarDate } from '../src/kernel/calendar-date.ts';
import { newId } from '../src/kernel/ids.ts';
import { cents } from '../src/kernel/money.ts';
import { camt054, ourIban, theirIban } from '../test/conformance/bank-files/bank-messages.ts';

const { values } = parseArgs({ options: { count: { type: 'string', default: '10000' } } });
const count = Number(values.count);
const orders = Array.from({ length: count }, (_, index) => ({
  endToEndId: endToEndIdOf(newId('transfer')),
  amountCents: cents(1_000 + index),
  payeeName: `Payee ${index}`,
  payeeIban: theirIban,
  remittance: `Invoice 2026-${index}`,
}));

const mib = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
const peak = (): string => `peak ${mib(process.resourceUsage().maxRSS * 1024)}`;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function timed<T>(work: () => Promise<T>): Promise<readonly [T, string]> {
  const before = performance.now();
  const result = await work();
  return [result, `${((performance.now() - before) / 1_000).toFixed(2)} s`];
}

const [written, writing] = await timed(() =>
  isoBankFiles.write({
    messageId: 'BENCH',
    createdAt: new Date(),
    scheme: 'batch',
    executionDate: calendarDate('2026-11-23'),
    payer: { name: 'Bench', iban: ourIban, bic: null },
    orders,
  }),
);
say(`pain.001: ${count} payments, ${mib(written.length)}, written and validated in ${writing}, ${peak()}`);

const notification = new TextEncoder().encode(
  camt054(orders.map(({ endToEndId, remittance }) => ({ endToEndId, text: remittance }))),
);
const [outcome, reading] = await timed(() => isoBankFiles.read(notification));
if (outcome.outcome !== 'read') throw new Error(`the file ${outcome.why}`);
say(
  `camt.054: ${outcome.file.lines.length} entries, ${mib(notification.length)}, validated and read in ${reading}, ${peak()}`,
);
