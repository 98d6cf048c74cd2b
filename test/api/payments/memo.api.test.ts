/** Goal: a memo on a transaction is in no event and no audit row. Method: real payments over HTTP. @module */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { aPayer, networkOf, type Payer } from '../../support/payments-world.ts';
import { refusal } from '../../support/refusals.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
let payer: Payer;
let id: `tx_${string}`;
let authorizationId: string;
beforeAll(async () => {
  world = await startWorld();
  network = networkOf(world);
});
afterAll(async () => {
  await world.close();
});
beforeEach(async () => {
  payer = await aPayer(world);
  const message = network.authorizationOf(payer);
  authorizationId = message.id;
  const { body } = await network.send<{ transactionId: `tx_${string}` }>('authorizations', message);
  id = body.transactionId;
});

const note = (memo: string | null, token = payer.owner.key) =>
  world.as(token).client(transactionsArea).updateTransaction({ params: { id }, body: { memo } });
const read = () => payer.owner.client(transactionsArea).getTransaction({ params: { id } });
const updates = () =>
  world.sql<{ data: Record<string, unknown> }>(
    `select data from events where subject_id = $1 and name = 'transaction.updated' order by seq`,
    [id],
  );

// spec: does:Transactions:transaction history and memos
test('a memo is set, changed and removed; owner and agent both may', async () => {
  const before = await read();
  expect(await note('for Erika Mustermann’s desk')).toEqual({
    ...before,
    memo: 'for Erika Mustermann’s desk',
    updatedAt: expect.any(String),
  });
  expect(await note('  for the desk ', payer.token)).toMatchObject({ memo: 'for the desk' });
  expect(await note(null)).toMatchObject({ memo: null });
  expect(await read()).toMatchObject({ memo: null, status: 'pending', amountEuros: 12.5 });
  expect(await updates()).toHaveLength(3);
});

// spec: state:Transaction:updated
// spec: event:transaction.updated
test('its text is in no event, no audit row and no later event of the payment', async () => {
  await note('for Erika Mustermann');
  await network.clear(payer, { authorizationId });
  const [told] = await updates();
  expect(told?.data).toMatchObject({ transactionId: id, agentId: payer.agentId, status: 'pending' });
  expect(told?.data).not.toHaveProperty('memo');
  const written = await world.sql<{ text: string }>(
    `select data::text as text from events where owner_id = $1
     union all select details::text from audit where owner_id = $1`,
    [payer.owner.ownerId],
  );
  expect(written.length).toBeGreaterThan(5);
  expect(written.filter(({ text }) => text.includes('Erika'))).toEqual([]);
  expect(await read()).toMatchObject({ memo: 'for Erika Mustermann', status: 'completed' });
});

test('the same memo again is no change', async () => {
  await note('once');
  const { updatedAt } = await read();
  expect(await note('once')).toMatchObject({ memo: 'once', updatedAt });
  expect(await updates()).toHaveLength(1);
});

test('it survives concurrent messages of the network', async () => {
  const memos = Array.from({ length: 6 }, (_, i) => note(`memo ${i}`));
  await Promise.all([...memos, network.clear(payer, { authorizationId })]);
  expect(await read()).toMatchObject({
    memo: expect.stringMatching(/^memo \d$/),
    status: 'completed',
    clearedEuros: 12.5,
  });
});

test('a declined payment can be noted too', async () => {
  const { body } = await network.authorize(payer, { amountCents: 9_000_000 });
  id = body.transactionId as typeof id;
  expect(await note('too dear')).toMatchObject({ status: 'failed', memo: 'too dear' });
});

test.each([
  [{}],
  [{ memo: 5 }],
  [{ memo: '' }],
  [{ memo: 'x'.repeat(1_001) }],
  [{ memo: 'a\u0000b' }],
  [{ memo: 'fine', amountEuros: 1 }],
  [{ status: 'completed' }],
])('%j is refused', async (body) => {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await payer.owner.send({
    method: 'PATCH',
    path: `/transactions/${id}`,
    headers,
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(400);
  expect(await updates()).toEqual([]);
});

test('a thousand characters are not too many', async () => {
  expect(await note('ü'.repeat(1_000))).toMatchObject({ memo: 'ü'.repeat(1_000) });
});

test('another owner gets 404; another agent and a token without the scope get 403', async () => {
  const sister = await aPayer(world, { owner: payer.owner });
  const stranger = await world.owner();
  await expect(note('x', stranger.key)).rejects.toEqual(refusal(404));
  await expect(note('x', sister.token)).rejects.toEqual(refusal(403));
  await world.sql(`update agent_tokens set scopes = '{transactions.read}' where agent_id = $1`, [payer.agentId]);
  await expect(note('x', payer.token)).rejects.toEqual(refusal(403));
  id = 'tx_aaaaaaaa';
  await expect(note('x')).rejects.toEqual(refusal(404));
});
