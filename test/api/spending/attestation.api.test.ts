/**
 * Goal: where a policy demands attestation, each payment has a passkey's attestation, and there is no way around
 * it. Method: the preset `strict` on a whole Bursar with real signatures, the network's own messages, and the clock.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { passkeysArea } from '../../../src/domains/identity/passkeys/passkey.contract.ts';
import { eventNamesOf } from '../../support/events.ts';
import type { EnrolledPasskey } from '../../support/factories/passkeys.ts';
import { aPasskey, intentChallengeOf } from '../../support/factories/passkeys.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { networkOf, type Payer, sandboxShop } from '../../support/payments-world.ts';
import { refusalOf } from '../../support/refusals.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

const minute = 60_000;
let world: World;
let temporal: OpenTemporal;
let owner: Owner;
let api: ReturnType<typeof clientsOf>;
let agentId: string;
let passkey: EnrolledPasskey;

beforeAll(async () => {
  world = await startWorld({ worker: true });
  temporal = await openTemporal();
});
afterAll(async () => {
  await temporal.close();
  await world.close();
});

/** An owner with a passkey, money, and an agent under the preset `strict`: 25.00 a payment, 10.00 without a person. */
beforeEach(async () => {
  owner = await world.owner();
  api = clientsOf(owner);
  await api.fund.fundWallet({ body: { amountEuros: 500 } });
  agentId = (await api.agents.createAgent({ body: { name: 'buyer' } })).id;
  await api.policies.applyPolicy({ params: { agentId }, body: { presetId: 'strict' } });
  passkey = await aPasskey(world, owner);
});

const declare = (expectedAmountEuros: number, more: object = {}) =>
  api.intents.declareIntent({
    body: { agentId, purpose: 'a book', expectedAmountEuros, expectedMerchant: 'Sandbox Shop', ...more },
  });
const assertionFor = async (id: string, by = passkey) => by.answer(await intentChallengeOf(owner, id));
const attest = async (id: string, by = passkey) =>
  api.intents.attestIntent({ params: { id }, body: { webauthnAssertion: await assertionFor(id, by) } });
const approve = async (id: string, by = passkey) =>
  api.intents.approveIntent({ params: { id }, body: { webauthnAssertion: await assertionFor(id, by) } });
const execute = (intentId: string, amountCents: number) =>
  api.checkout.executeCheckout({
    body: { intentId, targetUrl: `${world.sandboxUrl}/shops/sandbox-shop?amountCents=${amountCents}` },
  });
const statusOf = async (id: string) => (await api.intents.getIntent({ params: { id } })).status;
const completed = (id: string) =>
  eventually(
    () => statusOf(id),
    (status) => status === 'completed',
  );
/** The network asks for the agent's card. */
const charge = async (amountCents: number, over: object = {}) => {
  const [card] = await world.sql<{ card_ref: string }>('select card_ref from cards where agent_id = $1', [agentId]);
  const payer = { agentId, cardRef: card?.card_ref } as Payer;
  return (await networkOf(world).authorize(payer, { amountCents, merchant: sandboxShop, ...over })).body;
};

test('strict, end to end: declared, attested, executed, completed', async () => {
  const intent = await declare(8);
  expect([intent.status, intent.approvedBy, intent.attestedAt]).toEqual(['approved', 'policy', null]);
  expect(await refusalOf(execute(intent.id, 800))).toEqual([
    403,
    `the policy needs an attestation no older than 15 min, there is none; attest it with POST /intents/${intent.id}/attest`,
  ]);
  const attested = await attest(intent.id);
  expect(attested.id).toBe(intent.id);
  expect(Date.parse(attested.validUntil) - Date.parse(attested.attestedAt)).toBe(15 * minute);
  expect((await api.intents.getIntent({ params: { id: intent.id } })).attestedAt).toBe(attested.attestedAt);
  expect(await execute(intent.id, 800)).toMatchObject({ success: true });
  await completed(intent.id);
  expect(await eventNamesOf(world, intent.id)).toEqual([
    'intent.created',
    'intent.approved',
    'intent.attested',
    'intent.matched',
    'intent.completed',
  ]);
  expect(
    await world.sql(`select actor, details from audit where subject_id = $1 and action = 'intent.attested'`, [
      intent.id,
    ]),
  ).toEqual([
    {
      actor: `passkey:${passkey.id}`,
      details: { passkeyId: passkey.id, person: 'a passkey', through: expect.stringMatching(/^key:key_/) },
    },
  ]);
});

test('with `strict`, above the automatic limit: approved with the passkey, which counts as the attestation', async () => {
  const intent = await declare(20);
  expect(intent.status).toBe('pending_approval');
  const bare = api.intents.approveIntent({ params: { id: intent.id }, body: {} });
  expect(await refusalOf(bare)).toEqual([
    400,
    expect.stringMatching(
      /its policy needs an attestation no older than 15 min, there is none; send webauthnAssertion/,
    ),
  ]);
  expect(await approve(intent.id)).toEqual({
    id: intent.id,
    status: 'approved',
    approvedBy: `passkey:${passkey.id}`,
  });
  expect(await execute(intent.id, 2_000)).toMatchObject({ success: true });
  await completed(intent.id);
  expect(await eventNamesOf(world, intent.id)).toEqual([
    'intent.created',
    'intent.attested',
    'intent.approved',
    'intent.matched',
    'intent.completed',
  ]);
});

test('at the network: none and stale are declined with figures, fresh passes', async () => {
  const intent = await declare(8);
  expect(await charge(800)).toMatchObject({
    decision: 'declined',
    rule: 'attestation',
    reason: 'needs an attestation no older than 15 min, there is none',
  });
  const { attestedAt } = await attest(intent.id);
  await world.advance(15 * minute);
  await world.sql(`update intents set attested_at = attested_at - interval '1 minute' where id = $1`, [intent.id]);
  const before = new Date(Date.parse(attestedAt) - minute).toISOString();
  expect(await charge(800)).toMatchObject({
    decision: 'declined',
    rule: 'attestation',
    reason: `needs an attestation no older than 15 min, the last was at ${before}`,
  });
  expect((await refusalOf(execute(intent.id, 800)))[1]).toMatch(/the last was at/);
  expect(await statusOf(intent.id)).toBe('approved');
  await attest(intent.id);
  expect(await charge(800)).toMatchObject({ decision: 'approved' });
});

test('of two intents that fit equally, the attested one is charged', async () => {
  const [first, second] = [await declare(8), await declare(8)];
  await attest(second.id);
  expect(await charge(800)).toMatchObject({ decision: 'approved' });
  expect((await api.intents.getIntent({ params: { id: second.id } })).matchedTransactionId).toMatch(/^tx_/);
  expect((await api.intents.getIntent({ params: { id: first.id } })).matchedTransactionId).toBeNull();
  expect(await charge(800)).toMatchObject({ decision: 'declined', rule: 'attestation' });
});

test('the policy’s own window counts, in business time, and the policy in force is the one that demands', async () => {
  await api.policies.updateAgentPolicy({ params: { agentId }, body: { attestationWindowMinutes: 60 } });
  const intent = await declare(8);
  const { attestedAt, validUntil } = await attest(intent.id);
  expect(Date.parse(validUntil) - Date.parse(attestedAt)).toBe(60 * minute);
  await world.advance(59 * minute);
  expect(await charge(800)).toMatchObject({ decision: 'approved' });
  const pending = await declare(20);
  const toggle = (value: boolean) =>
    api.policies.toggleAgentPolicy({ params: { agentId }, body: { field: 'requireAttestation', value } });
  await toggle(false);
  const { approvedBy } = await api.intents.approveIntent({ params: { id: pending.id }, body: {} });
  expect(approvedBy).toMatch(/^key:/);
  await toggle(true);
  expect(await charge(2_000)).toMatchObject({ decision: 'declined', rule: 'attestation' });
});

// spec: does:Passkeys:per-intent assertion challenges
test('a challenge approves the one intent that it shows, with its figures', async () => {
  const [small, large] = [await declare(8), await declare(20)];
  const forSmall = await assertionFor(small.id);
  expect(
    await refusalOf(api.intents.approveIntent({ params: { id: large.id }, body: { webauthnAssertion: forSmall } })),
  ).toEqual([400, expect.stringMatching(new RegExp(`was made for ${small.id}, not for ${large.id}`))]);
  const body = { webauthnAssertion: await assertionFor(large.id) };
  await world.sql('update intents set expected_amount_cents = 2001 where id = $1', [large.id]);
  const params = { id: large.id };
  expect(await refusalOf(api.intents.approveIntent({ params, body }))).toEqual([
    400,
    expect.stringMatching(/was made for another amount or merchant/),
  ]);
  await world.sql(`update intents set expected_amount_cents = 2000, expected_merchant = 'Other' where id = $1`, [
    large.id,
  ]);
  expect((await refusalOf(api.intents.approveIntent({ params, body })))[1]).toMatch(/another amount or merchant/);
  const generic = await owner
    .client(passkeysArea)
    .createPasskeyChallenge({ body: { purpose: 'generic', subjectId: large.id } });
  expect(
    await refusalOf(api.intents.attestIntent({ params, body: { webauthnAssertion: passkey.answer(generic) } })),
  ).toEqual([400, expect.stringMatching(/made for the purpose generic, not for intent/)]);
  expect(await eventNamesOf(world, large.id)).toEqual(['intent.created']);
});

test('one challenge for an attestation, used many times at once, attests once', async () => {
  const intent = await declare(8);
  const challenge = await intentChallengeOf(owner, intent.id);
  const answers = await Promise.allSettled(
    Array.from({ length: 6 }, () =>
      api.intents.attestIntent({
        params: { id: intent.id },
        body: { webauthnAssertion: passkey.answer(challenge) },
      }),
    ),
  );
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect((await eventNamesOf(world, intent.id)).filter((name) => name === 'intent.attested')).toHaveLength(1);
});

test('a decided or expired intent can be neither challenged nor attested, and another owner’s is 404', async () => {
  const [denied, late] = [await declare(20), await declare(9, { ttlMinutes: 10 })];
  const [forDenied, forLate] = [await assertionFor(denied.id), await assertionFor(late.id)];
  await api.intents.denyIntent({ params: { id: denied.id }, body: {} });
  const attestWith = (id: string, webauthnAssertion: never) =>
    api.intents.attestIntent({ params: { id }, body: { webauthnAssertion } });
  expect((await refusalOf(attestWith(denied.id, forDenied as never)))[1]).toMatch(
    /the intent is denied; only one that is/,
  );
  expect(await refusalOf(intentChallengeOf(owner, denied.id))).toEqual([400, expect.stringMatching(/is denied/)]);
  const stranger = await world.owner();
  await aPasskey(world, stranger);
  expect((await refusalOf(intentChallengeOf(stranger, late.id)))[0]).toBe(404);
  await world.sql(`update intents set expires_at = created_at where id = $1`, [late.id]);
  expect((await refusalOf(attestWith(late.id, forLate as never)))[1]).toMatch(/the intent expired at/);
  expect((await refusalOf(intentChallengeOf(owner, late.id)))[0]).toBe(400);
});

test('an approval of an approved intent still stores the attestation', async () => {
  const intent = await declare(8);
  expect(await approve(intent.id)).toMatchObject({ approvedBy: 'policy' });
  expect(await charge(800)).toMatchObject({ decision: 'approved' });
  expect((await eventNamesOf(world, intent.id)).filter((name) => name === 'intent.attested')).toHaveLength(1);
});

test('an attestation that is too old by the time of the approval does not approve', async () => {
  const intent = await declare(20);
  await attest(intent.id);
  await world.advance(16 * minute);
  const bare = { params: { id: intent.id }, body: {} };
  expect((await refusalOf(api.intents.approveIntent(bare)))[1]).toMatch(/no older than 15 min, the last was at/);
  await attest(intent.id);
  expect(await api.intents.approveIntent(bare)).toMatchObject({ approvedBy: expect.stringMatching(/^key:/) });
});

test('a signal never approves it, attested or not; the current details say so before and after', async () => {
  const intent = await declare(20);
  const run = `intent/${intent.id}`;
  await temporal.started(run);
  const details = (shown: RegExp) =>
    eventually(
      async () => (await temporal.viewOf(run)).details,
      (text) => shown.test(text),
    );
  await details(/approve it with a passkey, or to deny it, until .*, then it expires\. A signal cannot approve it\./);
  await temporal.signal(run, 'decide', { decision: 'approve', by: 'anna' });
  await details(/approve by anna was refused: its policy demands a passkey; a signal cannot approve it/);
  await attest(intent.id);
  await temporal.signal(run, 'decide', { decision: 'approve', by: 'ben' });
  await details(/approve by ben was refused: its policy demands a passkey/);
  expect(await statusOf(intent.id)).toBe('pending_approval');
  await temporal.signal(run, 'decide', { decision: 'deny', by: 'anna' });
  await eventually(
    () => statusOf(intent.id),
    (status) => status === 'denied',
  );
});

test('an approval whose answer was lost is repeated by its key without another challenge', async () => {
  const intent = await declare(20);
  const body = { webauthnAssertion: await assertionFor(intent.id) };
  const headers = { 'Idempotency-Key': randomUUID() };
  const ask = () => api.intents.approveIntent({ params: { id: intent.id }, body, headers });
  const first = await ask();
  const lose = () =>
    world.sql('update idempotency set status = null, body = null, lease_until = null where key = $1', [
      headers['Idempotency-Key'],
    ]);
  await lose();
  expect(await ask()).toEqual(first);
  await execute(intent.id, 2_000);
  await completed(intent.id);
  await lose();
  expect(await ask()).toEqual(first);
  expect((await eventNamesOf(world, intent.id)).filter((name) => /attested|approved/.test(name))).toEqual([
    'intent.attested',
    'intent.approved',
  ]);
  expect((await refusalOf(api.intents.approveIntent({ params: { id: intent.id }, body })))[0]).toBe(400);
});

test('removing a passkey withdraws its approvals that are not paid yet', async () => {
  const second = await aPasskey(world, owner, passkey);
  const [mine, theirs] = [await declare(8), await declare(9)];
  await attest(mine.id);
  await attest(theirs.id, second);
  const passkeys = owner.client(passkeysArea);
  const challenge = await passkeys.createPasskeyChallenge({
    body: { purpose: 'revoke_passkey', subjectId: passkey.id },
  });
  const body = { webauthnAssertion: second.answer(challenge) };
  await passkeys.revokePasskey({ params: { id: passkey.id }, body });
  expect((await api.intents.getIntent({ params: { id: mine.id } })).attestedAt).toBeNull();
  expect((await api.intents.getIntent({ params: { id: theirs.id } })).attestedAt).not.toBeNull();
  expect(await charge(800)).toMatchObject({ decision: 'declined', rule: 'attestation' });
  expect(await charge(900)).toMatchObject({ decision: 'approved' });
  const removed = passkey.answer(await intentChallengeOf(owner, mine.id));
  expect(
    await refusalOf(api.intents.attestIntent({ params: { id: mine.id }, body: { webauthnAssertion: removed } })),
  ).toEqual([400, expect.stringMatching(/its passkey is not enrolled here/)]);
});

test('after the last passkey was removed, a new one attests nothing for 24 hours of business time, and names their end', async () => {
  const passkeys = owner.client(passkeysArea);
  const before = await declare(8);
  await passkeys.revokePasskey({ params: { id: passkey.id }, body: {} });
  expect((await refusalOf(intentChallengeOf(owner, before.id)))[1]).toMatch(/no passkey is enrolled; enrol one/);
  const [told] = await world.sql<{ data: { approvalsBlockedUntil: string; status: string } }>(
    `select data from events where subject_id = $1 and name = 'passkey.revoked'`,
    [passkey.id],
  );
  const until = told?.data.approvalsBlockedUntil ?? '';
  await world.advance(60 * minute);
  const fresh = await aPasskey(world, owner);
  expect((await passkeys.listPasskeys()).map(({ approvesFrom }) => approvesFrom)).toEqual([until]);
  const sentence = `passkey ${fresh.id} was enrolled after the last one was removed; it attests nothing before ${until}`;
  expect(await refusalOf(intentChallengeOf(owner, before.id))).toEqual([400, sentence]);

  // A challenge that was made for another one does not help; here that one is a row moved in the table.
  await world.sql('update passkeys set approves_from = created_at where id = $1', [fresh.id]);
  const another = await aPasskey(world, owner, fresh);
  await world.sql('update passkeys set approves_from = $2 where id = $1', [fresh.id, until]);
  await world.sql('update passkeys set approves_from = created_at where id = $1', [another.id]);
  expect((await passkeys.listPasskeys()).map(({ id }) => id)).toEqual([fresh.id, another.id]);
  const challenge = await intentChallengeOf(owner, before.id);
  const body = { webauthnAssertion: fresh.answer(challenge) };
  expect(await refusalOf(api.intents.attestIntent({ params: { id: before.id }, body }))).toEqual([400, sentence]);

  await world.advance(23 * 60 * minute - 5 * minute);
  const almost = await declare(8);
  expect((await refusalOf(attest(almost.id, fresh)))[1]).toContain(until);
  await world.advance(6 * minute);
  expect((await attest(almost.id, fresh)).id).toBe(almost.id);
  expect(await charge(800)).toMatchObject({ decision: 'approved' });
});

test('an agent token can neither attest nor approve, and revoking commands need no passkey', async () => {
  const intent = await declare(20);
  const { token } = await api.tokens.createAgentToken({ params: { id: agentId }, body: {} });
  const asAgent = clientsOf(world.as(token));
  const body = { webauthnAssertion: await assertionFor(intent.id) };
  const params = { id: intent.id };
  expect((await refusalOf(asAgent.intents.attestIntent({ params, body })))[0]).toBe(403);
  expect((await refusalOf(asAgent.intents.approveIntent({ params, body })))[0]).toBe(403);
  expect((await refusalOf(asAgent.intents.attestIntent({ params, body: {} as never })))[0]).toBe(403);
  expect((await refusalOf(api.intents.attestIntent({ params, body: {} as never })))[1]).toMatch(/webauthnAssertion/);
  expect(await api.intents.denyIntent({ params, body: {} })).toMatchObject({ status: 'denied' });
});
