/**
 * Goal: evidence is kept beside its intent, seen by who may see the intent, and never fetched. Method: real HTTP and
 * rows; the address of a server that counts who comes.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { eventsOf } from '../../support/events.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { anIntent, aPayer, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let payer: Payer;
let api: ReturnType<typeof clientsOf>;
let asAgent: ReturnType<typeof clientsOf>;
let intentId: string;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});
beforeEach(async () => {
  payer = await aPayer(world);
  api = clientsOf(payer.owner);
  asAgent = clientsOf(world.as(payer.token));
  intentId = await anIntent(world, payer);
});

const keep = (more: object = {}) => asAgent.evidence.createEvidence({ body: { intentId, ...more } });
const list = (of = intentId, as = api) => as.evidence.listEvidence({ query: { intentId: of } });
const audits = (id: string) =>
  world
    .sql<{ action: string; actor: string }>(
      'select action, actor from audit where subject_id = $1 order by created_at',
      [id],
    )
    .then((found) => found.map(({ action, actor }) => `${action} by ${actor.split(':')[0]}`));

// spec: does:Evidence:intent evidence (receipts, screenshots, invoices)
test('given fields are returned as given, and omitted ones are null', async () => {
  const given = {
    type: 'invoice' as const,
    description: 'March, second page',
    url: 'HTTP://Files.example.com:8080/a%20b?token=1#p2',
    amountEuros: 12.5,
    merchant: 'Sandbox Shop',
  };
  const full = await keep(given);
  expect(full).toMatchObject({ ...given, intentId, agentId: payer.agentId, ownerId: payer.owner.ownerId });
  expect(full.id).toMatch(/^evd_/);
  const bare = await keep();
  expect(bare).toMatchObject({ type: 'other', description: null, url: null, amountEuros: null, merchant: null });
  expect(await list()).toEqual([full, bare]);
  expect(await asAgent.evidence.getEvidence({ params: { id: full.id } })).toEqual(full);
});

test('creation and deletion have events and audit rows, without address and description', async () => {
  const { id } = await keep({ url: 'https://files.example.com/secret', description: 'private words' });
  await api.evidence.deleteEvidence({ params: { id } });
  const told = (await eventsOf(world, payer.owner.ownerId)).filter(({ name }) => name.startsWith('evidence.'));
  expect(told.map(({ name }) => name)).toEqual(['evidence.created', 'evidence.deleted']);
  expect(told[0]?.data).toMatchObject({ id, intentId, agentId: payer.agentId, type: 'other' });
  expect(JSON.stringify(told)).not.toMatch(/files\.example|private words/);
  expect(await audits(id)).toEqual(['evidence.created by agent', 'evidence.deleted by key']);
  expect(await list()).toEqual([]);
  await expect(api.evidence.getEvidence({ params: { id } })).rejects.toMatchObject({ status: 404 });
  await expect(api.evidence.deleteEvidence({ params: { id } })).rejects.toMatchObject({ status: 404 });
});

test('its address is never fetched', async () => {
  let visits = 0;
  const server = createServer((_request, response) => {
    visits += 1;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { id } = await keep({ url: `http://127.0.0.1:${port}/receipt.pdf` });
  await list();
  await api.evidence.getEvidence({ params: { id } });
  await api.evidence.deleteEvidence({ params: { id } });
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(visits).toBe(0);
  await new Promise((resolve) => server.close(resolve));
});

test('the same key keeps it once', async () => {
  const headers = { 'Idempotency-Key': randomUUID() };
  const body = { intentId, type: 'receipt' as const };
  const first = await asAgent.evidence.createEvidence({ body, headers });
  expect(await asAgent.evidence.createEvidence({ body, headers })).toEqual(first);
  expect(await list()).toEqual([first]);
});

test('others do not see it: 404 for another owner, 403 for another agent, and only an owner deletes', async () => {
  const { id } = await keep();
  const stranger = clientsOf((await aPayer(world)).owner);
  const sibling = clientsOf(world.as((await aPayer(world, { owner: payer.owner })).token));
  for (const [who, status] of [
    [stranger, 404],
    [sibling, 403],
  ] as const) {
    await expect(who.evidence.getEvidence({ params: { id } })).rejects.toMatchObject({ status });
    await expect(list(intentId, who)).rejects.toMatchObject({ status });
    await expect(who.evidence.createEvidence({ body: { intentId } })).rejects.toMatchObject({ status });
    await expect(who.evidence.deleteEvidence({ params: { id } })).rejects.toMatchObject({ status });
  }
  await expect(asAgent.evidence.deleteEvidence({ params: { id } })).rejects.toMatchObject({ status: 403 });
  expect(await list()).toHaveLength(1);
});

test('a token without the scope can neither read nor write', async () => {
  await world.sql('update agent_tokens set scopes = $2 where agent_id = $1', [payer.agentId, ['intents.read']]);
  await expect(keep()).rejects.toMatchObject({ status: 403, message: expect.stringContaining('evidence.write') });
  await expect(list(intentId, asAgent)).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining('evidence.read'),
  });
});

test.each<[string, object, RegExp]>([
  ['no intent', { intentId: undefined }, /intentId/],
  ['an id of another kind', { intentId: 'tx_aaaaaaaaaaaa' }, /intentId/],
  ['an unheard-of type', { type: 'photo' }, /type/],
  ['an address that is none', { url: 'files.example.com' }, /url: must be an http or https address/],
  ['another protocol', { url: 'javascript:alert(1)' }, /url/],
  ['a password in it', { url: 'https://a:b@example.com/' }, /without user and password/],
  ['an amount below zero', { amountEuros: -0.01 }, /amountEuros/],
  ['three decimals', { amountEuros: 1.005 }, /amountEuros/],
  ['a description without end', { description: 'x'.repeat(2_001) }, /description/],
  ['a field that is none', { file: 'x' }, /file/],
])('%s is refused', async (_what, more, message) => {
  await expect(keep(more)).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) });
  expect(await list()).toEqual([]);
});

test('a list needs its intent, and an intent that is not there has none', async () => {
  const answer = await fetch(`${world.apiUrl}/evidence`, { headers: { Authorization: `Bearer ${payer.owner.key}` } });
  expect(answer.status).toBe(400);
  expect(((await answer.json()) as { error: string }).error).toMatch(/intentId/);
  await expect(list('int_aaaaaaaaaaaaaaaa')).rejects.toMatchObject({ status: 404 });
  await expect(api.evidence.createEvidence({ body: { intentId: 'int_aaaaaaaaaaaaaaaa' } })).rejects.toMatchObject({
    status: 404,
  });
});

test('an intent takes a hundred, also with two concurrent requests for the last place', async () => {
  await world.sql(
    `insert into evidence (id, owner_id, agent_id, intent_id, type, request_id, created_at)
     select 'evd_filler' || n, $1, $2, $3, 'other', 'req', now() from generate_series(1, 99) n`,
    [payer.owner.ownerId, payer.agentId, intentId],
  );
  const both = await Promise.allSettled([keep(), keep()]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(keep()).rejects.toMatchObject({ status: 400, message: expect.stringContaining('100 is the limit') });
});
