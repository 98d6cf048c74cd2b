/**
 * Goal: the approver sees the highest charge, which the agent's tolerance decides, and approves no more than that; answers
 * with the link are not cached. Method: real HTTP, the page as served, software passkeys, the real run.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { approvalsArea } from '../../../src/domains/identity/approvals/approval.contract.ts';
import { aPasskey, intentChallengeOf } from '../../support/factories/passkeys.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { aSubscriber } from '../../support/recurring-world.ts';
import { refusalOf } from '../../support/refusals.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
let temporal: OpenTemporal;
beforeAll(async () => {
  world = await startWorld({ worker: true });
  temporal = await openTemporal();
});
afterAll(async () => {
  await temporal.close();
  await world.close();
});

const anybody = () => world.as('').client(approvalsArea);
const tokenOf = (url: string | null) => url?.split('/').at(-1) ?? '';
const pageOf = async (token: string) => {
  const answer = await fetch(`${world.apiUrl}/approve/${token}`, { headers: { Accept: 'text/html' } });
  return (await answer.text()).replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
};
const asking = (policy: object = {}) => aSubscriber(world, { policy: { auto_approve_limit_cents: 500, ...policy } });
const seen = async ({ id, approvalUrl }: { id: string; approvalUrl: string | null }) => {
  const token = tokenOf(approvalUrl);
  const { request } = await anybody().getApproval({ params: { token } });
  const run = `intent/${id}`;
  await temporal.started(run);
  const { details } = await eventually(
    () => temporal.viewOf(run),
    (view) => view.details.includes(' for agent '),
  );
  return { token, amounts: [request?.amountEuros, request?.maxChargeEuros], page: await pageOf(token), details };
};

test('the tolerance that the agent chose is given with the amount: on the page, in the record, in the run', async () => {
  const { declare, read } = await asking();
  const { id } = await declare({ recurring: { cadence: 'monthly', amountTolerancePercent: 100 } });
  const intent = await read(id);
  expect([intent.expectedAmountEuros, intent.maxChargeEuros]).toEqual([10, 20]);
  const { amounts, page, details } = await seen(intent);
  expect(amounts).toEqual([10, 20]);
  expect(page).toContain('asks to spend 10.00 EUR up to 20.00 EUR each');
  expect(details).toContain('10.00 EUR (at most 20.00 EUR per charge) for agent ');
});

test('a single payment has the policy’s tolerance, and null without one', async () => {
  const { declare, read } = await asking({ amount_tolerance_percent: 10 });
  const one = await read((await declare({ recurring: undefined })).id);
  const { amounts, page, details } = await seen(one);
  expect([...amounts, one.maxChargeEuros]).toEqual([10, 11, 11]);
  expect(page).toContain('10.00 EUR up to 11.00 EUR In its own words');
  expect(details).toContain('10.00 EUR (at most 11.00 EUR) for agent ');

  const exact = await asking();
  const other = await exact.read((await exact.declare({ recurring: undefined })).id);
  const plain = await seen(other);
  expect([...plain.amounts, other.maxChargeEuros]).toEqual([10, 10, 10]);
  expect(plain.page).toContain('asks to spend 10.00 EUR In its own words');
  expect(plain.details).toContain('10.00 EUR for agent ');
});

test('a tolerance in the owner’s policy bounds the agent’s, on the page and at the charge', async () => {
  const { declare, read, charge, api } = await asking({ amount_tolerance_percent: 5, max_transaction_cents: 10_000 });
  const { id } = await declare({ recurring: { cadence: 'monthly', amountTolerancePercent: 100 } });
  expect((await read(id)).maxChargeEuros).toBe(10.5);
  await api.intents.approveIntent({ params: { id }, body: {} });
  expect((await read(id)).maxChargeEuros).toBeNull();
  expect(await charge({ amountCents: 1_051 })).toMatchObject({
    decision: 'declined',
    reason: expect.stringContaining('expects 10.00 (with tolerance 10.50), asked 10.51'),
  });
  expect(await charge({ amountCents: 1_050 })).toMatchObject({ decision: 'approved' });
});

test('a challenge is valid up to the highest charge on the page', async () => {
  const { declare, payer, api } = await asking({ amount_tolerance_percent: 10 });
  const passkey = await aPasskey(world, payer.owner);
  const { id } = await declare({ recurring: undefined });
  const before = passkey.answer(await intentChallengeOf(payer.owner, id));
  const widen = (percent: number) =>
    world.sql('update policies set amount_tolerance_percent = $2, version = version + 1 where id = $1', [
      payer.policyId,
      percent,
    ]);
  await widen(100);
  const approve = () => api.intents.approveIntent({ params: { id }, body: { webauthnAssertion: before } });
  expect(await refusalOf(approve())).toEqual([400, expect.stringContaining('was made for another amount or merchant')]);
  await widen(10);
  expect((await approve()).approvedBy).toBe(`passkey:${passkey.id}`);
});

test('after the decision the page has a ceiling only while a charge may come: a later policy decided none', async () => {
  const { declare, read, payer, api, charge, reverse } = await asking({ max_transaction_cents: 10_000 });
  const decided = async (token: string) => {
    const { decided: shown, status } = await anybody().getApproval({ params: { token } });
    return [status, shown?.amountEuros, shown?.maxChargeEuros];
  };
  const tolerance = (percent: number) =>
    world.sql('update policies set amount_tolerance_percent = $2, version = version + 1 where id = $1', [
      payer.policyId,
      percent,
    ]);
  const { id } = await declare({ recurring: undefined });
  const token = tokenOf((await read(id)).approvalUrl);
  await api.intents.approveIntent({ params: { id }, body: {} });
  await tolerance(10);
  expect(await decided(token)).toEqual(['approved', 10, 11]);
  const paid = await charge();
  expect(paid).toMatchObject({ decision: 'approved' });
  await tolerance(100);
  expect(await decided(token)).toEqual(['approved', 10, null]);
  expect(await pageOf(token)).not.toContain('20.00 EUR');
  await reverse(paid.authorizationId);
  expect(await decided(token)).toEqual(['approved', 10, 20]);

  const refused = await read((await declare({ recurring: undefined })).id);
  await api.intents.denyIntent({ params: { id: refused.id }, body: {} });
  expect(await decided(tokenOf(refused.approvalUrl))).toEqual(['denied', 10, null]);
});

test('the page follows the policy in force, not the one of the declaration', async () => {
  const { declare, read, payer } = await asking({ require_attestation: true });
  const token = tokenOf((await read((await declare()).id)).approvalUrl);
  const demands = async () => (await anybody().getApproval({ params: { token } })).request?.demandsPasskey;
  expect(await demands()).toBe(true);
  await world.sql('update policies set require_attestation = false where id = $1', [payer.policyId]);
  expect(await demands()).toBe(false);
});

test('answers with a link are not cached, and the form for a key always has the page’s headers', async () => {
  const { declare, payer } = await asking();
  const { id } = await declare();
  for (const path of [`/intents/${id}`, '/intents?status=pending_approval']) {
    const answer = await fetch(`${world.apiUrl}${path}`, { headers: { Authorization: `Bearer ${payer.owner.key}` } });
    expect([await answer.text(), answer.headers.get('cache-control')]).toEqual([
      expect.stringContaining('/approve/'),
      'no-store',
    ]);
  }
  const headersOf = async (path: string) => {
    const { status, headers } = await fetch(`${world.apiUrl}${path}`);
    const told = ['content-security-policy', 'cache-control', 'x-frame-options', 'x-robots-tag'];
    return [status, ...told.map((name) => headers.get(name))];
  };
  expect(await headersOf('/docs/pages/enrol.html')).toEqual(await headersOf('/docs/passkeys'));
});
