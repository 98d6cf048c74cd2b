/**
 * Goal: approvals and risk alerts reach the devices of the owner and of invited people, readable by the device alone, and
 * devices that their push service does not know any more are removed. Method: the real worker sends over TLS to a push service that verifies and decrypts.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createWebPush } from '../../../src/adapters/push/web-push.ts';
import type { Tx } from '../../../src/db/tx.ts';
import {
  claimPushMessages,
  purgePushMessages,
  recordPushResult,
} from '../../../src/domains/delivery/push-subscriptions/push-message.service.ts';
import { pushSubscriptionsArea } from '../../../src/domains/delivery/push-subscriptions/push-subscription.contract.ts';
import { webhooksArea } from '../../../src/domains/delivery/webhooks/webhook.contract.ts';
import { passkeyInvitationsArea } from '../../../src/domains/identity/passkey-invitations/invitation.contract.ts';
import { passkeysArea } from '../../../src/domains/identity/passkeys/passkey.contract.ts';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { transfersArea } from '../../../src/domains/treasury/transfers/transfer.contract.ts';
import { day } from '../../../src/kernel/instant.ts';
import { runCommand } from '../../../src/main/cli.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { softPasskey } from '../../support/authenticator.ts';
import { deadlocksIn } from '../../support/deadlocks.ts';
import { eventNamesOf } from '../../support/events.ts';
import { anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { anIban } from '../../support/factories/beneficiaries.ts';
import { anInvitation } from '../../support/factories/invitations.ts';
import { aPasskey } from '../../support/factories/passkeys.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import { inDatabase } from '../../support/payments-world.ts';
import { type Device, type PushServiceForTests, startPushService } from '../../support/push-service.ts';
import { refusalOf } from '../../support/refusals.ts';
import { openssl } from '../../support/tls.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';
import { aDevice } from './push-subscriptions.samples.ts';

let world: World;
/** Only where the machine has openssl; `secureTest` uses it. */
let service: PushServiceForTests;
let owner: Owner;
/** A push service speaks TLS, and openssl makes its certificate: skipped on a machine without it. */
const secureTest = openssl ? test : test.skip;

beforeAll(async () => {
  if (openssl) service = await startPushService();
  world = await startWorld({ worker: true, allowedOrigins: openssl ? [service.origin] : [] });
});
afterAll(async () => {
  await world.close();
  if (openssl) await service.close();
});
beforeEach(async () => {
  owner = await world.owner();
  if (openssl) service.answers.length = 0;
});

const push = () => owner.client(pushSubscriptionsArea);
const subscribe = (device: Device, more: object = {}) =>
  push().createPushSubscription({ body: { ...device, ...more } });
const arrived = (device: Device, count = 1) =>
  eventually(
    async () => service.to(device),
    (messages) => messages.length >= count,
  );
const dueNow = (id: string) =>
  world.sql('update push_messages set next_attempt_at = now(), lease_until = null where subscription_id = $1', [id]);
const messagesOf = (id: string) =>
  world.sql<{ outcome: string | null; attempts: number; wait: number }>(
    'select outcome, attempts, extract(epoch from next_attempt_at - now())::int as wait from push_messages where subscription_id = $1',
    [id],
  );

async function asks() {
  const { agentId } = await anAgentWithCard(world, owner);
  await world.sql('update policies set auto_approve_limit_cents = 5000, daily_limit_cents = null where agent_id = $1', [
    agentId,
  ]);
  return (expectedAmountEuros = 80, more: { ttlMinutes?: number } = {}) =>
    clientsOf(owner).intents.declareIntent({
      body: { agentId, purpose: 'a secret gift', expectedAmountEuros, expectedMerchant: 'Example Shop', ...more },
    });
}

const transfers = () => owner.client(transfersArea);
/** A person decides about it, because its bank knows another name. */
const toAnotherName = () => ({ to: { name: 'Erika Muster NOMATCH', iban: anIban() }, amountEuros: 10 });

/** An invited person with a passkey and the link. */
async function anna(by?: Awaited<ReturnType<typeof aPasskey>>) {
  const { token } = await anInvitation(owner, by === undefined ? {} : { by });
  const client = world.as('').client(passkeyInvitationsArea);
  const soft = softPasskey(world.config.publicUrl);
  const { challengeId, options } = await client.startEnrolment({ params: { token }, body: {} });
  await client.finishEnrolment({
    params: { token },
    body: { challengeId, attestation: soft.create(options) as never },
  });
  return { token, soft };
}

// spec: does:Push Subscriptions:web push subscription management
test('the owner subscribes devices, lists them, changes one and removes it; its keys are never returned', async () => {
  const device = aDevice();
  const raw = (body: object) =>
    fetch(new URL('/push-subscriptions', world.config.publicUrl), {
      method: 'POST',
      headers: { Authorization: `Bearer ${owner.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }).then(({ status }) => status);
  expect([await raw({ ...device, deviceName: 'My phone' }), await raw(aDevice())]).toEqual([201, 201]);
  expect(await raw({ ...device, keys: aDevice().keys, events: ['risk'], deviceName: 'Old phone' })).toBe(200);
  const { data } = await push().listPushSubscriptions({ query: {} });
  const known = data.find(({ endpoint }) => endpoint === device.endpoint);
  expect([data.length, known]).toEqual([2, expect.objectContaining({ events: ['risk'], deviceName: 'Old phone' })]);
  expect(JSON.stringify(data)).not.toMatch(/p256dh|"auth"|keys/);
  await push().deletePushSubscription({ params: { id: known?.id as never } });
  expect((await push().listPushSubscriptions({ query: {} })).data).toHaveLength(1);
  expect((await refusalOf(push().deletePushSubscription({ params: { id: known?.id as never } })))[0]).toBe(404);
});

test('a repeat whose answer was lost changes and tests a device no second time', async () => {
  const device = aDevice();
  const { id } = await subscribe(device);
  const headers = { 'Idempotency-Key': randomUUID() };
  const loseAnswer = () =>
    world.sql(
      `update idempotency set status = null, body = null, body_is_sealed = false, lease_until = null where key = $1`,
      [headers['Idempotency-Key']],
    );
  const change = () => push().createPushSubscription({ body: { ...device, events: ['risk'] }, headers });
  expect((await change()).events).toEqual(['risk']);
  await loseAnswer();
  await subscribe(device, { events: ['approval'] });
  expect((await change()).events).toEqual(['approval']);
  headers['Idempotency-Key'] = randomUUID();
  const ask = () => push().testPushSubscription({ params: { id: id as never }, headers });
  await ask();
  await loseAnswer();
  await ask();
  expect(await messagesOf(id)).toHaveLength(1);
  expect(await eventNamesOf(world, id)).toEqual([
    ...['device.created', 'device.updated'],
    ...['device.updated', 'device.tested'],
  ]);
});

describe('a device of the owner', () => {
  secureTest('gets an approval once, sealed for it alone, with the way to the approver’s page', async () => {
    const device = service.device();
    const { publicKey } = await push().getPushPublicKey();
    const subscribed = await subscribe(device, { deviceName: 'My phone', publicKey });
    expect(subscribed).toMatchObject({ endpoint: device.endpoint, events: ['approval', 'risk'], lastSuccessAt: null });
    const foreign = await (await world.owner())
      .client(pushSubscriptionsArea)
      .createPushSubscription({ body: service.device() });
    const declare = await asks();
    await declare(20); // The policy approves it: no person is needed.
    const intent = await declare();
    const [message, ...others] = await arrived(device);
    expect(others).toEqual([]);
    expect(JSON.parse(message?.text ?? '')).toEqual({
      title: 'Your approval is needed',
      body: 'A payment of 80.00 EUR waits for your decision.',
      tag: intent.id,
      url: new URL(intent.approvalUrl ?? '').pathname,
    });
    const topic = expect.stringMatching(/^[A-Za-z0-9_-]{32}$/);
    expect(message).toMatchObject({
      senderKey: publicKey,
      urgency: 'high',
      topic,
      contact: 'mailto:operator@bursar.invalid',
    });
    expect(message?.ttl).toBeGreaterThan(86_000);
    expect(message?.body.includes('approve/')).toBe(false);
    expect(service.faults).toEqual([]);
    expect(await messagesOf(foreign.id)).toEqual([]);
    await clientsOf(owner).intents.denyIntent({ params: { id: intent.id as never }, body: {} });
    const [read] = await eventually(
      async () => (await push().listPushSubscriptions({ query: {} })).data,
      ([one]) => one?.lastSuccessAt !== null,
    );
    expect(read?.lastSuccessAt).toEqual(expect.any(String));
    expect(JSON.stringify(read)).not.toMatch(/p256dh|auth"|keys/);
    expect(service.to(device)).toHaveLength(1);
  });

  secureTest(
    'is not told of an approval after its deadline: the push service keeps the message no longer',
    async () => {
      const device = service.device();
      await subscribe(device);
      await (await asks())(80, { ttlMinutes: 30 });
      const [message] = await arrived(device);
      expect(message?.ttl).toBeGreaterThan(29 * 60);
      expect(message?.ttl).toBeLessThanOrEqual(30 * 60);
    },
  );

  secureTest('gets risk alerts, as an invited person’s does, and only what it asked for', async () => {
    const [all, approvals, invited] = [service.device(), service.device(), service.device()];
    await subscribe(all);
    const { id: invitedsId } = await subscribe(invited);
    const { id: passkeyId } = await aPasskey(world, owner);
    await world.sql('update push_subscriptions set passkey_id = $2 where id = $1', [invitedsId, passkeyId]);
    const { id: approvalsOnly } = await subscribe(approvals, { events: ['approval'] });
    const data = JSON.stringify({});
    await world.sql(
      `insert into events (id, owner_id, subject_id, name, data, request_id, created_at)
       values ('ev_' || replace(gen_random_uuid()::text, '-', ''), $1, 'ag_12345678', 'risk.alert_created', $2, 'r', now())`,
      [owner.ownerId, data],
    );
    for (const device of [all, invited]) {
      const [alert] = await arrived(device);
      expect(JSON.parse(alert?.text ?? '')).toMatchObject({ title: 'Risk alert', url: null });
    }
    expect([await messagesOf(approvalsOnly), service.to(approvals)]).toEqual([[], []]);
  });

  secureTest('is tested by a message, and stays one device when it subscribes again', async () => {
    const device = service.device();
    const { id } = await subscribe(device);
    const again = await subscribe(
      { ...service.device(), endpoint: device.endpoint, keys: device.keys },
      { events: ['risk'] },
    );
    expect([again.id, again.events]).toEqual([id, ['risk']]);
    await push().testPushSubscription({ params: { id: id as never } });
    const [message] = await arrived(device);
    expect(JSON.parse(message?.text ?? '')).toMatchObject({ body: 'Notifications reach this device.' });
    const headers = { 'Idempotency-Key': 'test-once' };
    const { id: other } = await subscribe(service.device());
    await push().testPushSubscription({ params: { id: other as never }, headers });
    expect((await refusalOf(push().testPushSubscription({ params: { id: id as never }, headers })))[0]).toBe(409);
    await push().deletePushSubscription({ params: { id: other as never } });
    const stranger = (await world.owner()).client(pushSubscriptionsArea);
    expect((await refusalOf(stranger.testPushSubscription({ params: { id: id as never } })))[0]).toBe(404);
    await push().deletePushSubscription({ params: { id: id as never } });
    expect((await refusalOf(push().deletePushSubscription({ params: { id: id as never } })))[0]).toBe(404);
    expect(await eventNamesOf(world, id)).toEqual([
      ...['device.created', 'device.updated'],
      ...['device.tested', 'device.deleted'],
    ]);
  });
});

describe('a webhook that is disabled because its receiver is gone', () => {
  const webhooks = () => owner.client(webhooksArea);
  /** Its first delivery is answered with 410. */
  async function disabledWebhook() {
    const receiver = `${world.sandboxUrl}/receiver/gone-${randomUUID()}`;
    await fetch(`${receiver}/failures`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ count: 1, status: 410 }),
    });
    const body = { url: `${receiver}?key=hunter2`, events: ['card.shipped'] };
    const { id, secret } = await webhooks().createWebhook({ body });
    const params = { id };
    await webhooks().testWebhook({ params, body: {} });
    await eventually(
      () => webhooks().getWebhook({ params }),
      ({ status }) => status === 'disabled',
    );
    return { id, secret, receiver, params };
  }

  secureTest('is told to the owner’s devices that get alerts, by its host and the reason alone', async () => {
    const alerts = service.device();
    await subscribe(alerts);
    const { id: approvalsOnly } = await subscribe(service.device(), { events: ['approval'] });
    const { id: invitedsId } = await subscribe(service.device());
    await world.sql('update push_subscriptions set passkey_id = $2 where id = $1', [
      invitedsId,
      (await aPasskey(world, owner)).id,
    ]);
    const { id, secret, receiver } = await disabledWebhook();
    const [message, ...others] = await arrived(alerts);
    expect(others).toEqual([]);
    expect(JSON.parse(message?.text ?? '')).toEqual({
      title: 'Webhook disabled',
      body: `Events are no longer sent to ${new URL(receiver).host}: the receiver answered 410 Gone.`,
      tag: id,
      url: null,
    });
    for (const text of ['hunter2', '/receiver/', secret]) expect(message?.text).not.toContain(text);
    for (const other of [approvalsOnly, invitedsId]) expect(await messagesOf(other)).toEqual([]);
  });

  secureTest('is not told any more once its owner has made it active again', async () => {
    const device = service.device();
    const { id } = await subscribe(device);
    service.answers.push({ status: 503 });
    const { params } = await disabledWebhook();
    await eventually(
      () => messagesOf(id),
      ([one]) => (one?.wait ?? 0) > 0,
    );
    await webhooks().updateWebhook({ params, body: { status: 'active' } });
    await dueNow(id);
    await eventually(
      () => messagesOf(id),
      ([one]) => one?.outcome === 'obsolete',
    );
    expect(service.to(device)).toHaveLength(1);
  });
});

secureTest('a request that a person has decided is not announced any more', async () => {
  const device = service.device();
  const { id } = await subscribe(device);
  service.answers.push({ status: 503 });
  const intent = await (await asks())();
  await eventually(
    () => messagesOf(id),
    ([one]) => (one?.wait ?? 0) > 0,
  );
  await clientsOf(owner).intents.denyIntent({ params: { id: intent.id as never }, body: {} });
  await dueNow(id);
  await eventually(
    () => messagesOf(id),
    ([one]) => one?.outcome === 'obsolete',
  );
  expect(service.to(device)).toHaveLength(1);
});

secureTest('a charge that asks for a person is one notification, which leads to the request', async () => {
  const [both, risk] = [service.device(), service.device()];
  const { id: bothId } = await subscribe(both);
  await subscribe(risk, { events: ['risk'] });
  const intent = await (await asks())();
  await arrived(both);
  await world.sql(
    `insert into events (id, owner_id, subject_id, name, data, request_id, created_at)
     values ('ev_' || replace(gen_random_uuid()::text, '-', ''), $1, 'txn_12345678', 'risk.review_required', $2, 'r', now())`,
    [owner.ownerId, JSON.stringify({ intentId: intent.id })],
  );
  const [alert] = await arrived(risk);
  const url = new URL(intent.approvalUrl ?? '').pathname;
  expect(JSON.parse(alert?.text ?? '')).toMatchObject({ title: 'Risk alert', tag: intent.id, url });
  expect(await messagesOf(bothId)).toHaveLength(1);
});

describe('a transfer to a bank', () => {
  beforeEach(() => owner.client(fundArea).fundWallet({ body: { amountEuros: 100 } }));
  const subjectsOf = async (id: string) =>
    (
      await world.sql<{ subject: string }>(
        'select subject_id as subject from push_messages where subscription_id = $1 order by id',
        [id],
      )
    ).map(({ subject }) => subject);

  test('is announced while it waits for a person, and not to a device that comes after the decision', async () => {
    const { id: early } = await subscribe(aDevice());
    const { id } = await transfers().createTransfer({ body: toAnotherName() as never });
    const reaches = (status: string) =>
      eventually(
        () => transfers().getTransfer({ params: { id: id as never } }),
        (found) => found.status === status,
      );
    await reaches('pending_approval');
    const { id: late } = await subscribe(aDevice());
    await transfers().approveTransfer({ params: { id: id as never }, body: {} });
    await reaches('completed');
    expect(await eventNamesOf(world, id)).toContain('transfer.updated');
    expect([await subjectsOf(early), await subjectsOf(late)]).toEqual([[id], []]);
  });

  test('in a split is announced with the others, once', async () => {
    const { id: early } = await subscribe(aDevice());
    const splits = [toAnotherName(), toAnotherName()] as never[];
    const { id } = await transfers().createTransferSplit({ body: { splits } });
    const params = { splitId: id };
    const reaches = (isThere: (found: { status: string; transfers: readonly { status: string }[] }) => boolean) =>
      eventually(() => transfers().getTransferSplit({ params }), isThere);
    await reaches((found) => found.transfers.every(({ status }) => status === 'pending_approval'));
    const { id: late } = await subscribe(aDevice());
    await transfers().approveTransferSplit({ params, body: {} });
    await reaches(({ status }) => status === 'completed');
    expect([await subjectsOf(early), await subjectsOf(late)]).toEqual([[id], []]);
  });
});

describe('the push service', () => {
  secureTest.each([404, 410])('that answers %i ends the subscription', async (status) => {
    const device = service.device();
    const { id } = await subscribe(device);
    service.answers.push({ status });
    await push().testPushSubscription({ params: { id: id as never } });
    await eventually(
      () => push().listPushSubscriptions({ query: {} }),
      ({ data }) => data.length === 0,
    );
    expect(await eventNamesOf(world, id)).toContain('device.deleted');
  });

  secureTest.each([
    [201, 'delivered'],
    [410, undefined],
  ])('is understood when it answers %i and breaks off', async (status, outcome) => {
    const { id } = await subscribe(service.device());
    service.answers.push({ status, breaksOff: true });
    await push().testPushSubscription({ params: { id: id as never } });
    await eventually(
      () => messagesOf(id),
      ([one]) => (outcome === undefined ? one === undefined : one?.outcome === outcome),
    );
  });

  secureTest('holds back every message of a device until its time', async () => {
    const { id } = await subscribe(service.device());
    await world.sql(
      `insert into push_messages (subscription_id, kind, subject_id, next_attempt_at, expires_at, created_at)
       values ($1, 'test', $1, now() + interval '5 minutes', now() + interval '2 hours', now())`,
      [id],
    );
    service.answers.push({ status: 429, retryAfter: '1200' });
    await push().testPushSubscription({ params: { id: id as never } });
    await eventually(
      () => messagesOf(id),
      (all) => all.length === 2 && all.every(({ wait }) => wait > 600),
    );
  });

  secureTest('that is busy is asked again when it says so, a refusal is final', async () => {
    const [busy, broken] = [service.device(), service.device()];
    const { id } = await subscribe(busy);
    service.answers.push({ status: 429, retryAfter: '1200' }, { status: 503 });
    await push().testPushSubscription({ params: { id: id as never } });
    const waits = () => messagesOf(id).then(([one]) => one?.wait ?? 0);
    expect(await eventually(waits, (wait) => wait > 1_100)).toBeLessThanOrEqual(1_200);
    await dueNow(id);
    expect(await eventually(waits, (wait) => wait > 200)).toBeLessThanOrEqual(300); // The second gap: five minutes.
    await dueNow(id);
    await arrived(busy, 3);
    await eventually(
      () => messagesOf(id),
      ([one]) => one?.outcome === 'delivered',
    );
    const refused = await subscribe(broken);
    service.answers.push({ status: 413 });
    await push().testPushSubscription({ params: { id: refused.id as never } });
    await eventually(
      () => messagesOf(refused.id),
      ([one]) => one?.outcome === 'failed',
    );
    expect((await push().listPushSubscriptions({ query: {} })).data).toHaveLength(2);
  });

  secureTest('never gets a message that is being sent, and gets one whose worker died again', async () => {
    const device = service.device();
    const { id } = await subscribe(device);
    await world.sql(
      `insert into push_messages (subscription_id, kind, subject_id, attempts, lease_until, next_attempt_at, expires_at, created_at)
       values ($1, 'test', $1, 1, now() + interval '1 hour', now(), now() + interval '1 hour', now())`,
      [id],
    );
    await push().testPushSubscription({ params: { id: id as never } });
    await arrived(device);
    const outcomes = () => messagesOf(id).then((all) => all.map(({ outcome }) => outcome).toSorted());
    expect(await eventually(outcomes, ([one]) => one === 'delivered')).toEqual(['delivered', null]);
    await world.sql('update push_messages set lease_until = now() where subscription_id = $1', [id]);
    await arrived(device, 2);
  });
});

describe('the messages of a device', () => {
  const messages = (subscriptionId: string, fields: Record<string, string>) =>
    world.sql<{ id: number }>(
      `insert into push_messages (subscription_id, kind, subject_id, created_at, ${Object.keys(fields).join(', ')})
       values ($1, 'test', $1, now(), ${Object.values(fields).join(', ')}) returning id::int`,
      [subscriptionId],
    );

  test('are claimed by one of two workers, also at once', async () => {
    const { id } = await subscribe(aDevice());
    const many = (count: number, lease: string) =>
      world.sql<{ id: number }>(
        `insert into push_messages (subscription_id, kind, subject_id, lease_until, next_attempt_at, expires_at, created_at)
         select $1, 'test', $1, ${lease}, now(), now() + interval '1 hour', now() from generate_series(1, $2)
         returning id::int`,
        [id, count],
      );
    const leased = await many(5, `now() + interval '1 hour'`); // The world's worker takes no more of this owner.
    await many(40, 'null');
    const claim = (tx: Tx) => claimPushMessages(tx, 15, 100);
    const [one, other] = await inDatabase(world, (database) =>
      database.write(async (tx) => [await claim(tx), await database.write(claim)] as const),
    );
    const ids = [...one, ...other].map((claimed) => claimed.id);
    expect([one.length, other.length, new Set(ids).size]).toEqual([15, 15, 30]);
    const taken = 'select 1 from push_messages where id = any($1) and attempts > 0';
    expect(await world.sql(taken, [leased.map((message) => message.id)])).toEqual([]);
    await push().deletePushSubscription({ params: { id: id as never } });
  });

  test('ignore the result of an attempt that another worker has taken over', async () => {
    const { id: subscriptionId } = await subscribe(aDevice());
    const later = { next_attempt_at: `now() + interval '1 hour'`, expires_at: `now() + interval '2 hours'` };
    const [{ id } = { id: 0 }] = await messages(subscriptionId, { ...later, attempts: '2' });
    const cause = { causeId: 'push/1', requestId: 'push/1', actor: { kind: 'system' }, at: new Date() } as const;
    const delivered = (attempts: number) =>
      inDatabase(world, (database) =>
        database.write((tx) =>
          recordPushResult(tx, { id, attempts, subscriptionId, sealedKeys: '' } as never, { kind: 'delivered' }, cause),
        ),
      );
    await delivered(1);
    expect(await messagesOf(subscriptionId)).toMatchObject([{ outcome: null, attempts: 2 }]);
    await delivered(2);
    expect(await messagesOf(subscriptionId)).toMatchObject([{ outcome: 'delivered', attempts: 2 }]);
  });

  test('of a device that is gone end without a deadlock, also at once', async () => {
    const { id: subscriptionId } = await subscribe(aDevice());
    const later = { next_attempt_at: `now() + interval '1 hour'`, expires_at: `now() + interval '2 hours'` };
    const [first] = await messages(subscriptionId, { ...later, attempts: '1' });
    const [second] = await messages(subscriptionId, { ...later, attempts: '1' });
    const [device] = await world.sql<{ sealedKeys: string }>(
      'select sealed_keys as "sealedKeys" from push_subscriptions where id = $1',
      [subscriptionId],
    );
    const cause = { causeId: 'push/3', requestId: 'push/3', actor: { kind: 'system' }, at: new Date() } as const;
    const before = await deadlocksIn(world);
    const client = new pg.Client({ connectionString: world.ownerUrl });
    await client.connect();
    try {
      await client.query('begin');
      // Both results wait for the lock of the device, and continue together.
      await client.query('select 1 from push_subscriptions where id = $1 for update', [subscriptionId]);
      const both = [first, second].map((one) =>
        inDatabase(world, (database) =>
          database.write((tx) =>
            recordPushResult(tx, { ...one, ...device, attempts: 1, subscriptionId } as never, { kind: 'gone' }, cause),
          ),
        ),
      );
      await someoneWaits(world, { count: 2 });
      await client.query('commit');
      await Promise.all(both);
    } finally {
      await client.end();
    }
    expect(await deadlocksIn(world)).toBe(before);
    expect((await push().listPushSubscriptions({ query: {} })).data).toEqual([]);
  });

  test('of a device that subscribed again: it stays when a late answer says that it is gone', async () => {
    const { id: subscriptionId } = await subscribe(aDevice());
    const later = { next_attempt_at: `now() + interval '1 hour'`, expires_at: `now() + interval '2 hours'` };
    const [{ id } = { id: 0 }] = await messages(subscriptionId, { ...later, attempts: '1' });
    const cause = { causeId: 'push/2', requestId: 'push/2', actor: { kind: 'system' }, at: new Date() } as const;
    const former = { id, attempts: 1, subscriptionId, sealedKeys: 'those of before' } as never;
    await inDatabase(world, (database) =>
      database.write((tx) => recordPushResult(tx, former, { kind: 'gone' }, cause)),
    );
    expect(await messagesOf(subscriptionId)).toMatchObject([{ outcome: 'gone' }]);
    expect((await push().listPushSubscriptions({ query: {} })).data).toMatchObject([{ id: subscriptionId }]);
  });

  test('are kept until they are sent, and then for six days after their end', async () => {
    const { id } = await subscribe(aDevice());
    const ended = (days: number) => `now() - interval '${days} days'`;
    await messages(id, { next_attempt_at: `now() + interval '1 hour'`, expires_at: ended(9), attempts: '1' });
    await messages(id, { outcome: `'delivered'`, expires_at: ended(5), attempts: '2' });
    await messages(id, { outcome: `'delivered'`, expires_at: ended(7), attempts: '3' });
    await inDatabase(world, (database) => database.write(purgePushMessages));
    expect((await messagesOf(id)).map(({ attempts }) => attempts).toSorted()).toEqual([1, 2]);
  });
});

test('the first devices of a deployment get one key, also at once', async () => {
  await world.sql('update push_keys set is_current = false where is_current');
  const client = new pg.Client({ connectionString: world.ownerUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('lock table push_keys in share row exclusive mode');
    const asked = Promise.all(Array.from({ length: 12 }, () => push().getPushPublicKey()));
    // Several transactions have found no key, and wait to make one.
    await eventually(
      () => world.sql(`select 1 from pg_locks where relation = 'push_keys'::regclass and not granted`),
      (waiting) => waiting.length >= 2,
    );
    await client.query('commit');
    expect(new Set((await asked).map(({ publicKey }) => publicKey)).size).toBe(1);
  } finally {
    await client.end();
  }
});

secureTest('after a rotation a device keeps its key until it subscribes again', async () => {
  const device = service.device();
  const { publicKey } = await push().getPushPublicKey();
  const { id } = await subscribe(device);
  const said: string[] = [];
  const env = { DATABASE_URL: world.ownerUrl, BURSAR_VAULT_KEY: world.config.BURSAR_VAULT_KEY };
  expect(await runCommand(['keys', 'rotate-push'], env, (text) => said.push(text))).toBe(0);
  const { publicKey: fresh } = await push().getPushPublicKey();
  expect([fresh === publicKey, said.join('').includes(fresh)]).toEqual([false, true]);
  await push().testPushSubscription({ params: { id: id as never } });
  expect((await arrived(device))[0]?.senderKey).toBe(publicKey);
  await subscribe(device, { events: ['risk'] }); // Without a key: the endpoint is bound to the former one.
  await push().testPushSubscription({ params: { id: id as never } });
  expect((await arrived(device, 2))[1]?.senderKey).toBe(publicKey);
  await subscribe(device, { publicKey: fresh });
  await push().testPushSubscription({ params: { id: id as never } });
  expect((await arrived(device, 3))[2]?.senderKey).toBe(fresh);
});

describe('devices that never answer or are being deleted', () => {
  secureTest('do not delay those of another owner when they never answer', async () => {
    const hanging = await Promise.all(Array.from({ length: 3 }, () => subscribe(service.device())));
    for (const { endpoint } of hanging) service.silent.add(endpoint);
    const ids = hanging.map(({ id }) => id);
    await world.sql(
      `insert into push_messages (subscription_id, kind, subject_id, next_attempt_at, expires_at, created_at)
       select id, 'risk', 'ag_12345678', now() - interval '1 minute', now() + interval '1 hour', now()
       from unnest($1::text[]) as id, generate_series(1, 20)`,
      [ids],
    );
    const underWay = async () =>
      (await world.sql('select 1 from push_messages where subscription_id = any($1) and lease_until > now()', [ids]))
        .length;
    expect(await eventually(underWay, (count) => count > 0)).toBeLessThanOrEqual(5);
    const other = (await world.owner()).client(pushSubscriptionsArea);
    const device = service.device();
    const { id } = await other.createPushSubscription({ body: device });
    await other.testPushSubscription({ params: { id: id as never } });
    await eventually(
      async () => {
        expect(await underWay()).toBeLessThanOrEqual(5);
        return service.to(device);
      },
      (messages) => messages.length > 0,
    );
    for (const one of ids) await push().deletePushSubscription({ params: { id: one as never } });
  });

  secureTest('hold up no request while they are being deleted', async () => {
    const [leaving, staying] = [service.device(), service.device()];
    const { id } = await subscribe(leaving);
    await subscribe(staying);
    const declare = await asks();
    const client = new pg.Client({ connectionString: world.ownerUrl });
    await client.connect();
    try {
      await client.query('begin');
      await client.query('delete from push_subscriptions where id = $1', [id]);
      const { id: intentId } = await declare();
      expect(JSON.parse((await arrived(staying))[0]?.text ?? '').tag).toBe(intentId);
      await client.query('commit');
    } finally {
      await client.end();
    }
    expect(service.to(leaving)).toEqual([]);
  });
});

describe('an invited person', () => {
  const invited = () => world.as('').client(pushSubscriptionsArea);

  secureTest(
    'subscribes with link and passkey, without an API key, and hears until the passkey is removed',
    async () => {
      const first = await aPasskey(world, owner);
      const { token, soft } = await anna(first);
      const device = service.device();
      const params = { token };
      const { publicKey } = await invited().getInvitedPublicKey({ params });
      const challenge = () => invited().createDeviceChallenge({ params, body: { endpoint: device.endpoint } });
      const create = (webauthnAssertion: { challengeId: string; assertion: never }, more: object = {}) =>
        invited().createInvitedDevice({ params, body: { ...device, publicKey, ...more, webauthnAssertion } });
      const elsewhere = { endpoint: `${service.origin}/send/other` };
      expect(await refusalOf(create(soft.answer(await challenge()), elsewhere))).toEqual([
        400,
        expect.stringMatching(/was made for another device/),
      ]);
      expect(await refusalOf(create(first.answer(await challenge())))).toEqual([
        403,
        expect.stringMatching(/use the one that was enrolled with this link/),
      ]);
      const owners = service.device();
      await subscribe(owners);
      const onOwners = { params, body: { endpoint: owners.endpoint } };
      const taken = soft.answer(await invited().createDeviceChallenge(onOwners));
      expect(await refusalOf(create(taken, { endpoint: owners.endpoint }))).toEqual([
        400,
        'this endpoint is a device of the owner or of another person',
      ]);
      const unknown = { ...params, token: '0'.repeat(32) };
      const body = { ...device, publicKey, webauthnAssertion: soft.answer(await challenge()) };
      for (const call of [
        invited().createDeviceChallenge({ params: unknown, body: { endpoint: device.endpoint } }),
        invited().createInvitedDevice({ params: unknown, body }),
      ]) {
        expect((await refusalOf(call))[0]).toBe(404);
      }
      await create(soft.answer(await challenge()));
      await create(soft.answer(await challenge())); // The same device again changes what is kept of it.
      const declare = await asks();
      const { id: intentId } = await declare();
      expect(JSON.parse((await arrived(device))[0]?.text ?? '').tag).toBe(intentId);

      const passkeys = owner.client(passkeysArea);
      const subjectId = (await passkeys.listPasskeys()).find(({ name }) => name === 'Anna Berg')?.id ?? '';
      const remove = await passkeys.createPasskeyChallenge({
        body: { purpose: 'revoke_passkey', subjectId: subjectId as never },
      });
      await passkeys.revokePasskey({
        params: { id: subjectId as never },
        body: { webauthnAssertion: first.answer(remove) },
      });
      expect((await push().listPushSubscriptions({ query: {} })).data.map(({ endpoint }) => endpoint)).toEqual([
        owners.endpoint,
      ]);
      expect(await refusalOf(challenge())).toEqual([400, 'no passkey is enrolled with this link']);
    },
  );
});

describe('what a caller supplies', () => {
  secureTest.each([
    ['http', 'http://push.example.com/x', /https/],
    ['a private address', 'https://10.0.0.1/x', /10\.0\.0\.1|private/],
    ['a private address in disguise', 'https://[::ffff:127.0.0.1]/x', /./],
    ['a name without a dot', 'https://localhost/x', /./],
    ['no address', 'push', /./],
  ])('%s is no endpoint', async (_what, endpoint, why) => {
    expect(await refusalOf(subscribe({ ...service.device(), endpoint }))).toEqual([400, expect.stringMatching(why)]);
  });

  secureTest('keys that are none are refused, and a name that leads inside is not dialled', async () => {
    const { endpoint, keys } = service.device();
    const wrong = [
      { ...keys, auth: 'AAAA' },
      { ...keys, p256dh: 'AAAA' },
      { ...keys, p256dh: Buffer.concat([Buffer.of(4), Buffer.alloc(64, 7)]).toString('base64url') },
    ];
    for (const bad of wrong) {
      expect(await refusalOf(subscribe({ endpoint, keys: bad }))).toEqual([400, expect.stringMatching(/body\.keys/)]);
    }
    expect((await refusalOf(subscribe({ endpoint, keys }, { publicKey: keys.p256dh })))[1]).toMatch(
      /no key of this deployment/,
    );
    const resolve = async () => [{ address: '192.168.1.20', family: 4 }];
    const outbound = createOutbound({ allowedOrigins: [], resolve });
    const sender = {
      publicKey: (await push().getPushPublicKey()).publicKey,
      privateKey: Buffer.alloc(32, 1).toString('base64url'),
    };
    const message = {
      endpoint: 'https://push.example/x',
      keys,
      sender,
      payload: '{}',
      ttlSeconds: 60,
      isUrgent: true,
      topic: 't',
    };
    const answer = await createWebPush({ outbound, contact: 'mailto:a@b.example' }).send(message);
    expect([answer.status, answer.why]).toEqual([null, expect.stringContaining('192.168.1.20, which is private')]);
    await outbound.close();
  });
});

secureTest('neither keys nor links are stored in clear text', async () => {
  const device = service.device();
  await subscribe(device);
  const intent = await (await asks())();
  await arrived(device);
  const link = intent.approvalUrl?.split('/').at(-1) ?? 'none';
  const tables = await world.sql<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  for (const { name } of tables) {
    for (const secret of [device.keys.auth, device.keys.p256dh, link]) {
      expect([name, await world.sql(`select 1 from ${name} t where t::text like $1`, [`%${secret}%`])]).toEqual([
        name,
        [],
      ]);
    }
  }
});

// The last test: it moves the clock.
test('a split of which a line comes back is announced to nobody, because no one was needed', async () => {
  await owner.client(fundArea).fundWallet({ body: { amountEuros: 100 } });
  const { id: device } = await subscribe(aDevice());
  const line = (reference?: string) => ({ to: { name: 'Erika Muster', iban: anIban() }, amountEuros: 10, reference });
  const splits = [line(), line('RETURN')] as never[];
  const { id } = await transfers().createTransferSplit({ body: { splits } });
  const reaches = (wanted: string) =>
    eventually(
      () => transfers().getTransferSplit({ params: { splitId: id } }),
      ({ status }) => status === wanted,
    );
  await reaches('completed');
  await world.advance(5 * day);
  await reaches('partially_completed');
  expect(await eventNamesOf(world, id)).toContain('transfer.split.updated');
  expect(await messagesOf(device)).toEqual([]);
});
