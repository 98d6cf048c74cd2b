/**
 * Goal: what follows from a call through workflows and network messages carries the call's request id and run id, in
 * events, journals, transactions and deliveries. Method: real HTTP, the real worker, the sandbox's network and receiver.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { day, hour } from '../../../src/kernel/instant.ts';
import { aPasskey } from '../../support/factories/passkeys.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { expireIn, networkOf, type Payer, sandboxShop } from '../../support/payments-world.ts';
import { businessNow, eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let temporal: OpenTemporal;
let owner: Owner;
let agentId: string;
let cardId: string;
let network: ReturnType<typeof networkOf>;
let payer: Payer;
const box = `box-${randomUUID().slice(0, 8)}`;

beforeAll(async () => {
  world = await startWorld({ worker: true });
  temporal = await openTemporal();
  network = networkOf(world);
  owner = await world.owner();
  const api = clientsOf(owner);
  await api.fund.fundWallet({ body: { amountEuros: 5_000 } });
  const created = await post<{ id: string; cardId: string }>('/agents', { name: 'buyer' }, 'run-agent');
  ({ id: agentId, cardId } = created.body);
  expect(await callsOf(cardId)).toEqual({ 'card.issued': [created.call], 'card.activated': [created.call] });
  const unlimited = { dailyLimitEuros: null, monthlyLimitEuros: null, maxTransactionEuros: null, requireIntent: false };
  await api.policies.updateAgentPolicy({ params: { agentId: created.body.id as never }, body: unlimited });
  await api.webhooks.createWebhook({ body: { url: `${world.sandboxUrl}/receiver/${box}`, events: ['*'] } });
  const [card] = await world.sql<{ card_ref: string }>('select card_ref from cards where id = $1', [cardId]);
  payer = { cardRef: card?.card_ref ?? '' } as Payer;
});
afterAll(async () => {
  await temporal.close();
  await world.close();
});

type Ids = { readonly requestId: string; readonly runId: string | null };

/** A request with a new run id, and the ids of the request. */
async function post<Body>(path: string, body: object | undefined, runId?: string, bearer = owner.key) {
  const headers = {
    'Content-Type': 'application/json',
    ...(bearer === '' ? {} : { Authorization: `Bearer ${bearer}` }),
    'Idempotency-Key': randomUUID(),
    ...(runId === undefined ? {} : { 'X-Service-Run-Id': runId }),
  };
  const answer = await fetch(`${world.apiUrl}${path}`, {
    method: 'POST',
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect([answer.status, answer.ok ? '' : await answer.text()]).toEqual([expect.any(Number), '']);
  expect(answer.ok).toBe(true);
  const call: Ids = { requestId: answer.headers.get('x-request-id') ?? '', runId: runId ?? null };
  return { body: (await answer.json()) as Body, call };
}

/** Of each event of that subject: the ids that it was recorded under. */
async function callsOf(subjectId: string): Promise<Record<string, Ids[]>> {
  const found = await world.sql<{ name: string } & Ids>(
    'select name, request_id as "requestId", run_id as "runId" from events where subject_id = $1 order by seq',
    [subjectId],
  );
  const names: Record<string, Ids[]> = {};
  for (const { name, ...ids } of found) names[name] = [...(names[name] ?? []), ids];
  return names;
}

const journalsOf = (transactionId: string) =>
  world.sql<{ kind: string } & Ids>(
    `select kind, request_id as "requestId", run_id as "runId" from journals where reference_id = $1 order by created_at, id`,
    [transactionId],
  );

const declare = (amountEuros: number, runId?: string, more: object = {}) =>
  post<{ id: string; approvalUrl: string | null }>(
    '/intents',
    { agentId, purpose: 'a thing', expectedAmountEuros: amountEuros, expectedMerchant: 'Sandbox Shop', ...more },
    runId,
  );
const intentEnds = (id: string, status: string) =>
  eventually(
    () => world.sql<{ status: string }>('select status from intents where id = $1', [id]),
    ([row]) => row?.status === status,
  );

/** Transaction, its events, its journals and its intent's later events all carry `call`; messages keep their own id. */
async function expectFollows(transactionId: string, call: Ids, journals: string[]): Promise<void> {
  const { transactions } = clientsOf(owner);
  const shown = await transactions.getTransaction({ params: { id: transactionId as never } });
  expect({ requestId: shown.requestId, runId: shown.runId }).toEqual(call);
  for (const [name, ids] of Object.entries(await callsOf(transactionId))) {
    expect([name, ...ids]).toEqual([name, ...ids.map(() => call)]);
  }
  const booked = await journalsOf(transactionId);
  expect(booked).toEqual(journals.map((kind) => ({ kind, ...call })));
  const own = shown.events.map(({ requestId }) => requestId);
  expect(own.every((id) => typeof id === 'string' && id !== '' && id !== call.requestId)).toBe(true);
  expect(new Set(own).size).toBe(own.length);
}

test('execute: authorization, clearing, intent, journals and deliveries carry it', async () => {
  const declared = await declare(12.5, 'run-declare');
  const intentId = declared.body.id;
  const targetUrl = `${world.sandboxUrl}/shops/sandbox-shop?amountCents=1250`;
  const executed = await post<{ transactionId: string }>('/checkout/execute', { intentId, targetUrl }, 'run-execute');
  await intentEnds(intentId, 'completed');
  const { transactionId } = executed.body;
  await expectFollows(transactionId, executed.call, ['authorization', 'clearing']);
  expect(await callsOf(intentId)).toEqual({
    'intent.created': [declared.call],
    'intent.approved': [declared.call],
    'intent.matched': [executed.call],
    'intent.completed': [executed.call],
  });
  const heard = await eventually(
    async () => ((await (await fetch(`${world.sandboxUrl}/receiver/${box}`)).json()) as Heard).deliveries,
    (deliveries) => deliveries.some(({ body }) => body.includes('transaction.completed')),
  );
  const completed = heard.find(({ body }) => body.includes('transaction.completed'));
  expect(completed?.headers).toMatchObject({
    'x-request-id': executed.call.requestId,
    'x-service-run-id': 'run-execute',
  });
});
type Heard = { deliveries: { headers: Record<string, string>; body: string }[] };

test('execute without a run id belongs to the run of its intent', async () => {
  const declared = await declare(12.5, 'run-of-intent');
  const targetUrl = `${world.sandboxUrl}/shops/sandbox-shop?amountCents=1250`;
  const { body, call } = await post<{ transactionId: string }>('/checkout/execute', {
    intentId: declared.body.id,
    targetUrl,
  });
  await intentEnds(declared.body.id, 'completed');
  await expectFollows(body.transactionId, { ...call, runId: 'run-of-intent' }, ['authorization', 'clearing']);
});

test('simulate', async () => {
  const { body, call } = await post<{ id: string }>(
    '/transactions/simulate',
    { cardId, amountEuros: 7, merchant: 'Simulated' },
    'run-simulate',
  );
  const events = await eventually(
    () => callsOf(body.id),
    (found) => 'transaction.completed' in found,
  );
  expect(Object.keys(events)).toContain('transaction.authorization');
  await expectFollows(body.id, call, ['authorization', 'clearing']);
});

test('confirm before the authorization: the transaction that it made is linked under its ids', async () => {
  const declared = await declare(21, 'run-declare');
  const confirmed = await post<{ transactionId: string }>(
    '/checkout/confirm',
    { intentId: declared.body.id },
    'run-confirm',
  );
  const { transactionId } = confirmed.body;
  const { body } = await network.authorize(payer, { amountCents: 2_100, id: 'auth_confirmed' });
  expect(body).toMatchObject({ decision: 'approved', transactionId });
  await network.clear(payer, { authorizationId: 'auth_confirmed', amountCents: 2_100 });
  await expectFollows(transactionId, confirmed.call, ['authorization', 'clearing']);
  expect((await callsOf(declared.body.id))['intent.completed']).toEqual([confirmed.call]);
});

test('a declaration alone: the charge by the network, its reversal, and its expiry', async () => {
  const declared = await declare(33, 'run-declare');
  const { body } = await network.authorize(payer, { amountCents: 3_300, id: 'auth_declared' });
  expect(body.decision).toBe('approved');
  await network.reverse(payer, { authorizationId: 'auth_declared', amountCents: 300 });
  await expireIn(world, new Date((await businessNow(world)).getTime() + 40 * day));
  await expectFollows(body.transactionId ?? '', declared.call, ['authorization', 'reversal', 'hold_expiry']);
  expect((await callsOf(declared.body.id))['intent.matched']).toEqual([declared.call]);
});

test('a clearing before its authorization is booked under the ids of the payment and keeps its own', async () => {
  const declared = await declare(44, 'run-declare');
  const sent = await signedPost('clearings', {
    id: 'clr_early',
    authorizationId: 'auth_early',
    cardRef: payer.cardRef,
    amountCents: 4_400,
    final: true,
    merchant: sandboxShop,
  });
  const { body } = await network.authorize(payer, { amountCents: 4_400, id: 'auth_early' });
  const { transactions } = clientsOf(owner);
  const shown = await transactions.getTransaction({ params: { id: body.transactionId as never } });
  expect(shown.events.find(({ kind }) => kind === 'clearing')?.requestId).toBe(sent);
  for (const { requestId, runId } of await journalsOf(shown.id)) expect({ requestId, runId }).toEqual(declared.call);
});

test('a charge without a call of the API carries the id of its network message', async () => {
  const id = `auth_${randomUUID()}`;
  const requestId = await signedPost('authorizations', {
    ...network.authorizationOf(payer, { id, amountCents: 5 }),
    merchant: { ...sandboxShop, name: 'Without a call', id: 'without-a-call' },
  });
  const [row] = await world.sql<{ id: string } & Ids>(
    'select id, request_id as "requestId", run_id as "runId" from transactions where authorization_id = $1',
    [id],
  );
  expect(row).toMatchObject({ requestId, runId: null });
  for (const ids of Object.values(await callsOf(row?.id ?? '')))
    expect(ids).toEqual(ids.map(() => ({ requestId, runId: null })));
});

/** As the network sends it; returns the request id of the message. */
async function signedPost(kind: string, message: object): Promise<string> {
  const before = new Set((await world.sql<Seen>('select request_id from network_messages')).map(idOf));
  await network.send(kind, message);
  const after = (await world.sql<Seen>('select request_id from network_messages')).map(idOf);
  return after.find((id) => !before.has(id)) ?? '';
}
type Seen = { request_id: string };
const idOf = ({ request_id }: Seen): string => request_id;

test('approve through the API, through the page and by signal', async () => {
  const passkey = await aPasskey(world, owner);
  const byKey = await declare(80, 'run-one');
  const approved = await post(`/intents/${byKey.body.id}/approve`, undefined, 'run-approver');
  expect((await callsOf(byKey.body.id))['intent.approved']).toEqual([approved.call]);
  const without = await declare(80, 'run-one');
  const { call } = await post(`/intents/${without.body.id}/approve`, undefined);
  expect((await callsOf(without.body.id))['intent.approved']).toEqual([{ ...call, runId: 'run-one' }]);

  const onPage = await declare(80, 'run-two');
  const path = new URL(onPage.body.approvalUrl ?? '').pathname;
  const { body } = await post<Parameters<typeof passkey.answer>[0]>(`${path}/challenge`, undefined, undefined, '');
  const page = await post(`${path}`, { webauthnAssertion: passkey.answer(body) }, undefined, '');
  expect((await callsOf(onPage.body.id))['intent.approved']).toEqual([{ ...page.call, runId: 'run-two' }]);

  const bySignal = await declare(80, 'run-three');
  await temporal.started(`intent/${bySignal.body.id}`);
  await temporal.signal(`intent/${bySignal.body.id}`, 'decide', { decision: 'approve', by: 'anna' });
  await intentEnds(bySignal.body.id, 'approved');
  expect((await callsOf(bySignal.body.id))['intent.approved']).toEqual([bySignal.call]);
});

test('an intent that expires carries the declaration', async () => {
  const declared = await declare(80, 'run-expiring', { ttlMinutes: 30 });
  await world.advance(hour);
  await intentEnds(declared.body.id, 'expired');
  expect((await callsOf(declared.body.id))['intent.expired']).toEqual([declared.call]);
});

test('cards: issue and rotate carry their call, and so does a freeze that the processor learns of later', async () => {
  const issued = await post<{ id: string }>(
    `/cards/agent/${agentId}`,
    { name: 'second', purpose: 'another card', usage: 'multi' },
    'run-issue',
  );
  expect(await callsOf(issued.body.id)).toEqual({ 'card.issued': [issued.call], 'card.activated': [issued.call] });
  const frozen = await post(`/cards/${issued.body.id}/freeze`, undefined, 'run-freeze');
  await eventually(
    () => world.sql<{ synced_state: string }>('select synced_state from cards where id = $1', [issued.body.id]),
    ([row]) => row?.synced_state === 'frozen',
  );
  await post(`/cards/${issued.body.id}/unfreeze`, undefined);
  const rotated = await post<{ id: string }>(`/cards/${issued.body.id}/rotate`, undefined, 'run-rotate');
  const before = await callsOf(issued.body.id);
  expect(before['card.frozen']).toEqual([frozen.call]);
  expect(before['card.closed']).toEqual([rotated.call]);
  const [next] = await world.sql<{ id: string }>('select id from cards where replaces_card_id = $1', [issued.body.id]);
  for (const ids of Object.values(await callsOf(next?.id ?? ''))) expect(ids).toEqual(ids.map(() => rotated.call));
});
