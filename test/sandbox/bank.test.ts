/** The bank of the sandbox: results by reference, on Bursar's clock, in files that Bursar's own reader accepts. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isoBankFiles } from '../../src/adapters/sepa-files/bank-files.ts';
import type { EntryLine, StatusLine } from '../../src/domains/treasury/sepa/bank-files.port.ts';
import { inBerlin, instantInBerlin } from '../../src/domains/treasury/sepa/banking-day.rules.ts';
import { businessDaysAfter } from '../../src/domains/treasury/sepa/target-calendar.rules.ts';
import { aPayment } from '../conformance/bank-rail/bank-rail-conformance.ts';
import { eventually, startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

type Heard = { readonly entries: EntryLine[]; readonly statuses: StatusLine[] };

const read = new Map<string, ReturnType<typeof isoBankFiles.read>>();

/** The bank repeats files, and the tests ask again and again. */
function readOnce(xml: string): ReturnType<typeof isoBankFiles.read> {
  const outcome = read.get(xml) ?? isoBankFiles.read(new TextEncoder().encode(xml));
  read.set(xml, outcome);
  return outcome;
}

/** What the files of the bank say of one payment. */
async function heardOf(endToEndId: string): Promise<Heard> {
  const heard: Heard = { entries: [], statuses: [] };
  for (const xml of world.bursar.bankFiles) {
    const outcome = await readOnce(xml);
    if (outcome.outcome === 'refused') throw new Error(`a file of the bank ${outcome.why}`);
    if (outcome.file.kind === 'notification')
      heard.entries.push(...outcome.file.lines.filter((line) => line.endToEndId === endToEndId));
    else heard.statuses.push(...outcome.file.lines.filter((line) => line.reference === endToEndId));
  }
  return heard;
}

const pay = async (changes: Parameters<typeof aPayment>[0] = {}) => {
  const payment = aPayment(changes);
  const answer = await world.send('POST', '/bank/payments', payment).catch(() => undefined);
  return { ...payment, answer };
};

/** Moves Bursar's clock to the afternoon of the given business day after today. */
function moveDays(count: number): void {
  const today = inBerlin(new Date(Date.now() + world.bursar.offsetMs)).date;
  world.bursar.offsetMs = instantInBerlin(businessDaysAfter(today, count), '15:00').getTime() - Date.now();
}

test('an instant payment is booked at once', async () => {
  const { endToEndId, answer } = await pay();
  expect(answer?.body).toEqual({ endToEndId, status: 'accepted' });
  const { entries } = await eventually(
    () => heardOf(endToEndId),
    (heard) => heard.entries.length > 0,
  );
  expect(entries).toMatchObject([
    {
      accountIban: 'DE89370400440532013000',
      direction: 'debit',
      isBooked: true,
      amountCents: 12_50,
      counterparty: { name: 'Jane Doe', iban: 'FR1420041010050500013M02606' },
      remittance: { text: 'Invoice 4711', creditorReference: null },
    },
  ]);
});

test('a batch payment is accepted, and settles when the clock is moved to the next business day', async () => {
  const executionDate = businessDaysAfter(inBerlin(new Date(Date.now() + world.bursar.offsetMs)).date, 1);
  const { endToEndId, answer } = await pay({ scheme: 'batch', executionDate });
  expect(answer?.body).toEqual({ endToEndId, status: 'submitted' });
  const before = await eventually(
    () => heardOf(endToEndId),
    (heard) => heard.statuses.length > 0,
  );
  expect(before).toMatchObject({ statuses: [{ about: 'payment', status: 'ACSP', amountCents: 12_50 }], entries: [] });
  moveDays(2);
  const { entries } = await eventually(
    () => heardOf(endToEndId),
    (heard) => heard.entries.length > 0,
  );
  expect(entries).toMatchObject([{ direction: 'debit', bookingDate: businessDaysAfter(executionDate, 1) }]);
});

test('a reference selects a rejection, a return or silence', async () => {
  const executionDate = inBerlin(new Date(Date.now() + world.bursar.offsetMs)).date;
  const rejected = await pay({ remittance: 'FAIL please', scheme: 'batch', executionDate });
  const returned = await pay({ remittance: 'RETURN please' });
  const silent = await pay({ remittance: 'SILENT please' });
  expect(rejected.answer?.body).toMatchObject({ status: 'submitted' });
  expect(silent.answer).toBeUndefined();
  const { statuses } = await eventually(
    () => heardOf(rejected.endToEndId),
    (heard) => heard.statuses.length > 0,
  );
  expect(statuses).toMatchObject([{ status: 'RJCT', reasonCode: 'AC04' }]);
  await eventually(
    () => heardOf(returned.endToEndId),
    (heard) => heard.entries.length > 0,
  );
  moveDays(1);
  const { entries } = await eventually(
    () => heardOf(returned.endToEndId),
    (heard) => heard.entries.length > 1,
  );
  expect(entries).toMatchObject([
    { direction: 'debit', returnReasonCode: null },
    { direction: 'credit', returnReasonCode: 'MD07', amountCents: 12_50 },
  ]);
  expect(await heardOf(silent.endToEndId)).toEqual({ entries: [], statuses: [] });
  expect(await heardOf(rejected.endToEndId)).toMatchObject({ entries: [] });
});

test('a recalled payment comes back on the next business day, once', async () => {
  const { endToEndId } = await pay();
  await eventually(
    () => heardOf(endToEndId),
    (heard) => heard.entries.length > 0,
  );
  const recall = () => world.send('POST', `/bank/payments/${endToEndId}/recall`, { reasonCode: 'CUST' });
  expect(await recall()).toMatchObject({ status: 200 });
  expect(await recall()).toMatchObject({ status: 200 });
  // Whatever is booked later shows that the recall was seen, so that its day is fixed before the clock moves.
  const later = await pay();
  await eventually(
    () => heardOf(later.endToEndId),
    (heard) => heard.entries.length > 0,
  );
  moveDays(1);
  const { entries } = await eventually(
    () => heardOf(endToEndId),
    (heard) => heard.entries.length > 1,
  );
  expect(entries.map(({ returnReasonCode }) => returnReasonCode)).toEqual([null, 'FOCR']);
  expect(
    await world.send('POST', `/bank/payments/${(await pay({ remittance: 'FAIL' })).endToEndId}/recall`, {
      reasonCode: 'CUST',
    }),
  ).toMatchObject({ status: 409 });
});

test('a credit with a key is made once, and a file is sent until it is taken', async () => {
  world.bursar.bankFileStatus = 503;
  const order = {
    iban: 'DE89370400440532013000',
    amountCents: 77_00,
    payerName: 'Max Payer',
    reference: 'RF18539007547034',
  };
  const first = await world.send('POST', '/bank/credits', { ...order, endToEndId: 'CREDIT-1' }, 'key-1');
  expect(first.status).toBe(201);
  expect(await world.send('POST', '/bank/credits', { ...order, endToEndId: 'CREDIT-1' }, 'key-1')).toEqual(first);
  await eventually(
    () => heardOf('CREDIT-1'),
    (heard) => heard.entries.length > 1,
  );
  const files = async () =>
    (await world.send('GET', '/bank/files')).body.files as { state: string; lastStatus: number }[];
  expect((await files())[0]).toMatchObject({ state: 'waiting', lastStatus: 503 });
  world.bursar.bankFileStatus = 200;
  await eventually(files, ([latest]) => latest?.state === 'taken');
  const { entries } = await heardOf('CREDIT-1');
  expect(new Set(entries.map((entry) => entry.servicerReference))).toEqual(new Set([first.body.reference]));
  expect(entries[0]).toMatchObject({ direction: 'credit', remittance: { text: 'RF18539007547034' } });
});

test('a person can look at the accounts and at the statement of one', async () => {
  const accounts = await (await fetch(`${world.url}/bank`)).text();
  expect(accounts).toContain('href="/bank/statements/DE89370400440532013000"');
  const answer = await fetch(`${world.url}/bank/statements/DE89370400440532013000`);
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  const statement = await answer.text();
  expect(statement).toContain('Max Payer');
  expect(statement).toContain('came back: FOCR');
  expect(statement).toContain('SILENT please');
  expect((await fetch(`${world.url}/bank/statements/elsewhere`)).status).toBe(400);
});

test('what is no payment is refused, and nothing is taken', async () => {
  const payment = aPayment();
  const wrong = [
    { ...payment, amountCents: 0 },
    { ...payment, remittance: 'Größe' },
    { ...payment, executionDate: '2026-02-30' },
    { ...payment, extra: 1 },
  ];
  for (const body of wrong) expect((await world.send('POST', '/bank/payments', body)).status).toBe(400);
  expect((await world.send('GET', `/bank/payments/${payment.endToEndId}`)).status).toBe(404);
});
