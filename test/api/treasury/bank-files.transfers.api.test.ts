/** What a bank's files say of transfers, over HTTP. @module */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient } from '../../../src/client/client.ts';
import { bankFilesArea } from '../../../src/domains/treasury/bank-files/bank-file.contract.ts';
import { wallet } from '../../../src/domains/treasury/ledger/account.rules.ts';
import { endToEndIdOf, transferIdOf } from '../../../src/domains/treasury/sepa/end-to-end-id.rules.ts';
import { createBankTransfer } from '../../../src/domains/treasury/transfers/bank-transfer.create.service.ts';
import { lockBankTransfer } from '../../../src/domains/treasury/transfers/bank-transfer.queries.ts';
import { inStage, saveSteps } from '../../../src/domains/treasury/transfers/bank-transfer.service.ts';
import { transfersArea } from '../../../src/domains/treasury/transfers/transfer.contract.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { type Id, newId } from '../../../src/kernel/ids.ts';
import { cents } from '../../../src/kernel/money.ts';
import { bankFolderMark } from '../../../src/main/bank-folder-mark.ts';
import { freshReference, notificationOf, sendBankFile, statusesOf } from '../../support/bank-files.ts';
import { eventNamesOf } from '../../support/events.ts';
import { aBeneficiary } from '../../support/factories/beneficiaries.ts';
import { inDatabase } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

const heardInParts = new URL('../../../src/db/migrations/1000-entries-heard-in-parts.sql', import.meta.url);

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

test('a debit settles a transfer, a status rejects one, and a return brings the money back: each once', async () => {
  const owner = await world.owner();
  const wallets = owner.client(walletsArea);
  const { id, iban: given } = await wallets.createWallet({ body: { name: 'Rent' } });
  const iban = given ?? '';
  const balance = async () => (await wallets.getWalletBalance({ params: { id } })).availableEuros;
  const send = (xml: string) => sendBankFile(world, xml);
  await send(notificationOf([{ amount: '100.00' }], iban));
  const { id: beneficiaryId } = await aBeneficiary(owner, {});
  const sent = () => sentTransfer({ ownerId: owner.ownerId, walletId: id, iban, beneficiaryId });
  const [paid, rejected] = [await sent(), await sent()];
  expect(await balance()).toBe(75);
  const [left, back] = [freshReference(), freshReference()];
  const settled = notificationOf([{ direction: 'DBIT', reference: left, endToEndId: paid }], iban);
  expect(await send(settled)).toMatchObject({ body: { moved: 1, unbooked: 0 } });
  const statuses = [
    { endToEndId: paid, status: 'ACSP' },
    { endToEndId: rejected, status: 'ACSP' },
    { endToEndId: rejected, status: 'RJCT', reason: 'AC04' },
  ];
  expect(await send(statusesOf(statuses))).toMatchObject({ body: { moved: 2, already: 1 } });
  expect(await balance()).toBe(87.5);
  const returned = { reference: back, endToEndId: paid, returnReason: 'MD07' };
  expect(await send(notificationOf([returned], iban))).toMatchObject({ body: { moved: 1, suspense: 0 } });
  expect(await balance()).toBe(100);
  const again = { ...returned, reference: freshReference() };
  const lines = [returned, again, { ...again, amount: '9.00' }, { ...returned, amount: '9.00' }];
  const repeated = await send(notificationOf(lines, iban));
  expect(repeated).toMatchObject({ body: { moved: 0, already: 1, suspense: 1, unbooked: 2 } });
  expect(await balance()).toBe(100);
});

test('a transfer is debited once: a second debit waits for an operator, also where a report had settled it', async () => {
  const owner = await world.owner();
  const { id, iban: given } = await owner.client(walletsArea).createWallet({ body: { name: 'Rent' } });
  const iban = given ?? '';
  const send = async (...lines: Parameters<typeof notificationOf>[0]) =>
    (await sendBankFile(world, notificationOf(lines, iban))).body;
  await send({ amount: '100.00' });
  const { id: beneficiaryId } = await aBeneficiary(owner, {});
  const sent = () => sentTransfer({ ownerId: owner.ownerId, walletId: id, iban, beneficiaryId });
  const debitOf = (endToEndId: string) => ({ direction: 'DBIT', endToEndId, reference: freshReference() }) as const;
  const [reported, together] = [await sent(), await sent()];
  await sendBankFile(world, statusesOf([{ endToEndId: reported, status: 'ACSC' }]));
  const first = debitOf(reported);
  expect(await send(first)).toMatchObject({ moved: 0, already: 1, unbooked: 0 });
  expect(await send(first)).toMatchObject({ already: 1, unbooked: 0 });
  expect(await send(debitOf(reported))).toMatchObject({ already: 0, unbooked: 1 });
  expect(await send(debitOf(together), debitOf(together))).toMatchObject({ moved: 1, already: 0, unbooked: 1 });
  const entries = await world.sql<{ why: string }>(
    `select why from bank_entries where account_iban = $1 and status = 'unbooked'`,
    [iban],
  );
  const why = 'another entry has debited the account for this transfer before';
  expect(entries.map((entry) => entry.why)).toEqual([why, why]);
});

test('a transfer that ends before the bank is asked to get its money back asks no more', async () => {
  const owner = await world.owner();
  const { id, iban: given } = await owner.client(walletsArea).createWallet({ body: { name: 'Rent' } });
  const iban = given ?? '';
  await sendBankFile(world, notificationOf([{ amount: '100.00' }], iban));
  const { id: beneficiaryId } = await aBeneficiary(owner, {});
  const transfers = owner.client(transfersArea);
  const recalled = async () => {
    const endToEndId = await sentTransfer({ ownerId: owner.ownerId, walletId: id, iban, beneficiaryId });
    const params = { id: transferIdOf(endToEndId) ?? '' };
    expect(await transfers.cancelTransfer({ params })).toMatchObject({ recall: 'asking' });
    return { endToEndId, read: () => transfers.getTransfer({ params }) };
  };
  const [rejected, returned, back] = [await recalled(), await recalled(), await recalled()];
  await sendBankFile(world, statusesOf([{ endToEndId: rejected.endToEndId, status: 'RJCT', reason: 'AC04' }]));
  const lines = [returned, back].flatMap(({ endToEndId }) => [
    { direction: 'DBIT', reference: freshReference(), endToEndId } as const,
    { reference: freshReference(), endToEndId, returnReason: endToEndId === back.endToEndId ? 'FOCR' : 'MD07' },
  ]);
  await sendBankFile(world, notificationOf(lines, iban));
  expect(await rejected.read()).toMatchObject({ status: 'failed', recall: 'ended' });
  expect(await returned.read()).toMatchObject({ status: 'returned', recall: 'ended' });
  expect(await back.read()).toMatchObject({ status: 'returned', recall: 'requested' });
});

test('what comes back of a payment that was never booked is given to nobody, in whichever order both arrive', async () => {
  const owner = await world.owner();
  const { id, iban: given } = await owner.client(walletsArea).createWallet({ body: { name: 'Rent' } });
  const iban = given ?? '';
  const send = (...lines: Parameters<typeof notificationOf>[0]) => sendBankFile(world, notificationOf(lines, iban));
  const entryOf = async (reference: string) => {
    const [found] = await world.sql<{ id: string; status: string; why: string }>(
      'select id, status, why from bank_entries where servicer_reference = $1',
      [reference],
    );
    return found;
  };
  const debitOf = (endToEndId: string) => ({ direction: 'DBIT', endToEndId }) as const;
  const returnOf = (endToEndId: string) => ({ reference: freshReference(), endToEndId, returnReason: 'MD07' });
  const ids = [endToEndIdOf(newId('transfer')), 'RENT 11'];
  for (const endToEndId of ids) {
    const [together, later] = [returnOf(endToEndId), returnOf(endToEndId)];
    expect(await send(together, debitOf(endToEndId))).toMatchObject({ body: { suspense: 0, unbooked: 2 } });
    expect(await send(later)).toMatchObject({ body: { suspense: 0, unbooked: 1 } });
    expect((await entryOf(later.reference))?.why).toMatch(/; its payment is not booked either$/);

    const other = endToEndId.replace(/.$/, '2');
    const early = returnOf(other);
    expect(await send(early)).toMatchObject({ body: { suspense: 1 } });
    expect(await send(debitOf(other))).toMatchObject({ body: { unbooked: 1 } });
    const headers = { 'X-Dashboard-Secret': world.dashboardSecret, 'X-Owner-Id': owner.ownerId };
    const operator = createClient(bankFilesArea, (request) =>
      world.as('').send({ ...request, headers: { ...request.headers, ...headers } }),
    );
    const assigned = operator.assignBankEntry({
      params: { id: (await entryOf(early.reference))?.id ?? '' },
      body: { walletId: id, reason: 'because' },
    });
    await expect(assigned).rejects.toThrow(/gives back what bank entry be_\w+ took, which is not booked/);
  }
});

describe('a line that one file tells with its details and another one without', () => {
  async function payer() {
    const owner = await world.owner();
    const { id, iban } = await owner.client(walletsArea).createWallet({ body: { name: 'Rent' } });
    const send = async (...lines: Parameters<typeof notificationOf>[0]) =>
      (await sendBankFile(world, notificationOf(lines, iban ?? ''))).body;
    await send({ amount: '100.00' });
    const { id: beneficiaryId } = await aBeneficiary(owner, {});
    const settled = async () => {
      const endToEndId = await sentTransfer({ ownerId: owner.ownerId, walletId: id, iban: iban ?? '', beneficiaryId });
      await send({ direction: 'DBIT', endToEndId });
      return endToEndId;
    };
    const balance = async () => (await owner.client(walletsArea).getWalletBalance({ params: { id } })).availableEuros;
    const waiting = (reference: string) =>
      world.sql<{ status: string; why: string; assignable: boolean }>(
        'select status, why, assignable from bank_entries where servicer_reference = $1 order by created_at, id',
        [reference],
      );
    /** By an operator, to the wallet. */
    const assign = async (reference: string) => {
      const found = await world.sql<{ id: string }>(
        `select id from bank_entries where servicer_reference = $1 and status = 'unbooked'`,
        [reference],
      );
      const headers = { 'X-Dashboard-Secret': world.dashboardSecret, 'X-Owner-Id': owner.ownerId };
      const operator = createClient(bankFilesArea, (request) =>
        world.as('').send({ ...request, headers: { ...request.headers, ...headers } }),
      );
      const body = { walletId: id, reason: 'the bank says that it is another payment' };
      return operator.assignBankEntry({ params: { id: found[0]?.id ?? '' }, body });
    };
    return { send, settled, balance, waiting, assign };
  }

  test('is no return any more once it is income', async () => {
    const { send, settled, balance, waiting } = await payer();
    const endToEndId = await settled();
    const reference = freshReference();
    expect(await send({ reference, isBare: true })).toMatchObject({ credited: 1 });
    const withDetails = { reference, endToEndId, returnReason: 'MD07' };
    expect(await send(withDetails)).toMatchObject({ moved: 0, unbooked: 1 });
    expect(await send(withDetails, {})).toMatchObject({ moved: 0, unbooked: 0, already: 1 });
    expect(await balance()).toBe(112.5);
    expect(await waiting(reference)).toMatchObject([
      { status: 'credited' },
      { status: 'unbooked', why: expect.stringMatching(/^its reference is booked: bank entry be_/) },
    ]);
  });

  test('is no income any more once it is a return', async () => {
    const { send, settled, balance, waiting } = await payer();
    const endToEndId = await settled();
    const reference = freshReference();
    expect(await send({ reference, endToEndId, returnReason: 'MD07' })).toMatchObject({ moved: 1 });
    expect(await send({ reference, isBare: true })).toMatchObject({ credited: 0, suspense: 0, unbooked: 1 });
    expect(await send({ reference, isBare: true }, {})).toMatchObject({ credited: 1, already: 1 });
    expect(await balance()).toBe(112.5);
    expect(await waiting(reference)).toMatchObject([
      { status: 'unbooked', why: expect.stringMatching(/^its reference is booked: transfer tr_/) },
    ]);
  });

  test('is a repetition of the return also where its reference has been used again for income', async () => {
    const { send, settled, balance, assign } = await payer();
    const endToEndId = await settled();
    const reference = freshReference();
    const returned = { reference, endToEndId, returnReason: 'MD07' };
    expect(await send(returned)).toMatchObject({ moved: 1 });
    expect(await send({ reference, amount: '20.00' })).toMatchObject({ credited: 0, unbooked: 1 });
    expect(await assign(reference)).toMatchObject({ status: 'assigned', amountEuros: 20 });
    expect(await balance()).toBe(120);
    expect(await send(returned, {})).toMatchObject({ already: 1, credited: 1, unbooked: 0 });
    expect(await balance()).toBe(132.5);
  });

  test('is booked once where one file has the entry and another its payments', async () => {
    const { send, settled, balance, waiting } = await payer();
    const [first, second] = [await settled(), await settled()];
    const [whole, inParts] = [freshReference(), freshReference()];
    const payments = [1, 2].map(() => ({ amount: '12.50', endToEndId: 'NOTPROVIDED' }));
    const batch = (reference: string) => ({ reference, amount: '25.00', payments });
    const bare = (reference: string) => ({ reference, amount: '25.00', isBare: true });
    expect(await send(bare(whole))).toMatchObject({ credited: 1 });
    expect(await send(batch(whole))).toMatchObject({ credited: 0, unbooked: 2 });
    expect(await send(batch(inParts))).toMatchObject({ credited: 2 });
    expect(await send(bare(inParts))).toMatchObject({ credited: 0, unbooked: 1 });
    expect(await balance()).toBe(125);
    expect(await waiting(`${whole}/1`)).toMatchObject([
      { status: 'unbooked', why: expect.stringMatching(/^its entry is booked as a whole: bank entry be_/) },
    ]);
    expect(await waiting(inParts)).toMatchObject([
      {
        status: 'unbooked',
        why: expect.stringMatching(/^the payments of the entry are known separately: bank entry/),
      },
    ]);

    const ofTransfers = [first, second].map((endToEndId, index) => ({
      ...{ amount: '12.50', endToEndId, reference: `${inParts}-${index}` },
    }));
    const returned = { ...bare(freshReference()), isBare: false, returnReason: 'MD07', payments: ofTransfers };
    expect(await send(returned)).toMatchObject({ moved: 2 });
    expect(await send({ ...returned, isBare: true })).toMatchObject({ credited: 0, unbooked: 1 });
    expect(await balance()).toBe(150);

    // Payments without references of their own, heard by a version that did not note their entry.
    const [third, fourth] = [await settled(), await settled()];
    const unnamed = [third, fourth].map((endToEndId) => ({ amount: '12.50', endToEndId }));
    const earlier = { ...returned, reference: freshReference(), payments: unnamed };
    expect(await send(earlier)).toMatchObject({ moved: 2 });
    await world.sql(`delete from transitions where noun = 'transfer_entry' and cause_id = $1`, [
      `bank:entry/credit/${earlier.reference}`,
    ]);
    for (let time = 0; time < 2; time++) await world.sql(await readFile(heardInParts, 'utf8'));
    expect(await send({ ...earlier, isBare: true })).toMatchObject({ credited: 0, unbooked: 1 });
    expect(await balance()).toBe(150);
  });

  test('is assigned as a whole only while its payments are not booked, which may come after it', async () => {
    const { send, balance, waiting, assign } = await payer();
    const [reference, late] = [freshReference(), freshReference()];
    const payments = [freshReference(), late].map((own) => ({
      ...{ amount: '12.50', endToEndId: 'NOTPROVIDED', reference: own },
    }));
    expect(await send({ reference, amount: '25.00', payments })).toMatchObject({ credited: 2 });
    // The whole comes between the commits of two parts of a file, when the later one is not known yet.
    const entryOfLate = (entry: string | null) =>
      world.sql('update bank_entries set entry_reference = $1 where servicer_reference = $2', [entry, late]);
    await entryOfLate(null);
    expect(await send({ reference, amount: '25.00', isBare: true })).toMatchObject({ credited: 0, unbooked: 1 });
    expect(await waiting(reference)).toMatchObject([{ status: 'unbooked', assignable: true }]);
    await entryOfLate(reference);
    await expect(assign(reference)).rejects.toMatchObject({
      ...{ status: 400, message: expect.stringMatching(/cannot be assigned: the payments of the entry are known sep/) },
    });
    expect(await balance()).toBe(125);
  });

  test('has payments that the bank gave one reference: each is booked, once', async () => {
    const { send, balance, waiting } = await payer();
    const shared = freshReference();
    const payments = [1, 2].map(() => ({ amount: '12.50', endToEndId: 'NOTPROVIDED', reference: shared }));
    const batch = { reference: null, amount: '25.00', payments };
    expect(await send(batch)).toMatchObject({ credited: 2, already: 0, unbooked: 0 });
    expect(await send(batch)).toMatchObject({ credited: 0, already: 2, unbooked: 0 });
    expect(await send({ ...batch, reference: shared })).toMatchObject({ credited: 0, already: 2, unbooked: 0 });
    expect(await send({ reference: shared, amount: '25.00', isBare: true })).toMatchObject({
      credited: 0,
      unbooked: 1,
    });
    expect(await waiting(shared)).toMatchObject([{ assignable: false }]);
    expect(await balance()).toBe(125);
  });

  test('with a slash in the bank’s own reference is no payment of another entry', async () => {
    const { send, balance, waiting, assign } = await payer();
    const own = freshReference();
    for (const reference of [`${own}/1`, own, `${own}/2`])
      expect(await send({ reference, amount: '12.50' })).toMatchObject({ credited: 1, unbooked: 0 });
    expect(await balance()).toBe(137.5);

    // A version before took such references for those of payments.
    const taken = freshReference();
    for (const reference of [`${taken}/1`, `${taken}/2`])
      expect(await send({ reference, amount: '12.50' })).toMatchObject({ credited: 1 });
    await world.sql('update bank_entries set entry_reference = $1 where servicer_reference like $2', [
      ...[taken, `${taken}/%`],
    ]);
    expect(await send({ reference: taken, amount: '25.00' })).toMatchObject({ credited: 0, unbooked: 1 });
    expect(await waiting(taken)).toMatchObject([{ assignable: false }]);
    const other = freshReference();
    expect(await send({ reference: `${other}/1`, amount: '12.50' })).toMatchObject({ credited: 1 });
    await world.sql('update bank_entries set entry_reference = $1 where servicer_reference like $2', [
      ...[other, `${other}/%`],
    ]);
    expect(await send({ reference: other, amount: '30.00' })).toMatchObject({ credited: 0, unbooked: 1 });
    expect(await waiting(other)).toMatchObject([{ assignable: true }]);
    expect(await assign(other)).toMatchObject({ status: 'assigned', amountEuros: 30 });
    expect(await balance()).toBe(205);
  });

  test('whose payments moved nothing is not booked as a whole', async () => {
    const { send, balance, waiting } = await payer();
    const reference = freshReference();
    const endToEndId = freshReference();
    expect(await send({ direction: 'DBIT', amount: '5.00', endToEndId })).toMatchObject({ unbooked: 1 });
    const payments = [
      { amount: '5.00', endToEndId },
      { amount: '5.00', endToEndId },
    ];
    const returned = { reference, amount: '10.00', returnReason: 'MD07', payments };
    expect(await send(returned)).toMatchObject({ credited: 0, suspense: 0, unbooked: 2 });
    expect(await send({ ...returned, isBare: true })).toMatchObject({ credited: 0, suspense: 0, unbooked: 1 });
    expect(await waiting(reference)).toMatchObject([{ assignable: false }]);
    expect(await balance()).toBe(100);
  });

  test('is booked once when both files arrive at the same time', async () => {
    const { send, settled, balance } = await payer();
    const ids = [await settled(), await settled(), await settled()];
    const lines = ids.map((endToEndId) => ({ reference: freshReference(), endToEndId, returnReason: 'MD07' }));
    const files = lines.flatMap((line) => [send(line), send({ reference: line.reference, isBare: true })]);
    const answers = await Promise.all(files);
    const sum = (name: string) => answers.reduce((total, answer) => total + answer[name], 0);
    expect([sum('moved') + sum('credited'), sum('unbooked')]).toEqual([3, 3]);
    expect(await balance()).toBe(100);
  });
});

test('a split is completed by the debit of its last line, and only partly when a line comes back', async () => {
  const owner = await world.owner();
  const { id: fromWalletId, iban } = await owner.client(walletsArea).createWallet({ body: { name: 'Salaries' } });
  const send = async (line: Parameters<typeof notificationOf>[0][number]) =>
    (await sendBankFile(world, notificationOf([line], iban ?? ''))).body;
  await send({ amount: '100.00' });
  const { id: beneficiaryId } = await aBeneficiary(owner, {});
  const transfers = owner.client(transfersArea);
  const line = { beneficiaryId: beneficiaryId as Id<'beneficiary'>, amountEuros: 12.5 };
  const { id: splitId, transfers: lines } = await transfers.createTransferSplit({
    body: { fromWalletId, splits: [line, line] },
  });
  for (const { id } of lines) await markSending(id as Id<'transfer'>);
  const status = async () => (await transfers.getTransferSplit({ params: { splitId } })).status;
  const [first = '', second = ''] = lines.map(({ id }) => endToEndIdOf(id as Id<'transfer'>));
  expect(await send({ direction: 'DBIT', endToEndId: first })).toMatchObject({ moved: 1 });
  expect(await status()).toBe('pending');
  expect(await send({ direction: 'DBIT', endToEndId: second })).toMatchObject({ moved: 1 });
  expect(await status()).toBe('completed');
  expect(await send({ endToEndId: first, returnReason: 'MD07' })).toMatchObject({ moved: 1 });
  expect(await status()).toBe('partially_completed');
  expect(await eventNamesOf(world, splitId)).toEqual([
    'transfer.split.created',
    'transfer.split.completed',
    'transfer.split.updated',
  ]);
});

test('a folder without a mark has to hold what the bank may have, without what may be on its way right now', async () => {
  const owner = await world.owner();
  const { id: walletId, iban } = await owner.client(walletsArea).createWallet({ body: { name: 'Rent' } });
  const payer = { ownerId: owner.ownerId, walletId, iban: iban ?? '' };
  await sendBankFile(world, notificationOf([{ amount: '100.00' }], payer.iban));
  const { id: beneficiaryId } = await aBeneficiary(owner, {});
  const sent = () => sentTransfer({ ...payer, beneficiaryId });
  const [unclear, taken, rejected, justNow] = [await sent(), await sent(), await sent(), await sent()];
  const statuses = [
    { endToEndId: taken, status: 'ACSP' },
    { endToEndId: rejected, status: 'RJCT', reason: 'AC04' },
  ];
  await sendBankFile(world, statusesOf(statuses));
  await world.sql(`update transfers set send_until = now() + interval '1 h' where id = $1`, [transferIdOf(justNow)]);
  const open = await inDatabase(world, (database) => bankFolderMark(database).open());
  const ours = open.filter(({ endToEndId }) => [unclear, taken, rejected, justNow].includes(endToEndId));
  expect(new Set(ours)).toEqual(
    new Set([
      { endToEndId: unclear, isTaken: false },
      { endToEndId: taken, isTaken: true },
    ]),
  );
});

/** As the bank has it: its end-to-end id. */
async function sentTransfer(payer: {
  ownerId: string;
  walletId: string;
  iban: string;
  beneficiaryId: string;
}): Promise<string> {
  const id = newId('transfer');
  const at = new Date();
  const cause = { causeId: id, requestId: 'test', actor: { kind: 'system' }, at } as const;
  const { walletId, iban } = payer;
  await inDatabase(world, (database) =>
    database.write(async (tx) => {
      await createBankTransfer(tx, cause, {
        ...{ id, journalId: newId('journal'), ownerId: payer.ownerId as Id<'owner'>, agentId: null },
        source: wallet(walletId),
        payer: { walletId: walletId as Id<'wallet'>, iban },
        payee: { beneficiaryId: payer.beneficiaryId as Id<'beneficiary'>, name: 'Erika Muster', ibanMasked: 'DE00' },
        ...{ amountCents: cents(12_50), scheme: 'instant', reference: undefined, remittance: null },
        ...{ memo: undefined, metadata: undefined, approvalRule: null },
      });
    }),
  );
  await markSending(id);
  return endToEndIdOf(id);
}

/** As the worker leaves it that asks the bank. */
async function markSending(id: Id<'transfer'>): Promise<void> {
  const at = new Date();
  const cause = { causeId: 'mark', requestId: 'test', actor: { kind: 'system' }, at } as const;
  await inDatabase(world, (database) =>
    database.write(async (tx) => {
      const before = await lockBankTransfer(tx, id);
      const after = inStage(before, 'sending', at, { sendingCause: 'test', sendUntil: at });
      await saveSteps(tx, [{ before, after, cause }]);
    }),
  );
}
