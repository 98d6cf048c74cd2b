/** The intake of banks' files: what is booked, what is known already, what waits for an operator, and what does no harm. @module */
import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isoBankFiles } from '../../../src/adapters/sepa-files/bank-files.ts';
import { createClient, type Send } from '../../../src/client/client.ts';
import { bankFilesArea } from '../../../src/domains/treasury/bank-files/bank-file.contract.ts';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { germanIban } from '../../../src/domains/treasury/wallets/iban.rules.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { DomainError } from '../../../src/kernel/errors.ts';
import { receiveBankFile } from '../../../src/usecases/treasury/receive-bank-file.ts';
import { ourIban } from '../../conformance/bank-files/bank-messages.ts';
import {
  bankSignature,
  digestHeaders,
  freshReference,
  notificationOf,
  sendBankFile,
  statusesOf,
} from '../../support/bank-files.ts';
import { brokenInvariants, inDatabase } from '../../support/payments-world.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

const live = { BURSAR_MODE: 'live', BURSAR_ALLOW_SIMULATED: 'true', BURSAR_BANK_KEY: 'b'.repeat(32) };
const nobodysIban = germanIban('99999999', 9_999_999_999);

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await world.close();
});

async function aWallet(of: World = world) {
  const owner = await of.owner();
  const wallet = await owner.client(walletsArea).createWallet({ body: { name: 'Rent' } });
  const balance = async (): Promise<number> =>
    (await owner.client(walletsArea).getWalletBalance({ params: { id: wallet.id } })).availableEuros;
  return { owner, id: wallet.id, iban: wallet.iban ?? '', balance };
}

/** As an operator, for an owner where one is named. */
function operator(ownerId?: string, of: World = world) {
  const secret = {
    'X-Dashboard-Secret': of.dashboardSecret,
    ...(ownerId === undefined ? {} : { 'X-Owner-Id': ownerId }),
  };
  const send: Send = (request) => of.as('').send({ ...request, headers: { ...request.headers, ...secret } });
  return createClient(bankFilesArea, send);
}

const send = (xml: string | Uint8Array, of: World = world) => sendBankFile(of, xml);

/** The line with that reference, as operators see it. */
async function entryWith(reference: string, of: World = world) {
  const { data } = await operator(undefined, of).listBankEntries({ query: { limit: 100 } });
  return data.find((entry) => entry.servicerReference === reference);
}

const bookedSince = (): Promise<{ count: number }[]> =>
  world.sql<{ count: number }>('select count(*)::int as count from journals');

describe('credits', () => {
  test('a credit on the account of a wallet is in the wallet, with its event', async () => {
    const { owner, id, iban, balance } = await aWallet();
    const reference = freshReference();
    const answer = await send(notificationOf([{ amount: '77.10', reference, text: 'rent' }], iban));
    expect(answer).toMatchObject({
      status: 200,
      body: { kind: 'notification', lines: 1, credited: 1, suspense: 0, unbooked: 0, already: 0, ignored: 0, moved: 0 },
    });
    expect(await balance()).toBe(77.1);
    const events = await world.sql<{ data: unknown }>(
      `select data from events where owner_id = $1 and name = 'wallet.credited'`,
      [owner.ownerId],
    );
    expect(events).toMatchObject([
      { data: { walletId: id, amountEuros: 77.1, balanceEuros: 77.1, source: 'sepa', fundingId: null } },
    ]);
    expect(await entryWith(reference)).toMatchObject({
      status: 'credited',
      walletId: id,
      amountEuros: 77.1,
      details: null,
    });
  });

  test('a credit on an account that no wallet has goes to suspense, and an operator gives it to a wallet, once', async () => {
    const { owner, id, balance } = await aWallet();
    const reference = freshReference();
    const file = notificationOf([{ amount: '40.00', reference, name: 'Max Payer', text: 'for whom' }], nobodysIban);
    expect(await send(file)).toMatchObject({ body: { credited: 0, suspense: 1 } });
    const entry = await entryWith(reference);
    expect(entry).toMatchObject({
      status: 'suspense',
      why: 'no wallet has this account, and no top-up this reference',
      details: { payerName: 'Max Payer', text: 'for whom' },
    });
    const stored = await world.sql<{ row: string }>('select b::text as row from bank_entries b where id = $1', [
      entry?.id,
    ]);
    expect(stored[0]?.row).not.toContain('Max Payer');
    const assign = (walletId: string, ownerId: string = owner.ownerId) =>
      operator(ownerId).assignBankEntry({
        params: { id: entry?.id ?? '' },
        body: { walletId, reason: 'the payer called' },
      });
    const other = await aWallet();
    await expect(assign(other.id)).rejects.toThrow(/no wallet/);
    const assigned = await assign(id);
    expect(assigned).toMatchObject({ status: 'assigned', walletId: id, details: null });
    expect(await assign(id)).toEqual(assigned);
    await expect(assign(other.id, other.owner.ownerId)).rejects.toThrow(/is assigned/);
    expect(await balance()).toBe(40);
    const suspended = await world.sql<{ sum: number }>(
      `select coalesce(sum(amount_cents), 0)::int as sum from ledger_entries where account like 'suspense:%'
         and journal_id in (select id from journals where reference_id = $1)`,
      [entry?.id],
    );
    expect(suspended).toEqual([{ sum: 0 }]);
    const waiting = await operator().listBankEntries({ query: { status: 'suspense', limit: 100 } });
    expect(waiting.data.map((one) => one.servicerReference)).not.toContain(reference);
  });

  test('a closed wallet gets nothing, and what is credited cannot be assigned', async () => {
    const { owner, id, iban } = await aWallet();
    const open = await aWallet();
    await owner.client(walletsArea).updateWallet({ params: { id }, body: { name: 'Old' } });
    await owner.client(walletsArea).createWallet({ body: { name: 'New', isDefault: true } });
    await owner.client(walletsArea).closeWallet({ params: { id } });
    const [kept, credited] = [freshReference(), freshReference()];
    expect(await send(notificationOf([{ reference: kept }], iban))).toMatchObject({ body: { suspense: 1 } });
    expect(await entryWith(kept)).toMatchObject({ why: 'the wallet with this account is closed' });
    const assign = async (reference: string, walletId: string, ownerId: string) =>
      operator(ownerId).assignBankEntry({
        params: { id: (await entryWith(reference))?.id ?? '' },
        body: { walletId, reason: 'because' },
      });
    await expect(assign(kept, id, owner.ownerId)).rejects.toThrow(/is closed/);
    await send(notificationOf([{ reference: credited }], open.iban));
    await expect(assign(credited, open.id, open.owner.ownerId)).rejects.toThrow(/is credited/);
    const missing = operator(owner.ownerId).assignBankEntry({
      params: { id: 'be_00000000aaaaaaaa' },
      body: { walletId: id, reason: 'because' },
    });
    await expect(missing).rejects.toThrow(/no bank entry/);
  });
});

describe('lines that an operator has to look at', () => {
  test('a debit without a transfer and a reversal move nothing, a return without its payment is in suspense', async () => {
    const { iban } = await aWallet();
    const debit = freshReference();
    const [reversal, returned, nothing] = [freshReference(), freshReference(), freshReference()];
    const [before] = await bookedSince();
    const answer = await send(
      notificationOf(
        [
          { reference: debit, direction: 'DBIT' },
          { reference: reversal, isReversal: true },
          { reference: returned, returnReason: 'AC04', endToEndId: 'TR01KC1V9M3SE7TTW5V1X0H2Q8AB' },
          { reference: nothing, amount: '0.00' },
        ],
        iban,
      ),
    );
    expect(answer).toMatchObject({ body: { credited: 0, suspense: 1, unbooked: 3, ignored: 0 } });
    expect(await bookedSince()).toEqual([{ count: (before?.count ?? 0) + 1 }]);
    expect(await entryWith(debit)).toMatchObject({ status: 'unbooked', direction: 'debit' });
    expect(await entryWith(reversal)).toMatchObject({ direction: 'credit', why: 'it takes back an earlier entry' });
    expect(await entryWith(returned)).toMatchObject({ status: 'suspense', why: 'there is no such transfer' });
    expect(await entryWith(nothing)).toMatchObject({ why: 'it has an amount that no payment has' });
  });

  test('the status of a transfer that there is not is kept; one of another sender is ignored', async () => {
    const file = statusesOf([
      { endToEndId: 'TR01KC1V9M3SE7TTW5V1X0H2Q8AB', status: 'RJCT', reason: 'AC04' },
      { endToEndId: 'SOMEBODYELSE', status: 'ACSP' },
    ]);
    expect(await send(file)).toMatchObject({ body: { kind: 'status_report', unbooked: 1, moved: 0 } });
    expect(await send(file)).toMatchObject({ body: { kind: 'status_report', unbooked: 1, moved: 0 } });
  });
});

describe('files that come twice, late, broken or from elsewhere', () => {
  test('a repeated file gets the same answer, also at the same time, and is booked once', async () => {
    const { iban, balance } = await aWallet();
    const file = notificationOf([{ amount: '10.00' }, { amount: '20.00' }], iban);
    const answers = await Promise.all([send(file), send(file), send(file)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const again = await send(file);
    expect(await send(file)).toEqual(again);
    expect(answers.map(({ body }) => body)).toContainEqual(again.body);
    expect(await balance()).toBe(30);
  });

  test('a file that comes again while it is read is not read again', async () => {
    const { iban, balance } = await aWallet();
    const file = { adapter: 'folder', bytes: new TextEncoder().encode(notificationOf([{ amount: '1.00' }], iban)) };
    const cause = { causeId: 'test', requestId: 'test', actor: { kind: 'network' }, at: new Date() } as const;
    let reads = 0;
    const answers = await inDatabase(world, (database) => {
      const receive = receiveBankFile({
        ...{ database, vault: { seal: async () => '' }, log: { error: () => undefined } as never },
        files: {
          read: (bytes) => {
            reads += 1;
            return isoBankFiles.read(bytes);
          },
        },
        isOwnIban: () => false,
      });
      return Promise.all([receive(file, cause), receive(file, cause), receive(file, cause)]);
    });
    expect(answers.map(({ outcome }) => outcome)).toEqual(['received', 'received', 'received']);
    expect([reads, await balance()]).toEqual([1, 1]);
  });

  test('lines that were in another file are known, in any order', async () => {
    const { iban, balance } = await aWallet();
    const [first, second] = [freshReference(), freshReference()];
    const line = (reference: string) => ({ reference, amount: '1.00' });
    await send(notificationOf([line(first), line(second)], iban));
    const later = await send(notificationOf([line(second), line(freshReference()), line(first)], iban));
    expect(later).toMatchObject({ body: { credited: 1, already: 2 } });
    expect(await balance()).toBe(3);
  });

  test('a known reference with other content moves nothing and waits for an operator, once', async () => {
    const { iban, balance } = await aWallet();
    const reference = freshReference();
    await send(notificationOf([{ reference, amount: '1.00' }], iban));
    const other = { reference, amount: '2.00', name: 'Max Payer' };
    expect(await send(notificationOf([other], iban))).toMatchObject({ body: { credited: 0, unbooked: 1, already: 0 } });
    expect(await send(notificationOf([other], iban))).toMatchObject({ body: { unbooked: 0, already: 1 } });
    expect(await send(notificationOf([{ reference, amount: '1.00', direction: 'DBIT' }], iban))).toMatchObject({
      body: { unbooked: 1 },
    });
    expect(await balance()).toBe(1);
    const { data } = await operator().listBankEntries({ query: { status: 'unbooked', limit: 100 } });
    expect(data.filter((entry) => entry.servicerReference === reference)).toMatchObject([
      { direction: 'debit', amountEuros: 1 },
      {
        amountEuros: 2,
        why: expect.stringMatching(/^the bank gave its reference to another line, be_/),
        details: { payerName: 'Max Payer' },
      },
    ]);
  });

  test('a reference that the bank uses again waits for an operator, who gives it to a wallet, once', async () => {
    const { owner, id, iban, balance } = await aWallet();
    const reference = freshReference();
    const first = { reference, amount: '10.00', endToEndId: 'RENT-1' };
    const answerTo = async (...lines: Parameters<typeof notificationOf>[0]) =>
      (await send(notificationOf(lines, iban))).body;
    expect(await answerTo(first)).toMatchObject({ credited: 1 });
    const others = [
      { ...first, bookedOn: '2026-11-21' },
      { ...first, endToEndId: 'RENT-2' },
      { ...first, payerIban: ourIban },
      { ...first, amount: '20.00' },
    ];
    expect(await answerTo(...others)).toMatchObject({ credited: 0, already: 0, unbooked: 4 });
    // What another file may leave out, or write in another way.
    const same = [
      { ...first, isBare: true },
      { ...first, endToEndId: 'NOTPROVIDED' },
      { ...first, name: 'J. DOE', text: 'rent' },
    ];
    expect(await answerTo(...others, ...same, first)).toMatchObject({ unbooked: 0, already: 8 });
    const { data } = await operator().listBankEntries({ query: { status: 'unbooked', limit: 100 } });
    const waiting = data.filter((entry) => entry.servicerReference === reference);
    expect(waiting.map(({ assignable }) => assignable)).toEqual([true, true, true, true]);
    const largest = waiting.find(({ amountEuros }) => amountEuros === 20);
    const assign = (walletId: string, of = owner) =>
      operator(of.ownerId).assignBankEntry({
        params: { id: largest?.id ?? '' },
        body: { walletId, reason: 'the bank says that it is another payment' },
      });
    const assigned = await assign(id);
    expect(assigned).toMatchObject({ status: 'assigned', walletId: id, assignable: false, details: null });
    expect(await assign(id)).toEqual(assigned);
    const other = await aWallet();
    await expect(assign(other.id, other.owner)).rejects.toThrow(/is assigned/);
    expect(await balance()).toBe(30);
    expect(await answerTo(...others)).toMatchObject({ already: 4 });
  });

  test('what is unbooked because its money is booked elsewhere cannot be assigned', async () => {
    const { owner, id, iban } = await aWallet();
    const reference = freshReference();
    await send(notificationOf([{ reference }], iban));
    expect(await send(notificationOf([{ reference, isReversal: true }], iban))).toMatchObject({
      body: { unbooked: 1 },
    });
    const { data } = await operator().listBankEntries({ query: { status: 'unbooked', limit: 100 } });
    const entry = data.find((one) => one.servicerReference === reference);
    expect(entry).toMatchObject({ assignable: false });
    const assigned = operator(owner.ownerId).assignBankEntry({
      params: { id: entry?.id ?? '' },
      body: { walletId: id, reason: 'because' },
    });
    await expect(assigned).rejects.toThrow(/is unbooked: only what is in suspense/);
  });

  test('twins within one file are one line; with other content the second one waits for an operator', async () => {
    const { iban, balance } = await aWallet();
    const [same, different] = [freshReference(), freshReference()];
    const answer = await send(
      notificationOf(
        [
          { reference: same, amount: '1.00' },
          { reference: different, amount: '2.00' },
          { reference: same, amount: '1.00' },
          { reference: different, amount: '4.00' },
        ],
        iban,
      ),
    );
    expect(answer).toMatchObject({ body: { lines: 4, credited: 2, already: 1, unbooked: 1 } });
    expect(await balance()).toBe(3);
  });

  test('a refusal from within is no mistake of the file: it is to come again', async () => {
    const { iban, balance } = await aWallet();
    const file = { adapter: 'folder', bytes: new TextEncoder().encode(notificationOf([{ amount: '1.00' }], iban)) };
    const cause = { causeId: 'test', requestId: 'test', actor: { kind: 'network' }, at: new Date() } as const;
    const receiving = inDatabase(world, (database) =>
      receiveBankFile({
        database: { ...database, write: () => Promise.reject(new DomainError('invalid_request', 'too large')) },
        ...{ files: isoBankFiles, vault: { seal: async () => '' }, log: { error: () => undefined } as never },
        isOwnIban: () => false,
      })(file, cause),
    );
    await expect(receiving).rejects.toThrow('a line of the file could not be booked');
    expect(await balance()).toBe(0);
  });

  test('another file with a known message id is refused', async () => {
    const { iban, balance } = await aWallet();
    const messageId = freshReference();
    await send(notificationOf([{ amount: '1.00' }], iban, messageId));
    const other = await send(notificationOf([{ amount: '2.00' }], iban, messageId));
    expect(other).toMatchObject({ status: 409, body: { error: expect.stringMatching(/message id/) } });
    expect(await balance()).toBe(1);
  });

  test('a file that is cut off, declares entities, or is wrong in its last line books nothing', async () => {
    const { iban, balance } = await aWallet();
    const file = notificationOf([{ amount: '1.00' }, { amount: '2.00' }], iban);
    const declared = file.replace('?>', '?><!DOCTYPE Document [<!ENTITY a "1.00">]>').replace('>1.00<', '>&a;<');
    const wrong = notificationOf([{ amount: '1.00' }, { amount: '2.00', currency: 'USD' }], iban);
    for (const bad of [
      file.slice(0, -30),
      declared,
      wrong,
      '',
      '{}',
      file.replaceAll('camt.054.001.08', 'camt.054.001.02'),
    ]) {
      const answer = await send(bad);
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^the file /)]);
      expect(answer.body.error).not.toContain(iban);
    }
    expect(await balance()).toBe(0);
  });

  test('entries of another bank’s account, and announced ones, are ignored; an announced one is booked later', async () => {
    const { iban, balance } = await aWallet();
    const reference = freshReference();
    expect(await send(notificationOf([{}, {}], ourIban))).toMatchObject({ body: { ignored: 2, credited: 0 } });
    const announced = notificationOf([{ reference, status: 'PDNG' }], iban);
    expect(await send(announced)).toMatchObject({ body: { ignored: 1 } });
    expect(await balance()).toBe(0);
    expect(await send(notificationOf([{ reference }], iban))).toMatchObject({ body: { credited: 1 } });
    expect(await balance()).toBe(12.5);
  });

  test('a wrong signature is refused before the file is looked at', async () => {
    const { iban, balance } = await aWallet();
    const file = notificationOf([{}], iban);
    const forged = await sendBankFile({ ...world, networkKey: 'another key' }, file);
    expect(forged.status).toBe(401);
    const moved = await fetch(`${world.apiUrl}/network/sepa/files?x=1`, { method: 'POST', body: file });
    expect(moved.status).toBe(401);
    expect(await balance()).toBe(0);
  });
});

describe('top-ups in live mode', () => {
  let deployed: World;
  beforeAll(async () => {
    deployed = await startWorld({ env: live });
  });
  afterAll(async () => {
    expect(await brokenInvariants(deployed)).toEqual([]);
    await deployed.close();
  });

  test('a credit with the reference of a top-up completes it, once; a further one is credited without it', async () => {
    const owner = await deployed.owner();
    const funding = await owner.client(fundArea).fundWallet({ body: { amountEuros: 50 } });
    const creditorReference = funding.bankDetails?.reference ?? '';
    const bank = { apiUrl: deployed.apiUrl, networkKey: live.BURSAR_BANK_KEY };
    const pay = (amount: string) => sendBankFile(bank, notificationOf([{ amount, creditorReference }], nobodysIban));
    expect(await pay('49.00')).toMatchObject({ status: 200, body: { credited: 1 } });
    const get = () => owner.client(fundArea).getFunding({ params: { id: funding.id } });
    expect(await get()).toMatchObject({ status: 'pending' });
    expect(await pay('50.00')).toMatchObject({ body: { credited: 1 } });
    expect(await get()).toMatchObject({ status: 'completed', balanceEuros: 99, simulated: false });
    expect(await pay('50.00')).toMatchObject({ body: { credited: 1 } });
    const { availableEuros } = await owner.client(walletsArea).getWalletBalance({ params: { id: funding.walletId } });
    expect(availableEuros).toBe(149);
    const names = await deployed.sql<{ name: string }>(
      `select name from events where owner_id = $1 and name like 'wallet.%ed'`,
      [owner.ownerId],
    );
    expect(names.filter(({ name }) => name === 'wallet.funded')).toHaveLength(1);
    expect(names.filter(({ name }) => name === 'wallet.credited')).toHaveLength(3);
  });

  test('a line that stands twice in a file completes its top-up', async () => {
    const owner = await deployed.owner();
    const funding = await owner.client(fundArea).fundWallet({ body: { amountEuros: 50 } });
    const creditorReference = funding.bankDetails?.reference ?? '';
    const line = { amount: '50.00', creditorReference, reference: freshReference() };
    const bank = { apiUrl: deployed.apiUrl, networkKey: live.BURSAR_BANK_KEY };
    const answer = await sendBankFile(bank, notificationOf([line, line], nobodysIban));
    expect(answer).toMatchObject({ body: { credited: 1, already: 1 } });
    expect(await owner.client(fundArea).getFunding({ params: { id: funding.id } })).toMatchObject({
      status: 'completed',
      balanceEuros: 50,
    });
  });

  test('the key of the sandbox’s network signs nothing', async () => {
    expect((await send(notificationOf([{}], nobodysIban), deployed)).status).toBe(401);
  });
});

describe('a body', () => {
  const mebibyte = 1024 * 1024;
  /** Of that size, and valid: spaces between the entries say nothing. */
  const padded = (xml: string, bytes: number) => xml.replace('</GrpHdr>', `</GrpHdr>${' '.repeat(bytes)}`);

  /** Its headers have arrived; its body never does. */
  async function withoutBody(headers: Readonly<Record<string, string | number>>) {
    const url = `${world.apiUrl}/network/sepa/files`;
    const request: ClientRequest = openRequest(url, { method: 'POST', headers });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      request.once('error', reject);
    });
    answered.catch(() => undefined); // Where the test ends it.
    request.flushHeaders();
    return { request, answered };
  }

  test('without a bank’s signature is not waited for', async () => {
    const right = digestHeaders(world, 'x');
    const unsigned = [
      {},
      { 'X-Network-Signature': 't=1,v1=00' },
      { ...right, 'Content-Digest': digestHeaders(world, 'y')['Content-Digest'] },
      digestHeaders({ networkKey: 'c'.repeat(64) }, 'x'),
      digestHeaders(world, 'x', '/network/clearings'),
    ];
    for (const headers of unsigned) {
      const { request, answered } = await withoutBody({ ...headers, 'Content-Length': 16 * mebibyte });
      expect((await answered).statusCode).toBe(401);
      request.destroy();
    }
  });

  test('of more than 1 MiB is taken where its digest is signed, and only that body', async () => {
    const { iban } = await aWallet();
    const large = padded(notificationOf([{}], iban), mebibyte);
    const byBody = await sendBankFile(world, large, { 'X-Network-Signature': bankSignature(world, large) });
    expect(byBody).toMatchObject({ status: 413, body: { error: expect.stringMatching(/sign a larger file.*digest/) } });
    const signed = digestHeaders(world, large);
    expect(await sendBankFile(world, large.replace('CRDT', 'DBIT'), signed)).toMatchObject({ status: 401 });
    expect(await sendBankFile(world, large, signed)).toMatchObject({ status: 200, body: { credited: 1 } });
    const tooLarge = padded(large, 16 * mebibyte);
    expect(await sendBankFile(world, tooLarge, digestHeaders(world, tooLarge))).toMatchObject({ status: 413 });
    const small = notificationOf([{}], iban);
    expect(await sendBankFile(world, small, digestHeaders(world, small))).toMatchObject({ body: { credited: 1 } });
  });

  test('that is the fifth large one at once has to come again; small ones are still taken', async () => {
    const { iban } = await aWallet();
    const large = padded(notificationOf([{}], iban), mebibyte);
    const file = { ...digestHeaders(world, large), 'Content-Length': Buffer.byteLength(large) };
    const { 'Content-Length': _length, ...signed } = file;
    // One of them does not say how large it is.
    const held = [file, file, file, file, { ...signed, 'Transfer-Encoding': 'chunked' }];
    const open = await Promise.all(held.map(withoutBody));
    const refused = await Promise.race(open.map(({ answered }) => answered));
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5']);
    expect(await sendBankFile(world, large, signed)).toMatchObject({
      status: 503,
      body: { error: expect.stringMatching(/^4 files of more than 1048576 bytes/) },
    });
    const small = notificationOf([{}], iban);
    expect(await sendBankFile(world, small, digestHeaders(world, small))).toMatchObject({ status: 200 });
    expect(await sendBankFile(world, notificationOf([{}], iban))).toMatchObject({ status: 200 });
    for (const { request } of open) request.destroy();
    const taken = await eventually(
      () => sendBankFile(world, large, signed),
      ({ status }) => status === 200,
    );
    expect(taken.body).toMatchObject({ lines: 1 });
  });
});
