/**
 * The network's stand-in with a limit: it approves while Bursar gives no answer, limited per card, reports by advices
 * ahead of clearings, and survives Bursar's absence without losing a message.
 * @module
 */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { approves, type NetworkMessage } from './fake-bursar.ts';
import { type Answered, eventually, startWorld, type World } from './world.ts';

let world: World;
let cardRef: string;
beforeEach(async () => {
  world = await startWorld();
  cardRef = await world.issue('ca_known');
  await world.send('PUT', '/network/stand-in', { perCardCents: 5_000 });
});
afterEach(() => world.stop());

const purchase = (fields: object = {}): Promise<Answered> =>
  world.send('POST', '/network/purchases', { cardRef, amountCents: 2_000, merchant: 'sandbox-shop', ...fields });
const sent = () => world.bursar.messages.filter(({ kind }) => kind !== 'authorizations');
const acknowledged = (count: number) =>
  eventually(
    async () => (await world.send('GET', '/network/messages?state=acknowledged')).body.messages as unknown[],
    (messages) => messages.length === count,
  );

test('approves up to the limit of the card, and reports each approval before its clearing', async () => {
  await world.bursar.stop();
  const within = [await purchase(), await purchase()];
  for (const { body } of within) expect(body).toMatchObject({ decision: 'approved', rule: 'stand_in' });
  const beyond = await purchase();
  expect(beyond.body).toMatchObject({ decision: 'declined', rule: 'stand_in' });
  const other = await world.issue('ca_other');
  expect((await purchase({ cardRef: other, amountCents: 5_000 })).body.decision).toBe('approved');
  await world.bursar.start();
  await acknowledged(7);
  for (const { body } of within) {
    const ofIt = sent().filter((message) => authorizationOf(message) === body.authorizationId);
    expect(ofIt.map(({ kind }) => kind)).toEqual(['advices', 'clearings']);
    expect(ofIt[0]?.body).toMatchObject({
      authorization: { id: body.authorizationId, cardRef, amountCents: 2_000, currency: 'EUR', kind: 'purchase' },
      approvedCents: 2_000,
    });
  }
  expect(world.bursar.of('reversals').map(authorizationOf)).toEqual([beyond.body.authorizationId]);
});

test('what was reported counts no more', async () => {
  await world.bursar.stop();
  expect((await purchase({ amountCents: 5_000 })).body.decision).toBe('approved');
  await world.bursar.start();
  await acknowledged(2);
  await world.bursar.stop();
  expect((await purchase({ amountCents: 5_000 })).body.decision).toBe('approved');
  await world.bursar.start();
  await acknowledged(4);
});

test.each([
  ['a card that is frozen', {}, 'frozen'],
  ['a verification', { amountCents: 0, kind: 'verification' }, 'active'],
  ['a charge that Bursar asked for', { simulation: 'sim_1' }, 'active'],
])('declines %s', async (_what, fields, state) => {
  if (state === 'frozen') await world.send('PUT', `/processor/cards/${cardRef}/state`, { state }, 'freeze');
  await world.bursar.stop();
  expect((await purchase(fields)).body).toMatchObject({ decision: 'declined', rule: 'stand_in' });
  await world.bursar.start();
  await acknowledged(1);
});

test('while Bursar is away nobody waits for its answer, and after its first one everybody does', async () => {
  await world.bursar.stop();
  await purchase({ amountCents: 100 });
  await world.bursar.start();
  // Not even an acknowledgement: Bursar stays away.
  world.bursar.answering = (message) =>
    message.kind === 'authorizations' ? { ...approves(message), afterMs: 3_000 } : { status: 503 };
  const { rule, reason } = (await purchase({ amountCents: 100 })).body;
  expect([rule, reason]).toEqual(['stand_in', expect.stringMatching(/^no answer within 50 ms: .* approves$/)]);
  world.bursar.answering = () => undefined;
  await acknowledged(4);
  world.bursar.answering = (message) =>
    message.kind === 'authorizations' ? { ...approves(message), afterMs: 300 } : undefined;
  expect((await purchase({ amountCents: 100 })).body).not.toHaveProperty('rule');
});

test('nor for the answer to an increment, which only Bursar may grant', async () => {
  const { authorizationId } = (await purchase({ amountCents: 100, clear: false })).body;
  const increment = () => world.send('POST', '/network/increment', { authorizationId, amountCents: 50 });
  const later = { status: 200, body: { decision: 'approved', approvedCents: 50 }, afterMs: 500 };
  world.bursar.answering = ({ kind }) => (kind === 'increments' ? later : undefined);
  expect((await increment()).body).toMatchObject({ decision: 'approved' });
  await world.bursar.stop();
  expect((await purchase({ amountCents: 100 })).body).toMatchObject({ rule: 'stand_in' });
  await world.bursar.start();
  world.bursar.answering = ({ kind }) => (kind === 'increments' ? later : { status: 503 });
  expect((await increment()).body).toMatchObject({ decision: 'declined', rule: 'stand_in' });
});

test('a refund is sent for what was cleared', async () => {
  const { body } = await purchase();
  const { authorizationId } = body;
  const refund = await world.send('POST', '/network/refund', { authorizationId });
  expect(refund.body).toMatchObject({ state: 'acknowledged', status: 200 });
  expect(world.bursar.of('refunds')[0]?.body).toMatchObject({ authorizationId, cardRef, amountCents: 2_000 });
});

const authorizationOf = ({ body }: NetworkMessage): unknown => body.authorizationId;
