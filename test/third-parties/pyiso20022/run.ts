/**
 * `npm run pyiso20022`: the classes that pyiso20022 generated from the schemas read what Bursar writes, and what its
 * tests send as a bank. Says "skipped" where there is no Python.
 * @module
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { isoBankFiles } from '../../../src/adapters/sepa-files/bank-files.ts';
import { calendarDate } from '../../../src/kernel/calendar-date.ts';
import { cents } from '../../../src/kernel/money.ts';
import { camt054, ourIban, pain002, theirIban } from '../../conformance/bank-files/bank-messages.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

function call(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`);
  return stdout;
}

const orders = Array.from({ length: 1_000 }, (_, index) => ({
  endToEndId: `TR${index}`,
  amountCents: cents(1 + index * 7_919),
  payeeName: `O'Neill + Co ${index}`,
  payeeIban: theirIban,
  remittance: index % 2 === 0 ? null : `Invoice (${index})`,
}));
const payer = { name: 'Payer', iban: ourIban, bic: 'BURSDEF0XXX' };
const initiation = {
  messageId: 'M-1',
  createdAt: new Date(),
  executionDate: calendarDate('2026-11-23'),
  payer,
  orders,
};

/** Module, content, and what has to be found in it. */
const messages: readonly (readonly [string, string | Uint8Array, readonly (readonly string[])[]])[] = [
  [
    'pain_001_001_09',
    await isoBankFiles.write({ ...initiation, scheme: 'instant' }),
    orders.map(({ endToEndId, amountCents, payeeName }) => [endToEndId, (amountCents / 100).toFixed(2), payeeName]),
  ],
  ['pain_002_001_10', pain002([{ endToEndId: 'TR1', status: 'RJCT', reason: 'AC04' }]), [['TR1', 'RJCT']]],
  ['camt_054_001_08', camt054([{ endToEndId: 'TR1', returnReason: 'AC04', direction: 'CRDT' }]), [['REF0', '12.50']]],
];

if (spawnSync('python3', ['--version']).status !== 0) {
  say('skipped: there is no Python');
} else {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-pyiso20022-'));
  try {
    call('python3', ['-m', 'venv', folder]);
    call(join(folder, 'bin', 'pip'), [
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '-r',
      beside('requirements.txt'),
    ]);
    const args: string[] = [];
    for (const [name, content] of messages) {
      const path = join(folder, `${name}.xml`);
      await writeFile(path, content);
      args.push(name, path);
    }
    const found = call(join(folder, 'bin', 'python'), [beside('read.py'), ...args])
      .trim()
      .split('\n');
    for (const [index, [name, , expected]] of messages.entries()) {
      const isEqual = isDeepStrictEqual(JSON.parse(found[index] ?? 'null'), expected);
      say(`${isEqual ? 'ok' : 'DIFFERENT'}: ${name}, ${expected.length} read`);
      if (!isEqual) process.exitCode = 1;
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
