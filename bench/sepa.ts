/**
 * Goal: a file of 10,000 payments is written in under 2 s; a notification of 10,000 entries is read and booked in under
 * 20 s by an API that stays within 512 MiB; and while it reads and books the largest file, other requests are answered
 * within 200 ms. Method: the first in this process, the others over HTTP, with a request for a balance every 20 ms.
 * @module
 */
import { createHash, createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { isoBankFiles } from '../src/adapters/sepa-files/bank-files.ts';
import { largestBodyBytes } from '../src/domains/treasury/bank-files/bank-file.contract.ts';
import { endToEndIdOf } from '../src/domains/treasury/sepa/end-to-end-id.rules.ts';
import { germanIban } from '../src/domains/treasury/wallets/iban.rules.ts';
import { calendarDate } from '../src/kernel/calendar-date.ts';
import { newId } from '../src/kernel/ids.ts';
import { cents } from '../src/kernel/money.ts';
import { camt054, ourIban, type TestEntry, theirIban } from '../test/conformance/bank-files/bank-messages.ts';
import { evaluate, inMs, percentile, table, whole } from './support/figures.ts';
import { benchFolder, startBenchPostgres } from './support/postgres.ts';
import { type ApiProgram, startApi } from './support/program.ts';
import { type Ending, runBench } from './support/run.ts';
import { idOf, seedAgents, seededOwner, settle } from './support/seed.ts';

const count = 10_000;
/** Each with a journal, so that the book is that of a deployment in use, with statistics. */
const agents = 1_000;
const walletIban = germanIban('99999999', 1);

const inMib = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

async function timed<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly ms: number }> {
  const before = performance.now();
  const result = await work();
  return { result, ms: performance.now() - before };
}

const orders = Array.from({ length: count }, (_, index) => ({
  endToEndId: endToEndIdOf(newId('transfer')),
  amountCents: cents(1_000 + index),
  payeeName: `Payee ${index}`,
  payeeIban: theirIban,
  remittance: `Invoice 2026-${index}`,
}));

const writing = () =>
  timed(() =>
    isoBankFiles.write({
      messageId: 'BENCH',
      createdAt: new Date(),
      scheme: 'batch',
      executionDate: calendarDate('2026-11-23'),
      payer: { name: 'Bench', iban: ourIban, bic: null },
      orders,
    }),
  );

/** Each with references of its own. */
function notification(name: string, entries: number, entry: TestEntry): Uint8Array {
  const lines = Array.from({ length: entries }, (_, index) => ({
    ...entry,
    reference: `${name}-${index}`,
    text: `Invoice 2026-${index}`,
  }));
  return new TextEncoder().encode(camt054(lines, walletIban).replace('<MsgId>N-1<', `<MsgId>${name}<`));
}

type Answer = {
  readonly lines: number;
  readonly credited: number;
  readonly suspense: number;
  readonly unbooked: number;
};

async function send({ url, bankKey }: ApiProgram, bytes: Uint8Array): Promise<Answer> {
  const path = '/network/sepa/files';
  const seconds = Math.floor(Date.now() / 1_000);
  const digest = `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`;
  const mac = createHmac('sha256', bankKey).update(`v2.${seconds}.POST ${path}.${digest}`).digest('hex');
  const signed = { 'Content-Digest': digest, 'X-Network-Signature': `t=${seconds},v2=${mac}` };
  const headers = { 'Content-Type': 'application/xml', ...signed };
  const answer = await fetch(url + path, { method: 'POST', headers, body: Buffer.from(bytes) });
  if (answer.status !== 200) throw new Error(`the file was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

/** How long each request took that was made meanwhile. */
async function meanwhile({ url, apiKey }: ApiProgram, work: Promise<unknown>): Promise<readonly number[]> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  const tookMs: number[] = [];
  while (!isOver) {
    const { result, ms } = await timed(() =>
      fetch(`${url}/wallets/${idOf('wal', 1)}/balance`, { headers: { authorization: `Bearer ${apiKey}` } }),
    );
    if (!result.ok) throw new Error(`a balance was answered ${result.status}`);
    await result.arrayBuffer();
    tookMs.push(ms);
    await sleep(20);
  }
  return tookMs;
}

/** Since the process began. */
async function peakBytes(pid: number): Promise<number> {
  const [, kib] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) * 1024;
}

async function installation(atEnd: Ending): Promise<ApiProgram> {
  const { url, sql } = await startBenchPostgres(atEnd);
  const api = await startApi('live', { databaseUrl: url, dir: await benchFolder(atEnd) }, atEnd);
  await seedAgents(sql, await seededOwner(sql), agents);
  await sql(`update wallets set iban = $1, bic = 'BURSDEFFXXX' where id = $2`, [walletIban, idOf('wal', 1)]);
  await settle(sql);
  return api;
}

const shown = (what: string, bytes: number, { lines, credited, unbooked }: Answer, ms: number): string[] => [
  ...[what, inMib(bytes), whole(lines), whole(credited), whole(unbooked), inSeconds(ms)],
];

await runBench('sepa', async (atEnd) => {
  const written = await writing();
  const largest = (() => {
    const perEntry = notification('SIZE', 1_000, { direction: 'CRDT', amount: '1.00' }).length / 1_000;
    return notification('LARGEST', Math.floor((largestBodyBytes / perEntry) * 0.98), {
      direction: 'CRDT',
      amount: '1.00',
    });
  })();
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const read = await timed(() => isoBankFiles.read(largest));
  delay.disable();
  if (read.result.outcome !== 'read') throw new Error(`the file ${read.result.why}`);

  const api = await installation(atEnd);
  const before = await peakBytes(api.pid);
  const credits = notification('CREDITS', count, { direction: 'CRDT', amount: '1.00' });
  const credited = await timed(() => send(api, credits));
  const debits = notification('DEBITS', count, { direction: 'DBIT', amount: '1.00' });
  const unbooked = await timed(() => send(api, debits));
  const peak = await peakBytes(api.pid);
  const sending = timed(() => send(api, largest));
  const others = await meanwhile(api, sending);
  const largestSent = await sending;
  const peakOfLargest = await peakBytes(api.pid);

  table(
    ['file', 'size', 'lines', 'credited', 'unbooked', 'took'],
    [
      ['pain.001, written and validated', inMib(written.result.length), whole(count), '', '', inSeconds(written.ms)],
      [
        'camt.054, read and validated',
        inMib(largest.length),
        whole(read.result.file.lines.length),
        '',
        '',
        inSeconds(read.ms),
      ],
      shown('credits, read and booked over HTTP', credits.length, credited.result, credited.ms),
      shown('unknown debits, read and kept over HTTP', debits.length, unbooked.result, unbooked.ms),
      shown('credits, the largest body', largest.length, largestSent.result, largestSent.ms),
    ],
  );
  const worst = Math.max(...others);
  const target = (what: string, found: string, most: string, isMet: boolean) => ({
    what,
    found,
    target: `< ${most}`,
    isMet,
  });
  return evaluate([
    target(`${whole(count)} payments written`, inSeconds(written.ms), '2 s', written.ms < 2_000),
    target(`${whole(count)} credits read and booked`, inSeconds(credited.ms), '20 s', credited.ms < 20_000),
    target(`${whole(count)} debits read and kept`, inSeconds(unbooked.ms), '20 s', unbooked.ms < 20_000),
    target(`memory of the API (${inMib(before)} before)`, inMib(peak), '512 MiB', peak < 512 * 2 ** 20),
    target('memory of the API with the largest body', inMib(peakOfLargest), '768 MiB', peakOfLargest < 768 * 2 ** 20),
    target('event loop held while the largest is read', inMs(delay.max / 1e6), '200 ms', delay.max < 2e8),
    target(
      `${whole(others.length)} balances meanwhile: p50 ${inMs(percentile(others, 0.5))}, p99 ${inMs(percentile(others, 0.99))}, most`,
      ...([inMs(worst), '200 ms', worst < 200] as const),
    ),
  ]);
});
