/** A payment form was filled elsewhere: confirm links and never posts. @module */
import { expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { runSql } from '../../../src/db/statement.ts';

import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { eventNamesOf } from '../../support/events.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import { anIntent, aPayer, balancesOf, expireIn, inDatabase, journalsOf } from '../../support/payments-world.ts';
import type { World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

const confirm = (token: string, intentId: string, key: string = crypto.randomUUID()) =>
  createClient(checkoutArea, sendTo(world.apiUrl, token)).confirmCheckout({
    body: { intentId },
    headers: key === '' ? {} : { 'Idempotency-Key': key },
  });
const buyer = (over: Parameters<typeof aPayer>[1] = {}) =>
  aPayer(world, { policy: { require_intent: true }, fundsCents: 5_000, ...over });
const statusOf = async (intentId: string) =>
  (await world.sql('select status, transaction_id from intents where id = $1', [intentId]))[0];
const expireInDays = (days: number) => expireIn(world, new Date(Date.now() + days * 86_400_000));

// spec: path:POST /checkout/confirm
// spec: confirm:marks the intent completed
// spec: transition:POST /checkout/confirm:the payment form was filled externally:completed
// spec: transition:POST /checkout/confirm:response carries a transaction identifier
test('after the authorization it returns the matched transaction', async () => {
  const payer = await buyer();
  const intentId = await anIntent(world, payer);
  const { body } = await network.authorize(payer);
  expect(await confirm(payer.token, intentId)).toEqual({
    status: 'completed',
    intentId,
    transactionId: body.transactionId,
  });
  expect(await statusOf(intentId)).toEqual({ status: 'completed', transaction_id: body.transactionId });
  expect(await journalsOf(world, payer.owner.ownerId)).toEqual(['authorization']);
});

// spec: transition:POST /checkout/confirm:the payment form was filled externally:completed
test('before the authorization it leaves a pending transaction, which that authorization links', async () => {
  const payer = await buyer();
  const intentId = await anIntent(world, payer);
  const { transactionId } = await confirm(payer.token, intentId);
  expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  expect(await journalsOf(world, payer.owner.ownerId)).toEqual([]);
  expect((await network.authorize(payer, { amountCents: 1_300 })).body.rule).toBe('intent_required');
  const message = network.authorizationOf(payer);
  const { body } = await network.send<{ transactionId: string; decision: string }>('authorizations', message);
  expect(body).toMatchObject({ decision: 'approved', transactionId });
  await network.clear(payer, { authorizationId: message.id });
  expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
  const rows = await world.sql('select id, status, intent_id from transactions where agent_id = $1 and status <> $2', [
    payer.agentId,
    'failed',
  ]);
  expect(rows).toEqual([{ id: transactionId, status: 'completed', intent_id: intentId }]);
  const created = (await eventNamesOf(world, payer.owner.ownerId)).filter((name) => name === 'transaction.created');
  expect(created).toHaveLength(2); // The confirm's, and that of the declined one.
});

test('two authorizations for one confirm: one links', async () => {
  const payer = await buyer();
  await confirm(payer.token, await anIntent(world, payer));
  const answers = await Promise.all([network.authorize(payer), network.authorize(payer)]);
  expect(answers.map(({ body }) => body.decision).sort()).toEqual(['approved', 'declined']);
});

test('a transaction without an authorization for seven days ends failed, and is not linked later', async () => {
  const payer = await buyer();
  const intentId = await anIntent(world, payer);
  const { transactionId } = await confirm(payer.token, intentId);
  await expireInDays(6.9);
  const status = () => world.sql('select status, decline_rule from transactions where id = $1', [transactionId]);
  expect(await status()).toEqual([{ status: 'pending', decline_rule: null }]);
  await expireInDays(7.1);
  expect(await status()).toEqual([{ status: 'failed', decline_rule: 'no_authorization_seen' }]);
  expect((await network.authorize(payer)).body.rule).toBe('intent_required');
  expect(await statusOf(intentId)).toMatchObject({ status: 'completed' });
});

test('after the clearing it links as well, once', async () => {
  const payer = await buyer();
  const intentId = await anIntent(world, payer);
  const message = network.authorizationOf(payer);
  const { body } = await network.send<{ transactionId: string }>('authorizations', message);
  await network.clear(payer, { authorizationId: message.id });
  expect(await confirm(payer.token, intentId)).toMatchObject({ transactionId: body.transactionId });
  await expect(confirm(payer.token, intentId)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('confirmed before'),
  });
});

test('the same key gives the same answer; in parallel one transaction is written', async () => {
  const payer = await buyer();
  const intentId = await anIntent(world, payer);
  const first = await confirm(payer.token, intentId, 'the-key');
  expect(await confirm(payer.token, intentId, 'the-key')).toEqual(first);
  const another = await anIntent(world, payer, { amountCents: 700 });
  const answers = await Promise.allSettled(Array.from({ length: 6 }, () => confirm(payer.token, another)));
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await world.sql('select 1 from transactions where intent_id = $1', [another])).toHaveLength(1);
});

test('a memo that is written in between is kept, and the confirm links', async () => {
  const payer = await buyer();
  const intentId = await anIntent(world, payer);
  const { body } = await network.authorize(payer);
  let confirming: Promise<unknown> = Promise.resolve();
  await inDatabase(world, (database) =>
    database.write(async (tx) => {
      await runSql(tx, `update transactions set memo = 'noted', version = version + 1 where id = $1`, [
        body.transactionId,
      ]);
      confirming = confirm(payer.token, intentId);
      await someoneWaits(world);
    }),
  );
  expect(await confirming).toMatchObject({ transactionId: body.transactionId });
  const [row] = await world.sql('select memo, confirmed_at from transactions where id = $1', [body.transactionId]);
  expect(row).toEqual({ memo: 'noted', confirmed_at: expect.any(Date) });
});

// spec: header:POST /checkout/confirm:Idempotency-Key required
test('the key is required', async () => {
  const payer = await buyer();
  await expect(confirm(payer.token, await anIntent(world, payer), '')).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('Idempotency-Key'),
  });
});

test.each(['pending_approval', 'denied', 'expired', 'cancelled', 'failed'])(
  'an intent that is %s is refused',
  async (status) => {
    const payer = await buyer();
    const intentId = await anIntent(world, payer, { status });
    await expect(confirm(payer.token, intentId)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(status),
    });
    expect(await world.sql('select 1 from transactions where intent_id = $1', [intentId])).toEqual([]);
  },
);

test('an intent past its deadline is refused, whatever the status of its row', async () => {
  const payer = await buyer();
  await expect(confirm(payer.token, await anIntent(world, payer, { ttlMs: 1_000 }))).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('expired at'),
  });
});

test.each([
  ['agent', /agent .* is frozen/],
  ['card', /card .* is frozen/],
])('of a frozen %s: refused while no authorization came, linked once one has', async (noun, message) => {
  const payer = await buyer();
  const freeze = () =>
    noun === 'agent'
      ? world.sql(`update agents set status = 'frozen', version = version + 1 where id = $1`, [payer.agentId])
      : world.sql(`update cards set status = 'frozen', frozen_by = 'card', version = version + 1 where id = $1`, [
          payer.cardId,
        ]);
  const [unpaid, paid] = [
    await anIntent(world, payer, { amountCents: 700 }),
    await anIntent(world, payer, { amountCents: 1_250 }),
  ];
  const { body } = await network.authorize(payer);
  await freeze();
  await expect(confirm(payer.token, unpaid)).rejects.toMatchObject({
    status: 403,
    message: expect.stringMatching(message),
  });
  expect(await world.sql('select 1 from transactions where intent_id = $1', [unpaid])).toEqual([]);
  expect(await confirm(payer.token, paid)).toMatchObject({ transactionId: body.transactionId });
});

test('intents of others are not there, or closed', async () => {
  const payer = await buyer();
  const intentId = await anIntent(world, payer);
  const sibling = await buyer({ owner: payer.owner });
  await expect(confirm((await buyer()).token, intentId)).rejects.toMatchObject({ status: 404 });
  await expect(confirm(sibling.token, intentId)).rejects.toMatchObject({ status: 403 });
  expect(await statusOf(intentId)).toMatchObject({ status: 'approved' });
});
