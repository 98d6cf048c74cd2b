/** Splits with lines to banks on a whole installation: settled, in part, decided together and one by one, cancelled. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { approvalsArea } from '../../../src/domains/identity/approvals/approval.contract.ts';
import { beneficiariesArea } from '../../../src/domains/treasury/beneficiaries/beneficiary.contract.ts';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { ledgerArea } from '../../../src/domains/treasury/ledger/ledger.contract.ts';
import { transfersArea } from '../../../src/domains/treasury/transfers/transfer.contract.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { day, hour } from '../../../src/kernel/instant.ts';
import { eventsOf } from '../../support/events.ts';
import { aBeneficiary, anIban } from '../../support/factories/beneficiaries.ts';
import { aPasskey } from '../../support/factories/passkeys.ts';
import { refusal } from '../../support/refusals.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
let walletId: string;
let toWalletId: string;
beforeAll(async () => {
  world = await startWorld({ worker: true });
});
beforeEach(async () => {
  owner = await world.owner();
  walletId = (await owner.client(fundArea).fundWallet({ body: { amountEuros: 100 } })).walletId;
  toWalletId = (await owner.client(walletsArea).createWallet({ body: { name: 'Savings' } })).id;
});
afterAll(() => world.close());

const transfers = () => owner.client(transfersArea);
const split = (splitId: string) => transfers().getTransferSplit({ params: { splitId } });
const reaches = (id: string, status: string) =>
  eventually(
    () => split(id),
    (found) => found.status === status,
  );
const line = (name: string, reference?: string, amountEuros = 10) => ({
  to: { name, iban: anIban() },
  amountEuros,
  ...(reference !== undefined && { reference }),
});
const divide = (...splits: object[]) => transfers().createTransferSplit({ body: { splits } as never });
const statuses = (found: { transfers: readonly { status: string }[] }) => found.transfers.map(({ status }) => status);
const balance = async () => await owner.client(walletsArea).getWalletBalance({ params: { id: walletId } });
const verified = async () =>
  expect(await owner.client(ledgerArea).verifyLedger({ query: { full: 'true' } })).toMatchObject({
    balanced: true,
    differences: [],
  });
const namesOf = async (id: string) => (await eventsOf(world, id)).map(({ name }) => name);

describe('a split with lines to banks', () => {
  // spec: does:Transfers:wallet-to-wallet and external SEPA transfers
  test('completes its wallet lines at once and is completed when the bank has settled the others', async () => {
    const { id: beneficiaryId } = await aBeneficiary(owner);
    const made = await transfers().createTransferSplit({
      body: {
        totalAmountEuros: 40,
        splits: [
          { toWalletId, percent: 25 },
          { beneficiaryId, percent: 50, reference: 'Rechnung № 7' },
          { ...line('Erika Muster'), amountEuros: undefined, percent: 25 },
        ],
      },
    });
    expect(made).toMatchObject({
      totalAmountEuros: 40,
      completedAmountEuros: 10,
      status: 'pending',
      completedAt: null,
    });
    expect(made.transfers.map((one) => [one.type, one.amountEuros, one.splitId])).toEqual([
      ['internal', 10, made.id],
      ['sepa', 20, made.id],
      ['sepa', 10, made.id],
    ]);
    const done = await reaches(made.id, 'completed');
    expect(done).toMatchObject({ completedAmountEuros: 40, completedAt: expect.any(String), decision: null });
    expect(await namesOf(made.id)).toEqual(['transfer.split.created', 'transfer.split.completed']);
    expect(await balance()).toMatchObject({ availableEuros: 60, pendingEuros: 0 });
    await verified();
  });

  // spec: event:transfer.failed
  test('names what arrived when one line is rejected, and when another comes back later', async () => {
    const { id } = await divide(line('Anna'), line('Bert', 'FAIL'), line('Carl', 'RETURN'));
    const settled = await reaches(id, 'partially_completed');
    expect(statuses(settled)).toEqual(['completed', 'failed', 'completed']);
    expect(settled).toMatchObject({ completedAmountEuros: 20, completedAt: expect.any(String) });
    await world.advance(5 * day);
    const after = await eventually(
      () => split(id),
      ({ completedAmountEuros }) => completedAmountEuros === 10,
    );
    expect(after).toMatchObject({ status: 'partially_completed', completedAt: settled.completedAt });
    expect(statuses(after)).toEqual(['completed', 'failed', 'returned']);
    expect(await namesOf(settled.transfers[1]?.id ?? '')).toContain('transfer.failed');
    const [created, completed] = await eventsOf(world, id);
    expect(created?.data).toMatchObject({ status: 'pending', lines: 3, completedLines: 0, completedAmountEuros: 0 });
    expect(completed).toMatchObject({
      name: 'transfer.split.completed',
      data: { status: 'partially_completed', totalAmountEuros: 30, completedAmountEuros: 20, completedLines: 2 },
    });
    await verified();
  });

  test('waits for one decision about all lines that need a person, while the others go on', async () => {
    const { id } = await divide(line('Anna CLOSE'), line('Bert'), line('Carl NOMATCH'));
    const waiting = await reaches(id, 'pending_approval');
    expect(waiting).toMatchObject({ approvalUrl: expect.stringContaining('/approve/'), expiresAt: expect.any(String) });
    const params = { splitId: id };
    const approved = await transfers().approveTransferSplit({ params, body: {} });
    expect(approved).toMatchObject({
      decision: 'approved',
      decidedBy: expect.stringMatching(/^key:/),
      approvalUrl: null,
    });
    expect(await transfers().approveTransferSplit({ params, body: {} })).toMatchObject({
      decidedAt: approved.decidedAt,
    });
    await expect(transfers().denyTransferSplit({ params, body: {} })).rejects.toEqual(
      refusal(400, /no line of it waits/),
    );
    expect(await reaches(id, 'completed')).toMatchObject({ completedAmountEuros: 30 });
    expect(await namesOf(id)).toEqual([
      'transfer.split.created',
      'transfer.split.updated',
      'transfer.split.updated',
      'transfer.split.completed',
    ]);
    await verified();
  });

  test('is decided on one approver’s page, line by line as well, and by denial in part', async () => {
    const passkey = await aPasskey(world, owner);
    const approver = world.as('').client(approvalsArea);
    const linkOf = async (id: string) => {
      const { approvalUrl } = await reaches(id, 'pending_approval');
      return { token: approvalUrl?.split('/').at(-1) ?? '' };
    };
    const [approved, denied] = [
      await divide(line('Anna CLOSE', 'Rent'), line('Bert NOMATCH'), line('Carl')),
      await divide(line('Dora NOMATCH'), { toWalletId, amountEuros: 5 }),
    ];
    const params = await linkOf(approved.id);
    const first = approved.transfers[0]?.id ?? '';
    expect(await approver.getApproval({ params })).toMatchObject({
      kind: 'transfer_split',
      request: { agentName: 'The owner', amountEuros: 20, title: 'Approve bank transfers' },
    });
    await transfers().denyTransfer({ params: { id: first }, body: {} });
    const { request } = await approver.getApproval({ params });
    expect(request?.facts.map(({ label }) => label)).toEqual(['Line 2']);
    const challenge = await approver.createApprovalChallenge({ params, body: {} });
    await approver.approveByLink({ params, body: { webauthnAssertion: passkey.answer(challenge) } });
    const done = await reaches(approved.id, 'partially_completed');
    expect(statuses(done)).toEqual(['denied', 'completed', 'completed']);
    expect(done).toMatchObject({ decidedBy: expect.stringMatching(/^passkey:/), completedAmountEuros: 20 });
    expect(await approver.getApproval({ params })).toMatchObject({ outcome: { title: 'Approved' } });

    await approver.denyByLink({ params: await linkOf(denied.id), body: { reason: 'unknown payee' } });
    const after = await split(denied.id);
    expect(after).toMatchObject({ status: 'partially_completed', decision: 'denied', decisionReason: 'unknown payee' });
    expect(statuses(after)).toEqual(['denied', 'completed']);
    const again = await transfers().denyTransferSplit({ params: { splitId: denied.id }, body: {} });
    expect(again).toMatchObject({ decidedAt: after.decidedAt, decisionReason: 'unknown payee' });
    const silent = await divide(line('Emil NOMATCH'), line('Fritz', 'SILENT'));
    await approver.denyByLink({ params: await linkOf(silent.id), body: {} });
    expect(await split(silent.id)).toMatchObject({ status: 'pending', decision: 'denied' });
    await verified();
  });

  test('is moved by the decision about its last line that waits, as by one about the split', async () => {
    const oneOf = async (...more: object[]) => {
      const { id: splitId, transfers: lines } = await divide(line('Anna NOMATCH'), ...more);
      await reaches(splitId, 'pending_approval');
      return { splitId, first: { params: { id: lines[0]?.id ?? '' }, body: {} } };
    };
    const silent = line('Bert', 'SILENT');
    const [approved, denied, cancelled] = [await oneOf(silent), await oneOf(silent), await oneOf(silent)];
    await transfers().approveTransfer(approved.first);
    await transfers().denyTransfer(denied.first);
    await transfers().cancelTransfer(cancelled.first);
    for (const { splitId } of [approved, denied, cancelled]) {
      expect(await split(splitId)).toMatchObject({ status: 'pending', decision: null });
      expect(await namesOf(splitId)).toEqual([
        'transfer.split.created',
        'transfer.split.updated',
        'transfer.split.updated',
      ]);
    }
    const wallet = { toWalletId, amountEuros: 5 };
    const [ended, taken] = [await oneOf(wallet), await oneOf(wallet)];
    await transfers().denyTransfer(ended.first);
    await transfers().cancelTransfer(taken.first);
    for (const { splitId } of [ended, taken]) {
      expect(await split(splitId)).toMatchObject({ status: 'partially_completed' });
      expect((await namesOf(splitId)).at(-1)).toBe('transfer.split.completed');
    }
    const { id: splitId, transfers: both } = await divide(line('Carl NOMATCH'), line('Dora NOMATCH'));
    await reaches(splitId, 'pending_approval');
    for (const { id } of both) await transfers().denyTransfer({ params: { id }, body: {} });
    const again = await transfers().denyTransferSplit({ params: { splitId }, body: {} });
    expect(again).toMatchObject({ status: 'denied', decision: null });
    await verified();
  });

  test('of many lines is approved by one passkey', async () => {
    const passkey = await aPasskey(world, owner);
    const approver = world.as('').client(approvalsArea);
    const many = Array.from({ length: 12 }, (_, n) =>
      line(`A payee with a rather long name NOMATCH`, `Salary of November, number ${n} ${'x'.repeat(80)}`, 1),
    );
    const { id } = await divide(...many);
    const { approvalUrl } = await reaches(id, 'pending_approval');
    const params = { token: approvalUrl?.split('/').at(-1) ?? '' };
    const challenge = await approver.createApprovalChallenge({ params, body: {} });
    await approver.approveByLink({ params, body: { webauthnAssertion: passkey.answer(challenge) } });
    expect(await reaches(id, 'completed')).toMatchObject({ completedAmountEuros: 12 });
  });

  test('goes on at the bank when the lines that wait are denied or cancelled', async () => {
    const [denied, cancelled] = [
      await divide(line('Anna NOMATCH'), line('Bert', 'SILENT')),
      await divide(line('Carl NOMATCH'), line('Dora', 'SILENT')),
    ];
    for (const { id } of [denied, cancelled]) {
      await reaches(id, 'pending_approval');
      await eventually(
        () => split(id),
        (found) => statuses(found)[1] === 'submitted',
      );
    }
    await transfers().denyTransferSplit({ params: { splitId: denied.id }, body: {} });
    await transfers().cancelTransferSplit({ params: { splitId: cancelled.id }, body: {} });
    expect(statuses(await split(denied.id))).toEqual(['denied', 'submitted']);
    expect(statuses(await split(cancelled.id))).toEqual(['cancelled', 'submitted']);
    await verified();
  });

  test('is not approved while the payee of a line may not be paid any more, until that line is cancelled', async () => {
    const { id: beneficiaryId } = await aBeneficiary(owner, { name: 'Erika NOMATCH' });
    const { id, transfers: lines } = await divide({ beneficiaryId, amountEuros: 10 }, line('Anna CLOSE'));
    await reaches(id, 'pending_approval');
    const params = { splitId: id };
    const beneficiary = { params: { id: beneficiaryId }, body: { status: 'disabled' } } as const;
    await owner.client(beneficiariesArea).updateBeneficiary(beneficiary);
    const approve = () => transfers().approveTransferSplit({ params, body: {} });
    await expect(approve()).rejects.toEqual(refusal(400, /is disabled/));
    expect(statuses(await split(id))).toEqual(['pending_approval', 'pending_approval']);
    await transfers().cancelTransfer({ params: { id: lines[0]?.id ?? '' }, body: {} });
    await approve();
    expect(statuses(await reaches(id, 'partially_completed'))).toEqual(['cancelled', 'completed']);
    await verified();
  });

  test('is cancelled where the bank does not have it, and expires without a decision', async () => {
    const [cancelled, expired] = [
      await divide(line('Anna NOCHECK'), line('Bert NOMATCH')),
      await divide(line('Carl NOMATCH'), line('Dora', 'SILENT')),
    ];
    for (const { id } of [cancelled, expired]) await reaches(id, 'pending_approval');
    expect(await balance()).toMatchObject({ availableEuros: 60, pendingEuros: 40 });
    const params = { splitId: cancelled.id };
    expect(await transfers().cancelTransferSplit({ params, body: {} })).toMatchObject({ status: 'cancelled' });
    expect(await transfers().cancelTransferSplit({ params, body: {} })).toMatchObject({ status: 'cancelled' });
    await expect(transfers().approveTransferSplit({ params, body: {} })).rejects.toEqual(refusal(400, /is cancelled/));
    await eventually(
      () => split(expired.id),
      (found) => statuses(found)[1] === 'submitted',
    );
    await world.advance(72 * hour + 1);
    const over = await reaches(expired.id, 'pending');
    expect(statuses(over)).toEqual(['failed', 'submitted']);
    const cancel = transfers().cancelTransferSplit({ params: { splitId: expired.id }, body: {} });
    await expect(cancel).rejects.toEqual(refusal(400, /recalled line by line/));
    expect(await balance()).toMatchObject({ availableEuros: 90, pendingEuros: 10 });
    await verified();
  });
});
