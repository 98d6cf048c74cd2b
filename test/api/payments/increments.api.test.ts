/**
 * Goal: an increment raises the hold once, by the same rules, in whatever order the network speaks. Method: real HTTP,
 * rows and book: approved, declined, in part, repeated, in parallel, early, late, of other cards, with intent and advice.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { ledgerArea } from '../../../src/domains/treasury/ledger/ledger.contract.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import { anIntent, aPayer, balancesOf, expireIn, fund, journalsOf, type Payer } from '../../support/payments-world.ts';
import { eventually, type World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

/** Approved for 12.50. */
async function authorized(payer: Payer, over: Record<string, unknown> = {}) {
  const message = network.authorizationOf(payer, over);
  const { body } = await network.send<{ decision: string; transactionId: string }>('authorizations', message);
  expect(body.decision).toBe('approved');
  return { authorizationId: message.id, transactionId: body.transactionId, message };
}
const read = (payer: Payer, id: string) =>
  payer.owner.client(transactionsArea).getTransaction({ params: { id: id as never } });
const decisionOf = (payer: Payer, id: string) =>
  payer.owner.client(transactionsArea).getTransactionDecision({ params: { id: id as never } });

test('raises the hold once; the repeat gets the same bytes, and the same id for something else is refused', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const { authorizationId, transactionId } = await authorized(payer);
  const [before] = await world.sql<{ expiry: Date }>(
    'select hold_expires_at as expiry from transactions where id = $1',
    [transactionId],
  );
  const message = { id: `inc_${randomUUID()}`, cardRef: payer.cardRef, authorizationId, amountCents: 500 };
  const texts = [];
  for (const sentAt of [undefined, '2026-01-01T00:00:00Z']) {
    texts.push(await (await network.request('increments', { ...message, ...(sentAt && { sentAt }) })).text());
  }
  expect(JSON.parse(texts[0] ?? '')).toEqual({
    ...{ decision: 'approved', approvedCents: 500, transactionId, rule: 'within_rules' },
    reason: 'raising 12.50 to 17.50: 17.50 is within all rules',
  });
  expect(texts[1]).toBe(texts[0]);
  expect((await network.increment(payer, { ...message, amountCents: 501 })).status).toBe(409);
  expect(await balancesOf(world, payer)).toEqual({ available: 3_250, held: 1_750, receivable: 0 });
  expect(await journalsOf(world, payer.owner.ownerId)).toEqual(['authorization', 'increment']);
  const shown = await read(payer, transactionId);
  expect(shown).toMatchObject({ status: 'pending', amountEuros: 17.5, heldEuros: 17.5 });
  expect(shown.events.map(({ kind, amountEuros }) => [kind, amountEuros])).toEqual([
    ['authorization', 12.5],
    ['increment', 5],
  ]);
  const [after] = await world.sql<{ expiry: Date }>(
    'select hold_expires_at as expiry from transactions where id = $1',
    [transactionId],
  );
  expect(Number(after?.expiry)).toBeGreaterThanOrEqual(Number(before?.expiry));
  const [audit] = await world.sql(
    `select action, actor, details from audit where subject_id = $1 and details ->> 'increment' = $2`,
    [transactionId, message.id],
  );
  expect(audit).toMatchObject({ action: 'transaction.updated', details: { outcome: 'approved', approvedCents: 500 } });
  // A message signed for another endpoint is not valid here.
  const body = JSON.stringify(message);
  const wrong = await fetch(`${world.apiUrl}/network/increments`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Network-Signature': 't=1,v1=00' },
    body,
  });
  expect(wrong.status).toBe(401);
});

test('a refused one leaves the hold as it was, and the decisions are read with the authorization’s', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000, policy: { max_transaction_cents: 1_500 } });
  const { authorizationId, transactionId } = await authorized(payer);
  const refused = await network.increment(payer, { id: 'inc_refused', authorizationId, amountCents: 300 });
  expect(refused.body).toMatchObject({ decision: 'declined', approvedCents: 0, rule: 'max_transaction' });
  const part = await network.increment(payer, { authorizationId, amountCents: 300, partialSupported: true });
  expect(part.body).toMatchObject({ decision: 'partial', approvedCents: 250 });
  expect(await balancesOf(world, payer)).toEqual({ available: 3_500, held: 1_500, receivable: 0 });
  const decision = await decisionOf(payer, transactionId);
  expect(decision).toMatchObject({ outcome: 'approved', amountEuros: 12.5 });
  expect(decision.increments).toMatchObject([
    {
      ...{ networkId: 'inc_refused', outcome: 'declined', rule: 'max_transaction', amountEuros: 3, approvedEuros: 0 },
      inWords:
        'Declined: raising 12.50 to 15.50: transaction limit 15.00, asked 15.50. It would have passed with this change: raise the limit for one payment to 15.50 EUR.',
      remedy: [{ field: 'policy.maxTransactionEuros', value: 15.5 }],
    },
    { outcome: 'partial', amountEuros: 3, approvedEuros: 2.5 },
  ]);
  const events = await world.sql(
    `select data -> 'increment' as increment from events where subject_id = $1 and name = 'transaction.updated' order by seq`,
    [transactionId],
  );
  const none = { limitEuros: null, spentEuros: null, availableEuros: null };
  expect(events.map(({ increment }) => increment)).toEqual([
    { ...none, outcome: 'declined', rule: 'max_transaction', askedEuros: 3, approvedEuros: 0, limitEuros: 15 },
    { ...none, outcome: 'partial', rule: 'max_transaction', askedEuros: 3, approvedEuros: 2.5, limitEuros: 15 },
  ]);
});

test('an intent that pays for another payment by now pays for no increment of the first one', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
  const intentId = await anIntent(world, payer, { amountCents: 1_250 });
  const first = await authorized(payer, { amountCents: 500 });
  await network.reverse(payer, { authorizationId: first.authorizationId });
  const second = await authorized(payer);
  // It is open again, because money is collected of it after all.
  await network.clear(payer, { authorizationId: first.authorizationId, amountCents: 1, final: false });
  const { body } = await network.increment(payer, { authorizationId: first.authorizationId, amountCents: 300 });
  expect(body).toMatchObject({ decision: 'declined', rule: 'intent_required' });
  expect(await world.sql('select matched_transaction_id as matched from intents where id = $1', [intentId])).toEqual([
    { matched: second.transactionId },
  ]);
  expect(await balancesOf(world, payer)).toMatchObject({ held: 1_250 });
});

test('with partial clearings between: everything is collected, the rest released, and the intent completed', async () => {
  const payer = await aPayer(world, {
    fundsCents: 5_000,
    policy: { require_intent: true, amount_tolerance_percent: 50 },
  });
  const intentId = await anIntent(world, payer);
  const { authorizationId, transactionId } = await authorized(payer);
  expect((await network.increment(payer, { authorizationId, amountCents: 250 })).body.decision).toBe('approved');
  await network.clear(payer, { authorizationId, amountCents: 1_000, final: false });
  expect((await network.increment(payer, { authorizationId, amountCents: 300 })).body.decision).toBe('approved');
  // 12.50 and half of it: 18.75.
  const tooMuch = await network.increment(payer, { authorizationId, amountCents: 76 });
  expect(tooMuch.body).toMatchObject({ decision: 'declined', rule: 'intent_required' });
  expect(tooMuch.body.reason).toContain('18.75');
  expect((await network.increment(payer, { authorizationId, amountCents: 75 })).body.decision).toBe('approved');
  expect(await balancesOf(world, payer)).toEqual({ available: 3_125, held: 875, receivable: 0 });
  await network.clear(payer, { authorizationId, amountCents: 500, final: true });
  expect(await balancesOf(world, payer)).toEqual({ available: 3_500, held: 0, receivable: 0 });
  expect(await read(payer, transactionId)).toMatchObject({ status: 'completed', amountEuros: 15 });
  const [intent] = await world.sql('select status from intents where id = $1', [intentId]);
  expect(intent).toEqual({ status: 'completed' });
  const book = await eventually(
    () =>
      payer.owner
        .client(ledgerArea)
        .verifyLedger({ query: { full: 'true' } })
        .catch(() => undefined),
    (found) => found !== undefined,
  );
  expect(book).toMatchObject({ balanced: true, differences: [] });
});

test('of a payment that the network approved above the money counts on top of what was approved', async () => {
  const payer = await aPayer(world, { fundsCents: 4_000, policy: { require_intent: true } });
  await anIntent(world, payer, { amountCents: 10_000 });
  const message = network.authorizationOf(payer, { amountCents: 10_000 });
  await network.advise(message, { approvedCents: 10_000 });
  expect(await balancesOf(world, payer)).toMatchObject({ available: 0, held: 4_000 });
  await fund(world, payer.owner.ownerId, `wallet:${payer.walletId}`, 6_000);
  await network.send('authorizations', message);
  const { body } = await network.increment(payer, { authorizationId: message.id, amountCents: 6_000 });
  expect(body).toMatchObject({ decision: 'declined', rule: 'intent_required' });
  expect(body.reason).toMatch(/^raising 100\.00 to 160\.00: /);
});

test('after a reversal of a part, the rest and the increment are the payment', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000, policy: { max_transaction_cents: 1_250 } });
  const { authorizationId } = await authorized(payer);
  await network.reverse(payer, { authorizationId, amountCents: 250 });
  expect((await network.increment(payer, { authorizationId, amountCents: 251 })).body.rule).toBe('max_transaction');
  expect((await network.increment(payer, { authorizationId, amountCents: 250 })).body.decision).toBe('approved');
  await network.reverse(payer, { authorizationId });
  expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
});

describe('declined, and nothing moves', () => {
  const declined = async (payer: Payer, over: Record<string, unknown>, rule: string) => {
    const before = await balancesOf(world, payer);
    const message = { id: `inc_${randomUUID()}`, ...over };
    const first = await network.increment(payer, message);
    expect(first).toMatchObject({ status: 200, body: { decision: 'declined', approvedCents: 0, rule } });
    expect(await network.increment(payer, message)).toEqual(first);
    expect(await balancesOf(world, payer)).toEqual(before);
    return message;
  };

  test('before its authorization, also when that has come', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const message = network.authorizationOf(payer);
    const early = await declined(payer, { authorizationId: message.id }, 'no_authorization');
    await network.send('authorizations', message);
    await declined(payer, early, 'no_authorization');
    const next = await network.increment(payer, { authorizationId: message.id });
    expect(next.body.decision).toBe('approved');
  });

  test('of what was collected before the authorization came', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const message = network.authorizationOf(payer);
    await network.clear(payer, { authorizationId: message.id, amountCents: 400, final: false });
    await expireIn(world, inDays(1.1));
    await declined(payer, { authorizationId: message.id }, 'no_authorization');
  });

  test('after a reversal, after the last clearing, and after the hold has grown too old', async () => {
    const payer = await aPayer(world, { fundsCents: 20_000 });
    const [reversed, cleared, old] = [await authorized(payer), await authorized(payer), await authorized(payer)];
    await network.reverse(payer, { authorizationId: reversed.authorizationId });
    await network.clear(payer, { authorizationId: cleared.authorizationId });
    await world.sql(`update transactions set hold_expires_at = now() - interval '1 second' where id = $1`, [
      old.transactionId,
    ]);
    for (const { authorizationId } of [reversed, cleared, old]) {
      await declined(payer, { authorizationId }, 'authorization_ended');
    }
    await expireIn(world, new Date());
    await declined(payer, { authorizationId: old.authorizationId }, 'authorization_ended');
  });

  test('of a declined authorization, and of an account check', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { max_transaction_cents: 1_000 } });
    const refused = network.authorizationOf(payer);
    const check = network.authorizationOf(payer, { kind: 'verification', amountCents: 0 });
    for (const message of [refused, check]) await network.send('authorizations', message);
    await declined(payer, { authorizationId: refused.id }, 'authorization_declined');
    await declined(payer, { authorizationId: check.id }, 'authorization_ended');
  });

  test('of an unknown card, of another card, and in another currency', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const other = await aPayer(world, { owner: payer.owner });
    const { authorizationId } = await authorized(payer);
    await declined(payer, { authorizationId, cardRef: 'cr_nobody' }, 'other_card');
    await declined(payer, { authorizationId: 'auth_nobody', cardRef: 'cr_nobody' }, 'unknown_card');
    await declined(payer, { authorizationId, cardRef: other.cardRef }, 'other_card');
    await declined(payer, { authorizationId, currency: 'USD' }, 'other_currency');
    expect(await world.sql('select * from unbooked_network_messages where card_ref = $1', [other.cardRef])).toEqual([]);
  });

  test('once the agent is frozen', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { authorizationId } = await authorized(payer);
    await world.sql(`update agents set status = 'frozen', version = version + 1 where id = $1`, [payer.agentId]);
    await declined(payer, { authorizationId }, 'agent_status');
    await world.sql(`update agents set status = 'active', version = version + 1 where id = $1`, [payer.agentId]);
  });
});

test('counts in the day of its authorization, also when it comes on a later one', async () => {
  const payer = await aPayer(world, { fundsCents: 9_000, policy: { daily_limit_cents: 1_500 } });
  const { authorizationId, transactionId } = await authorized(payer);
  await world.sql(`update transactions set authorized_at = authorized_at - interval '1 day' where id = $1`, [
    transactionId,
  ]);
  await authorized(payer);
  expect((await network.increment(payer, { authorizationId, amountCents: 251 })).body.rule).toBe('daily_limit');
  expect((await network.increment(payer, { authorizationId, amountCents: 250 })).body.decision).toBe('approved');
  const days = await world.sql(
    'select spent_cents::int as cents, payments::int as payments from spending_days where agent_id = $1 order by day',
    [payer.agentId],
  );
  expect(days).toEqual([
    { cents: 1_500, payments: 1 },
    { cents: 1_250, payments: 1 },
  ]);
});

test('in parallel: the money is spent once, and a message that is sent twice raises the hold once', async () => {
  const payer = await aPayer(world, { fundsCents: 2_850 });
  const { authorizationId } = await authorized(payer);
  const ids = Array.from({ length: 8 }, () => `inc_${randomUUID()}`);
  const answers = await Promise.all(
    [...ids, ...ids].map((id) => network.increment(payer, { id, authorizationId, amountCents: 400 })),
  );
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  const granted = answers.filter(({ body }) => body.decision === 'approved');
  expect(granted).toHaveLength(8); // Four of them, each twice.
  for (const [at, answer] of answers.slice(0, 8).entries()) expect(answers[at + 8]).toEqual(answer);
  expect(await balancesOf(world, payer)).toEqual({ available: 0, held: 2_850, receivable: 0 });
});

test('two payments of one wallet race for the last cents: neither is declined for contention', async () => {
  const payer = await aPayer(world, { fundsCents: 3_500 });
  const payments = [await authorized(payer), await authorized(payer)];
  const answers = await Promise.all(
    payments.flatMap(({ authorizationId }) =>
      [1, 2].map(() => network.increment(payer, { authorizationId, amountCents: 250 })),
    ),
  );
  expect(answers.map(({ body }) => body.decision)).toEqual(Array(4).fill('approved'));
  expect(await balancesOf(world, payer)).toEqual({ available: 0, held: 3_500, receivable: 0 });
});

test('an advice about the authorization leaves what was approved on top of it', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000, policy: { max_transaction_cents: 1_000 } });
  const message = network.authorizationOf(payer, { partialSupported: true });
  await network.send('authorizations', message);
  await world.sql('update policies set max_transaction_cents = 1200, version = version + 1 where id = $1', [
    payer.policyId,
  ]);
  const { body } = await network.increment(payer, { authorizationId: message.id, amountCents: 200 });
  expect(body.decision).toBe('approved');
  expect(await balancesOf(world, payer)).toEqual({ available: 3_800, held: 1_200, receivable: 0 });
  // The network had approved all of the 12.50 by then.
  await network.advise(message);
  expect(await balancesOf(world, payer)).toEqual({ available: 3_550, held: 1_450, receivable: 0 });
});
