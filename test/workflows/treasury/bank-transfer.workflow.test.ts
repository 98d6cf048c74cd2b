/** Transfers to bank accounts on a whole installation: settled, rejected, returned, decided by people, recalled. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { approvalsArea } from '../../../src/domains/identity/approvals/approval.contract.ts';
import { beneficiariesArea } from '../../../src/domains/treasury/beneficiaries/beneficiary.contract.ts';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { ledgerArea } from '../../../src/domains/treasury/ledger/ledger.contract.ts';
import { inBerlin, instantInBerlin } from '../../../src/domains/treasury/sepa/banking-day.rules.ts';
import { endToEndIdOf } from '../../../src/domains/treasury/sepa/end-to-end-id.rules.ts';
import { businessDayFrom, businessDaysAfter } from '../../../src/domains/treasury/sepa/target-calendar.rules.ts';
import { transfersArea } from '../../../src/domains/treasury/transfers/transfer.contract.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import type { CalendarDate } from '../../../src/kernel/calendar-date.ts';
import type { Id } from '../../../src/kernel/ids.ts';
import { hour } from '../../../src/kernel/instant.ts';
import { notificationOf, sendBankFile } from '../../support/bank-files.ts';
import { aBeneficiary, anIban } from '../../support/factories/beneficiaries.ts';
import { aPasskey } from '../../support/factories/passkeys.ts';
import { aPayer } from '../../support/payments-world.ts';
import { businessNow, eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
let walletId: string;
beforeAll(async () => {
  world = await startWorld({ worker: true });
});
beforeEach(async () => {
  owner = await world.owner();
  walletId = (await owner.client(fundArea).fundWallet({ body: { amountEuros: 100 } })).walletId;
});
afterAll(() => world.close());

const transfers = () => owner.client(transfersArea);
const transfer = (id: string) => transfers().getTransfer({ params: { id } });
const reaches = (id: string, status: string) =>
  eventually(
    () => transfer(id),
    (row) => row.status === status,
  );
const pay = (name: string, more: object = {}) =>
  transfers().createTransfer({ body: { to: { name, iban: anIban() }, amountEuros: 10, ...more } });
const balance = async () => {
  const rows = await world.sql<{ part: string; cents: number }>(
    `select split_part(name, ':', 3) as part, balance_cents::int as cents from ledger_accounts where name like $1`,
    [`wallet:${walletId}:%`],
  );
  const euros = (part: string) => (rows.find((row) => row.part === part)?.cents ?? 0) / 100;
  return { balanceEuros: euros('available'), heldEuros: euros('held') };
};
const verified = async () =>
  expect(await owner.client(ledgerArea).verifyLedger({ query: { full: 'true' } })).toMatchObject({
    balanced: true,
    differences: [],
  });

describe('a transfer to a bank account', () => {
  test('is held, sent once and settled; the reference is written in the characters of SEPA', async () => {
    const made = await pay('Müller & Söhne', { reference: 'Rechnung № 7 für Anna' });
    expect(made).toMatchObject({ type: 'sepa', scheme: 'instant', payeeName: 'Muller + Sohne', toWalletId: null });
    expect(made.sepaReference).toMatch(/^[A-Za-z0-9/?:().,'+ -]+$/);
    expect(await reaches(made.id, 'completed')).toMatchObject({ payeeCheck: 'match', failureReason: null });
    expect(await balance()).toEqual({ balanceEuros: 90, heldEuros: 0 });
    await verified();
  });

  test('is rejected by the bank, and its money is back', async () => {
    const { id } = await pay('Erika Muster', { reference: 'FAIL' });
    expect(await reaches(id, 'failed')).toMatchObject({
      failureReason: 'rejected:AC04',
      failureText: 'AC04: the account of the payee is closed',
      completedAt: null,
    });
    expect(await balance()).toEqual({ balanceEuros: 100, heldEuros: 0 });
    await verified();
  });

  test('waits for a person after a near match, and is sent once it is approved', async () => {
    const { id } = await pay('Erika Muster CLOSE');
    const waiting = await reaches(id, 'pending_approval');
    expect(waiting).toMatchObject({ payeeCheck: 'close_match', approvalUrl: expect.stringContaining('/approve/') });
    await transfers().approveTransfer({ params: { id }, body: {} });
    expect(await reaches(id, 'completed')).toMatchObject({
      decidedBy: expect.stringMatching(/^key:/),
      approvalUrl: null,
    });
    await transfers().approveTransfer({ params: { id }, body: {} });
    await verified();
  });

  test('comes back on the next business day, after it was completed', async () => {
    const { id } = await pay('Erika Muster', { reference: 'RETURN' });
    await reaches(id, 'completed');
    const today = inBerlin(await businessNow(world)).date;
    const booking = instantInBerlin(businessDaysAfter(today, 1), '08:00');
    expect(await balance()).toEqual({ balanceEuros: 90, heldEuros: 0 });
    await world.advance(booking.getTime() - (await businessNow(world)).getTime() + 1_000);
    expect(await reaches(id, 'returned')).toMatchObject({
      failureReason: 'returned:MD07',
      failureText: 'MD07: the payee has died',
      completedAt: expect.any(String),
    });
    expect(await balance()).toEqual({ balanceEuros: 100, heldEuros: 0 });
    const told = await world.sql<{ name: string }>(
      `select name from events where subject_id = $1 or data ->> 'transferId' = $1 order by name`,
      [id],
    );
    const once = ['transfer.completed', 'transfer.created', 'transfer.failed', 'wallet.credited'];
    expect(told.map(({ name }) => name).filter((name) => name !== 'transfer.updated')).toEqual(once);
    await verified();
  });

  test('that is cancelled is not settled by a debit of the bank: an operator looks at it', async () => {
    const { id } = await pay('Anna CLOSE');
    await reaches(id, 'pending_approval');
    await transfers().cancelTransfer({ params: { id }, body: {} });
    const { iban } = await owner.client(walletsArea).getWallet({ params: { id: walletId } });
    const line = { direction: 'DBIT', amount: '10.00', endToEndId: endToEndIdOf(id as Id<'transfer'>) } as const;
    const answer = await sendBankFile(world, notificationOf([line], iban ?? ''));
    expect(answer).toMatchObject({ status: 200, body: { moved: 0, unbooked: 1 } });
    expect(await transfer(id)).toMatchObject({ status: 'cancelled', completedAt: null });
    expect(await balance()).toEqual({ balanceEuros: 100, heldEuros: 0 });
    await verified();
  });

  test('takes one of two approvals at once, and is sent once', async () => {
    const { id } = await pay('Anna NOMATCH');
    await reaches(id, 'pending_approval');
    const approvals = [1, 2].map(() => transfers().approveTransfer({ params: { id }, body: {} }));
    for (const answer of await Promise.all(approvals))
      expect(answer).toMatchObject({ id, decidedBy: expect.stringMatching(/^key:/) });
    await reaches(id, 'completed');
    const approved = await world.sql(
      `select 1 from transitions where noun = 'transfer' and row_id = $1 and to_status = any('{approved,sending}')`,
      [id],
    );
    expect(approved).toHaveLength(2);
    await verified();
  });

  test('is decided on the approver’s page', async () => {
    const passkey = await aPasskey(world, owner);
    const approver = world.as('').client(approvalsArea);
    const [approved, denied] = [await pay('Anna CLOSE'), await pay('Anna NOMATCH')];
    const linkOf = async (id: string) => {
      const { approvalUrl } = await reaches(id, 'pending_approval');
      return { token: approvalUrl?.split('/').at(-1) ?? '' };
    };
    const params = await linkOf(approved.id);
    expect(await approver.getApproval({ params })).toMatchObject({
      request: { agentName: 'The owner', amountEuros: 10, rule: expect.stringContaining('similar name') },
    });
    const challenge = await approver.createApprovalChallenge({ params, body: {} });
    await approver.approveByLink({ params, body: { webauthnAssertion: passkey.answer(challenge) } });
    expect(await reaches(approved.id, 'completed')).toMatchObject({ decidedBy: expect.stringMatching(/^passkey:/) });
    await approver.denyByLink({ params: await linkOf(denied.id), body: {} });
    expect(await transfer(denied.id)).toMatchObject({ status: 'denied' });
    await verified();
  });

  test('is denied or cancelled while it waits, and expires without a decision', async () => {
    const [denied, cancelled, expired] = [
      await pay('Anna NOMATCH'),
      await pay('Anna NOCHECK'),
      await pay('Anna SILENT'),
    ];
    for (const { id } of [denied, cancelled, expired]) await reaches(id, 'pending_approval');
    // A bank that does not answer the payee check can say nothing about it.
    expect(await transfer(expired.id)).toMatchObject({ payeeCheck: 'not_possible', failureReason: null });
    expect(await balance()).toEqual({ balanceEuros: 70, heldEuros: 30 });
    const body = { reason: 'unknown payee' };
    expect(await transfers().denyTransfer({ params: { id: denied.id }, body })).toMatchObject({
      status: 'denied',
      decisionReason: 'unknown payee',
    });
    expect(await transfers().denyTransfer({ params: { id: denied.id }, body })).toMatchObject({ status: 'denied' });
    expect(await transfers().cancelTransfer({ params: { id: cancelled.id }, body: {} })).toMatchObject({
      status: 'cancelled',
    });
    await expect(transfers().approveTransfer({ params: { id: denied.id }, body: {} })).rejects.toMatchObject({
      status: 400,
    });
    await world.advance(72 * hour + 1);
    expect(await reaches(expired.id, 'failed')).toMatchObject({ failureReason: 'expired' });
    expect(await balance()).toEqual({ balanceEuros: 100, heldEuros: 0 });
    await verified();
  });

  test('keeps its beneficiary, and is recalled where the bank may have it', async () => {
    const beneficiary = await aBeneficiary(owner);
    const { id } = await transfers().createTransfer({
      body: { beneficiaryId: beneficiary.id, amountEuros: 10, scheme: 'batch' },
    });
    expect(await reaches(id, 'submitted')).toMatchObject({ scheme: 'batch', executionDate: expect.any(String) });
    const beneficiaries = owner.client(beneficiariesArea);
    const params = { id: beneficiary.id };
    await expect(beneficiaries.deleteBeneficiary({ params })).rejects.toMatchObject({ status: 400 });
    await expect(beneficiaries.updateBeneficiary({ params, body: { name: 'Another' } })).rejects.toMatchObject({
      status: 400,
    });
    expect(await transfers().cancelTransfer({ params: { id }, body: {} })).toMatchObject({ status: 'submitted' });
    await eventually(
      () => transfer(id),
      ({ recall }) => recall === 'requested',
    );
    await verified();
  });

  test('reminds the owner of a silent bank after one and after three business days, and stays unknown', async () => {
    const { id } = await pay('Erika Muster', { reference: 'SILENT' });
    const [row] = await eventually(
      () =>
        world.sql<{ day: CalendarDate }>(
          `select settlement_date as day from transfers where id = $1 and stage = 'sending'`,
          [id],
        ),
      (found) => found.length === 1,
    );
    const reminders = () =>
      world.sql('select 1 from events where subject_id = $1 and name = $2', [id, 'transfer.reminded']);
    const from = businessDayFrom(row?.day as CalendarDate);
    expect(await reminders()).toEqual([]);
    for (const [count, days] of [
      [1, 1],
      [2, 3],
    ] as const) {
      const morning = instantInBerlin(businessDaysAfter(from, days), '09:00');
      await world.advance(morning.getTime() - (await businessNow(world)).getTime() + 1_000);
      await eventually(reminders, (found) => found.length === count);
    }
    expect(await transfer(id)).toMatchObject({ status: 'submitted' });
    expect(await balance()).toEqual({ balanceEuros: 90, heldEuros: 10 });
  });
});

test('an agent pays beneficiaries that agents may pay, within its policy, and a person decides what the policy leaves', async () => {
  const payer = await aPayer(world, {
    fundsCents: 50_000,
    policy: { auto_approve_limit_cents: 2_000 },
    funding: 'budget',
  });
  await world.sql(`update agent_tokens set scopes = '{*,transfers.write}' where agent_id = $1`, [payer.agentId]);
  const agent = world.as(payer.token).client(transfersArea);
  await world.sql(`update wallets set iban = $2, bic = 'BURSDEF0XXX' where id = $1`, [payer.walletId, anIban()]);
  const [mine, other] = [await aBeneficiary(payer.owner, { agentsMayPay: true }), await aBeneficiary(payer.owner)];
  owner = payer.owner;
  const order = (beneficiaryId: string, amountEuros: number) =>
    agent.createTransfer({ body: { beneficiaryId, amountEuros } });
  await expect(order(other.id, 1)).rejects.toMatchObject({ status: 403 });
  await expect(
    agent.createTransfer({ body: { to: { name: 'Anna', iban: anIban() }, amountEuros: 1 } }),
  ).rejects.toMatchObject({ status: 403 });
  const small = await order(mine.id, 10);
  await reaches(small.id, 'completed');
  const large = await order(mine.id, 30);
  expect(await reaches(large.id, 'pending_approval')).toMatchObject({ approvalRule: 'auto_approve_limit' });
  await transfers().denyTransfer({ params: { id: large.id }, body: {} });
  const [spent] = await world.sql(
    'select spent_cents::int as cents, payments::int from spending_days where agent_id = $1',
    [payer.agentId],
  );
  expect(spent).toEqual({ cents: 1_000, payments: 1 });
  await verified();
});

test('the policy of an agent refuses or sends what the payee’s bank does not confirm, and asks a person otherwise', async () => {
  const payer = await aPayer(world, { fundsCents: 50_000, policy: { payee_mismatch: 'refuse' } });
  await world.sql(`update agent_tokens set scopes = '{*,transfers.write}' where agent_id = $1`, [payer.agentId]);
  await world.sql(`update wallets set iban = $2, bic = 'BURSDEF0XXX' where id = $1`, [payer.walletId, anIban()]);
  owner = payer.owner;
  const [close, other] = [
    await aBeneficiary(owner, { name: 'Anna CLOSE', agentsMayPay: true }),
    await aBeneficiary(owner, { name: 'Anna NOMATCH', agentsMayPay: true }),
  ];
  const agent = world.as(payer.token).client(transfersArea);
  const order = ({ id }: { id: string }) => agent.createTransfer({ body: { beneficiaryId: id, amountEuros: 10 } });
  const refused = await order(other);
  expect(await reaches(refused.id, 'failed')).toMatchObject({
    payeeCheck: 'no_match',
    failureReason: 'payee_check:no_match',
    failureText: expect.stringContaining('another name for the account'),
  });
  await world.sql(`update policies set payee_mismatch = 'send' where agent_id = $1`, [payer.agentId]);
  expect(await reaches((await order(close)).id, 'completed')).toMatchObject({ payeeCheck: 'close_match' });
  await world.sql(`update policies set payee_mismatch = 'ask' where agent_id = $1`, [payer.agentId]);
  await reaches((await order(close)).id, 'pending_approval');
  await verified();
});

test('a split of an agent that its policy leaves to a person waits for one, and counts no more once it is denied', async () => {
  const payer = await aPayer(world, {
    fundsCents: 50_000,
    policy: { auto_approve_limit_cents: 2_000 },
    funding: 'budget',
  });
  await world.sql(`update agent_tokens set scopes = '{*,transfers.write}' where agent_id = $1`, [payer.agentId]);
  await world.sql(`update wallets set iban = $2, bic = 'BURSDEF0XXX' where id = $1`, [payer.walletId, anIban()]);
  owner = payer.owner;
  const { id: beneficiaryId } = await aBeneficiary(owner, { agentsMayPay: true });
  const agent = world.as(payer.token).client(transfersArea);
  const divide = (amountEuros: number) =>
    agent.createTransferSplit({ body: { splits: [1, 2].map(() => ({ beneficiaryId, amountEuros })) } });
  const splitReaches = (splitId: string, status: string) =>
    eventually(
      () => transfers().getTransferSplit({ params: { splitId } }),
      (split) => split.status === status,
    );
  const small = await divide(10);
  await splitReaches(small.id, 'completed');
  // Each line alone would need no person.
  const [denied, approved] = [await divide(10.01), await divide(15)];
  expect(await splitReaches(denied.id, 'pending_approval')).toMatchObject({ approvalRule: 'auto_approve_limit' });
  await transfers().denyTransferSplit({ params: { splitId: denied.id }, body: {} });
  await splitReaches(approved.id, 'pending_approval');
  await transfers().approveTransferSplit({ params: { splitId: approved.id }, body: {} });
  await splitReaches(approved.id, 'completed');
  const spent = await world.sql(
    'select spent_cents::int as cents, payments::int from spending_days where agent_id = $1',
    [payer.agentId],
  );
  expect(spent).toEqual([{ cents: 5_000, payments: 2 }]);
  await verified();
});
