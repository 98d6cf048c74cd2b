/**
 * Goal: what contradicts its authorization is settled by an operator, once, and the books agree. Method: messages of other
 * cards and currencies over HTTP, settled by the command, also twice, in parallel, and where they cannot be.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { runCommand } from '../../../src/main/cli.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import { anIntent, aPayer, balancesOf, type Payer } from '../../support/payments-world.ts';
import type { World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

async function bursar(...args: string[]): Promise<{ code: number; said: string }> {
  const said: string[] = [];
  const code = await runCommand(['network', ...args], { DATABASE_URL: world.config.DATABASE_URL }, (text) =>
    said.push(text),
  );
  return { code, said: said.join('') };
}

async function authorized(over: Parameters<typeof aPayer>[1] = {}) {
  const payer = await aPayer(world, { fundsCents: 5_000, ...over });
  const message = network.authorizationOf(payer);
  const { body } = await network.send<{ transactionId: string }>('authorizations', message);
  return { payer, authorizationId: message.id, transactionId: body.transactionId };
}
/** A clearing in the name of another card of the same owner. */
async function strangeClearing(payer: Payer, authorizationId: string, over: Record<string, unknown> = {}) {
  const id = `clr_${randomUUID()}`;
  const body = { id, authorizationId, cardRef: `cr_${randomUUID()}`, ...over };
  expect((await network.clear(payer, body)).status).toBe(409);
  return { id, body };
}

test('a clearing of another card: assigned once, also in parallel; then the network is answered 200', async () => {
  const { payer, authorizationId, transactionId } = await authorized({ policy: { require_intent: false } });
  const { id, body } = await strangeClearing(payer, authorizationId, { amountCents: 1_000 });
  const listed = await bursar('messages');
  expect(listed.said).toContain(
    `sandbox/clearing/${id}: other_card, 10.00 EUR, card ${body.cardRef}, of ${transactionId}`,
  );
  expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 1_250, receivable: 0 });
  const answers = await Promise.all([1, 2, 3].map(() => bursar('assign', `clearing/${id}`, 'the card was replaced')));
  expect(answers.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(answers.filter(({ said }) => said === `booked clearing/${id} on ${transactionId}\n`)).toHaveLength(1);
  expect(await balancesOf(world, payer)).toEqual({ available: 4_000, held: 0, receivable: 0 });
  expect((await bursar('messages')).said).not.toContain(id);
  const again = await network.clear(payer, body);
  expect(again).toEqual({ status: 200, body: { transactionId } });
  const audit = await world.sql(
    `select action, actor, owner_id as "ownerId", details ->> 'reason' as reason from audit
     where subject_id = $1 and action = 'network_message.assigned'`,
    [transactionId],
  );
  expect(audit).toEqual([
    {
      ...{ action: 'network_message.assigned', actor: 'command', ownerId: payer.owner.ownerId },
      reason: 'the card was replaced',
    },
  ]);
  expect(await bursar('dismiss', `clearing/${id}`, 'no')).toEqual({
    ...{ code: 1, said: `the clearing ${id} is booked on ${transactionId}\n` },
  });
});

test('in another currency it needs its amount in euros, and completes its intent like any clearing', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
  const intentId = await anIntent(world, payer);
  const { body } = await network.send<{ transactionId: string }>(
    'authorizations',
    network.authorizationOf(payer, { id: `auth_${payer.agentId}` }),
  );
  const { id } = await strangeClearing(payer, `auth_${payer.agentId}`, {
    ...{ cardRef: payer.cardRef, currency: 'USD', merchantAmount: 12.5, merchantCurrency: 'USD' },
  });
  expect(await bursar('assign', `clearing/${id}`, 'the bank’s rate')).toEqual({
    ...{ code: 1, said: `the clearing ${id} is in USD: name its amount in euros\n` },
  });
  for (const odd of ['', ' ', '1e3', '0x10', '-1', '1.234', '1,50', 'Infinity', '1234567890'])
    expect(await bursar('assign', `clearing/${id}`, 'the bank’s rate', odd)).toMatchObject({ code: 2 });
  expect(await bursar('assign', `clearing/${id}`, 'the bank’s rate', '0.00')).toEqual({
    ...{ code: 1, said: `the clearing ${id} moved USD: its amount in euros is not 0.00\n` },
  });
  expect((await bursar('assign', `clearing/${id}`, 'the bank’s rate', '11.63')).code).toBe(0);
  expect(await balancesOf(world, payer)).toEqual({ available: 3_837, held: 0, receivable: 0 });
  const [row] = await world.sql('select status, cleared_cents::int as cleared from transactions where id = $1', [
    body.transactionId,
  ]);
  expect(row).toEqual({ status: 'completed', cleared: 1_163 });
  const [event] = await world.sql(
    `select merchant_amount::float8 as amount, merchant_currency as currency from transaction_events where network_id = $1`,
    [id],
  );
  expect(event).toEqual({ amount: 12.5, currency: 'USD' });
  const [intent] = await world.sql('select status from intents where id = $1', [intentId]);
  expect(intent).toEqual({ status: 'completed' });
});

test('a reversal gives back the hold, and a refund that names no authorization goes to the holder of its card', async () => {
  const { payer, authorizationId } = await authorized();
  const reversalId = `rev_${randomUUID()}`;
  const reversal = { id: reversalId, authorizationId, cardRef: 'cr_other' };
  expect((await network.reverse(payer, reversal)).status).toBe(409);
  expect((await bursar('assign', `reversal/${reversalId}`, 'asked the network')).code).toBe(0);
  expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  const refundId = `ref_${randomUUID()}`;
  expect((await network.refund(payer, { id: refundId, amountCents: 900, currency: 'GBP' })).status).toBe(409);
  expect((await bursar('assign', `refund/${refundId}`, 'asked the network', '10.40')).code).toBe(0);
  expect(await balancesOf(world, payer)).toEqual({ available: 6_040, held: 0, receivable: 0 });
});

test('dismissed: nothing is booked, now or later, and the network is refused as before', async () => {
  const { payer, authorizationId, transactionId } = await authorized();
  const { id, body } = await strangeClearing(payer, authorizationId);
  expect(await bursar('dismiss', `clearing/${id}`, 'sent by mistake')).toEqual({
    ...{ code: 0, said: `dismissed clearing/${id}: it is booked on no payment\n` },
  });
  expect((await bursar('dismiss', `sandbox/clearing/${id}`, 'sent by mistake')).said).toContain('nothing was changed');
  expect(await bursar('assign', `clearing/${id}`, 'after all')).toEqual({
    ...{ code: 1, said: `the clearing ${id} was dismissed\n` },
  });
  expect((await network.clear(payer, body)).status).toBe(409);
  expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 1_250, receivable: 0 });
  const audit = await world.sql(
    `select details ->> 'reason' as reason from audit where subject_id = $1 and action = $2`,
    [...[transactionId, 'network_message.dismissed']],
  );
  expect(audit).toEqual([{ reason: 'sent by mistake' }]);
});

test('what cannot be assigned says why: an advice, one without its authorization, one that is not kept', async () => {
  const { payer, authorizationId } = await authorized();
  const advice = `adv_${randomUUID()}`;
  const other = { ...network.authorizationOf(payer), id: authorizationId, cardRef: 'cr_other' };
  expect((await network.advise(other, { id: advice })).status).toBe(409);
  expect((await bursar('assign', `advice/${advice}`, 'why not')).said).toContain('dismiss it');
  const id = `rev_${randomUUID()}`;
  const reversal = { id, authorizationId: 'auth_nobody', currency: 'USD' };
  expect((await network.reverse(payer, reversal)).status).toBe(409);
  expect((await bursar('assign', `reversal/${id}`, 'the rate')).said).toContain(
    'no payment of its authorization auth_nobody',
  );
  const { id: foreign, body } = await strangeClearing(payer, authorizationId, { currency: 'USD' });
  expect(await bursar('assign', `clearing/${foreign}`, 'the rate', '10')).toEqual({
    code: 1,
    said: `the clearing ${foreign} cannot be assigned: its card ${body.cardRef} is not that of authorization ${authorizationId}, ${payer.cardRef}\n`,
  });
  expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 1_250, receivable: 0 });
  expect(await bursar('assign', 'clearing/clr_none', 'x')).toMatchObject({ code: 1 });
  for (const wrong of [
    ['assign', `reversal/${id}`],
    ['assign', 'clr', 'x'],
    ['dismiss', `reversal/${id}`, ' '],
    ['dismiss', `reversal/${id}`, 'x', '10'],
    ['assign', `reversal/${id}`, 'x', payer.cardId, '10'],
  ]) {
    expect(await bursar(...wrong)).toMatchObject({ code: 2, said: expect.stringContaining('usage:') });
  }
  for (const name of [`advice/${advice}`, `reversal/${id}`, `clearing/${foreign}`])
    expect((await bursar('dismiss', name, 'x')).code).toBe(0);
});

test('collected in another currency without an authorization: booked like a force post, which the authorization finds', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const message = network.authorizationOf(payer);
  const { id } = await strangeClearing(payer, message.id, { currency: 'USD', cardRef: payer.cardRef, final: false });
  const { code, said } = await bursar('assign', `clearing/${id}`, 'the rate', '3.00');
  expect([code, said]).toEqual([0, expect.stringMatching(/^booked clearing\/\S+ on tx_/)]);
  const { body } = await network.send<{ decision: string; transactionId: string }>('authorizations', message);
  expect(body.decision).toBe('approved');
  expect(said).toContain(body.transactionId);
  expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 950, receivable: 0 });
});

test('in another currency, of an unknown card: amount and card are named, and what follows finds the payment', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const strange: Payer = { ...payer, cardRef: `cr_${randomUUID()}` };
  const authorizationId = `auth_${randomUUID()}`;
  const { id } = await strangeClearing(strange, authorizationId, { currency: 'USD', cardRef: strange.cardRef });
  const name = `clearing/${id}`;
  expect((await bursar('messages')).said).toContain(`${name}: other_currency, 12.50 USD, card ${strange.cardRef}`);
  const refused = async (...given: string[]) => (await bursar('assign', name, 'the rate', ...given)).said;
  expect(await refused(payer.cardId)).toBe(`the clearing ${id} is in USD: name its amount in euros\n`);
  expect(await refused('11.00')).toBe(`the clearing ${id} is of ${strange.cardRef}, which is not known: name a card\n`);
  expect(await refused('11.00', 'ca_nobodyscard')).toBe('no card ca_nobodyscard\n');
  expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  const answers = await Promise.all([1, 2].map(() => bursar('assign', name, 'the rate', '11.00', payer.cardId)));
  expect(answers.map(({ code }) => code)).toEqual([0, 0]);
  expect(await balancesOf(world, payer)).toEqual({ available: 3_900, held: 0, receivable: 0 });
  // What follows in euros is booked on the same payment.
  expect((await network.refund(strange, { authorizationId, amountCents: 100 })).status).toBe(200);
  expect(await balancesOf(world, payer)).toEqual({ available: 4_000, held: 0, receivable: 0 });
  const refundId = `ref_${randomUUID()}`;
  expect((await network.refund(strange, { id: refundId, amountCents: 900, currency: 'GBP' })).status).toBe(409);
  expect((await bursar('assign', `refund/${refundId}`, 'the rate', '10.40', payer.cardId)).code).toBe(0);
  expect(await balancesOf(world, payer)).toEqual({ available: 5_040, held: 0, receivable: 0 });
});

test('of another card than an authorization of an unknown card: the holder of the named card pays', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const message = network.authorizationOf({ ...payer, cardRef: `cr_${randomUUID()}` });
  expect((await network.send('authorizations', message)).body).toMatchObject({ decision: 'declined' });
  const { id } = await strangeClearing(payer, message.id, { amountCents: 700 });
  expect((await bursar('assign', `clearing/${id}`, 'found')).said).toContain('name a card');
  expect((await bursar('assign', `clearing/${id}`, 'found', payer.cardId)).code).toBe(0);
  expect(await balancesOf(world, payer)).toEqual({ available: 4_300, held: 0, receivable: 0 });
});
