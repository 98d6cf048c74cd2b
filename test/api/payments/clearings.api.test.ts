/** Clearings and reversals of the network: in every order, repeated, and without a hold. @module */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventNamesOf, eventsOf } from '../../support/events.ts';
import {
  anIntent,
  aPayer,
  balancesOf,
  brokenInvariants,
  expireIn,
  journalsOf,
  networkOf,
  type Payer,
} from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
const logged: string[] = [];
let network: ReturnType<typeof networkOf>;
beforeAll(async () => {
  world = await startWorld({ onLogLine: (line) => logged.push(line) });
  network = networkOf(world);
});
afterEach(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
});
afterAll(async () => {
  await world.close();
});

const authorized = async (payer: Payer, over: Record<string, unknown> = {}) => {
  const message = network.authorizationOf(payer, over);
  const { body } = await network.send<{ transactionId: string }>('authorizations', message);
  return { authorizationId: message.id, transactionId: body.transactionId };
};
const transaction = async (id: string) =>
  (
    await world.sql(
      `select status, type, amount_cents::int as amount, held_cents::int as held, cleared_cents::int as cleared,
       reversed_cents::int as reversed, spent_cents::int as spent from transactions where id = $1`,
      [id],
    )
  )[0];

describe('a clearing', () => {
  // spec: state:Transaction:settlement
  // spec: state:Transaction:settled
  // spec: state:Transaction:completed
  // spec: event:transaction.settlement
  // spec: event:transaction.settled
  // spec: event:transaction.completed
  // spec: event-data:transaction.completed
  test('takes the money from the hold, and completes transaction and intent', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
    const intentId = await anIntent(world, payer);
    const { authorizationId, transactionId } = await authorized(payer);
    expect(await network.clear(payer, { authorizationId })).toEqual({ status: 200, body: { transactionId } });
    expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
    expect(await transaction(transactionId)).toMatchObject({
      status: 'completed',
      type: 'capture',
      amount: 1_250,
      cleared: 1_250,
    });
    const [intent] = await world.sql('select status, transaction_id from intents where id = $1', [intentId]);
    expect(intent).toEqual({ status: 'completed', transaction_id: transactionId });
    const events = await eventsOf(world, payer.owner.ownerId);
    const settled = ['intent.completed', 'transaction.settlement', 'transaction.settled', 'transaction.completed'];
    expect(events.slice(-4).map(({ name }) => name)).toEqual(settled);
    expect(events.at(-1)?.data).toEqual({
      transactionId,
      agentId: payer.agentId,
      intentId,
      amountEuros: 12.5,
      merchant: 'Sandbox Shop',
      status: 'completed',
    });
  });

  test('of another name, id and category than its authorization completes the intent that this one was for', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
    const intentId = await anIntent(world, payer);
    const otherId = await anIntent(world, payer, { merchant: 'Example Casino' });
    const { authorizationId, transactionId } = await authorized(payer);
    const merchant = { id: 'other', name: 'EXAMPLE CASINO', mcc: '7995', country: 'MT' };
    expect((await network.clear(payer, { authorizationId, merchant })).status).toBe(200);
    const stored = (id: string) => world.sql('select status, transaction_id from intents where id = $1', [id]);
    expect(await stored(intentId)).toEqual([{ status: 'completed', transaction_id: transactionId }]);
    expect(await stored(otherId)).toEqual([{ status: 'approved', transaction_id: null }]);
    const [paid] = await world.sql('select merchant, merchant_mcc from transactions where id = $1', [transactionId]);
    expect(paid).toEqual({ merchant: 'Sandbox Shop', merchant_mcc: '5734' });
  });

  test('without an intent names none in its events', async () => {
    const payer = await aPayer(world);
    const { authorizationId, transactionId } = await authorized(payer);
    await network.clear(payer, { authorizationId });
    const completed = (await eventsOf(world, payer.owner.ownerId)).at(-1);
    expect(completed?.data).toEqual({
      transactionId,
      agentId: payer.agentId,
      amountEuros: 12.5,
      merchant: 'Sandbox Shop',
      status: 'completed',
    });
  });

  test('below the hold gives the rest back when it is final', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { authorizationId, transactionId } = await authorized(payer);
    await network.clear(payer, { authorizationId, amountCents: 1_000 });
    expect(await balancesOf(world, payer)).toEqual({ available: 4_000, held: 0, receivable: 0 });
    expect(await transaction(transactionId)).toMatchObject({ status: 'completed', amount: 1_000, spent: 1_000 });
  });

  test('in parts completes once, at the final part', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { authorizationId, transactionId } = await authorized(payer);
    await network.clear(payer, { authorizationId, amountCents: 400, final: false });
    expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 850, receivable: 0 });
    expect(await transaction(transactionId)).toMatchObject({ status: 'pending', type: 'capture', amount: 1_250 });
    await network.clear(payer, { authorizationId, amountCents: 600, final: true });
    expect(await balancesOf(world, payer)).toEqual({ available: 4_000, held: 0, receivable: 0 });
    const names = await eventNamesOf(world, payer.owner.ownerId);
    expect(names.filter((name) => name === 'transaction.completed')).toHaveLength(1);
    expect(names.filter((name) => name === 'transaction.settlement')).toHaveLength(2);
  });

  test('after the final one is booked, and completes nothing again', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { authorizationId, transactionId } = await authorized(payer);
    await network.clear(payer, { authorizationId });
    await network.clear(payer, { authorizationId, amountCents: 250 });
    expect(await balancesOf(world, payer)).toEqual({ available: 3_500, held: 0, receivable: 0 });
    expect(await transaction(transactionId)).toMatchObject({ status: 'completed', amount: 1_500 });
    expect(
      (await eventNamesOf(world, payer.owner.ownerId)).filter((name) => name === 'transaction.completed'),
    ).toHaveLength(1);
  });

  test('above hold and money: first the hold, then the available money, and the rest is owed', async () => {
    const payer = await aPayer(world, { fundsCents: 1_500 });
    const { authorizationId } = await authorized(payer);
    await network.clear(payer, { authorizationId, amountCents: 2_000 });
    expect(await balancesOf(world, payer)).toEqual({ available: 0, held: 0, receivable: 500 });
    const alert = (await eventsOf(world, payer.owner.ownerId)).find(({ name }) => name === 'risk.alert_created');
    expect(alert?.data).toMatchObject({ signals: ['cleared_above_tolerance', 'receivable'], receivableEuros: 5 });
  });

  test('slightly more than the hold is collected without an alert', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { authorizationId } = await authorized(payer);
    await network.clear(payer, { authorizationId, amountCents: 1_450 });
    expect(await eventNamesOf(world, payer.owner.ownerId)).not.toContain('risk.alert_created');
  });

  test('is never refused: not for a frozen card, a frozen agent or a limit', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { max_transaction_cents: 1_250 } });
    const { authorizationId, transactionId } = await authorized(payer);
    await world.sql(`update cards set status = 'closed', closed_at = now(), version = version + 1 where id = $1`, [
      payer.cardId,
    ]);
    await world.sql(`update agents set status = 'closed', version = version + 1 where id = $1`, [payer.agentId]);
    expect(await network.clear(payer, { authorizationId, amountCents: 3_000 })).toEqual({
      status: 200,
      body: { transactionId },
    });
    expect(await balancesOf(world, payer)).toEqual({ available: 2_000, held: 0, receivable: 0 });
  });

  test('of a declined authorization is booked, with an alert', async () => {
    const payer = await aPayer(world, { fundsCents: 1_000 });
    const { authorizationId, transactionId } = await authorized(payer);
    await network.clear(payer, { authorizationId });
    expect(await balancesOf(world, payer)).toEqual({ available: 0, held: 0, receivable: 250 });
    expect(await transaction(transactionId)).toMatchObject({ status: 'completed', cleared: 1_250, spent: 1_250 });
    const alert = (await eventsOf(world, payer.owner.ownerId)).find(({ name }) => name === 'risk.alert_created');
    expect(alert?.data).toMatchObject({ signals: ['cleared_without_hold', 'receivable'] });
  });

  test('of an unknown card goes to suspense, once, and the log tells an operator', async () => {
    const clearing = {
      id: 'clr_nobody',
      authorizationId: 'auth_nobody',
      cardRef: 'cr_nobody',
      amountCents: 700,
      final: true,
    };
    const answers = [await network.send('clearings', clearing), await network.send('clearings', clearing)];
    expect(answers).toEqual([1, 2].map(() => ({ status: 200, body: { transactionId: null } })));
    const alerts = logged.filter((line) => line.includes('clr_nobody')).map((line) => JSON.parse(line));
    expect(alerts).toMatchObject([
      { level: 'error', amountCents: 700, msg: 'clearing of an unknown card: booked to suspense' },
    ]);
    const entries = await world.sql(
      `select account, amount_cents from ledger_entries where account like '%own_operator' order by account`,
    );
    expect(entries).toEqual([
      { account: 'external:cards:own_operator', amount_cents: '700' },
      { account: 'suspense:own_operator', amount_cents: '-700' },
    ]);
  });

  test('ten times in parallel is booked once', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { authorizationId, transactionId } = await authorized(payer);
    const clearing = { id: 'clr_ten', authorizationId };
    const answers = await Promise.all(Array.from({ length: 10 }, () => network.clear(payer, clearing)));
    expect(answers).toEqual(answers.map(() => ({ status: 200, body: { transactionId } })));
    expect(await journalsOf(world, payer.owner.ownerId)).toEqual(['authorization', 'clearing']);
    expect((await network.clear(payer, { ...clearing, amountCents: 1 })).status).toBe(409);
  });

  test('closes a card that was for one payment', async () => {
    const payer = await aPayer(world, { card: { usage: 'single' } });
    const { authorizationId } = await authorized(payer);
    expect((await network.authorize(payer)).body.rule).toBe('single_use');
    await network.clear(payer, { authorizationId });
    const [card] = await world.sql('select status from cards where id = $1', [payer.cardId]);
    expect(card).toEqual({ status: 'closed' });
    expect(await eventNamesOf(world, payer.owner.ownerId)).toContain('card.closed');
  });

  test('settles what the owner owes out of the rest of the hold', async () => {
    const payer = await aPayer(world, { fundsCents: 2_500 });
    const first = await authorized(payer);
    const second = await authorized(payer);
    await network.clear(payer, { authorizationId: first.authorizationId, amountCents: 1_500 });
    expect(await balancesOf(world, payer)).toEqual({ available: 0, held: 1_250, receivable: 250 });
    await network.clear(payer, { authorizationId: second.authorizationId, amountCents: 900 });
    expect(await balancesOf(world, payer)).toEqual({ available: 100, held: 0, receivable: 0 });
  });
});

describe('a reversal', () => {
  test('of all gives the hold back and opens the intent again', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
    const intentId = await anIntent(world, payer);
    const { authorizationId, transactionId } = await authorized(payer);
    expect(await network.reverse(payer, { authorizationId })).toEqual({ status: 200, body: { transactionId } });
    expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
    expect(await transaction(transactionId)).toMatchObject({ status: 'reversed', type: 'reversal', spent: 0 });
    const [intent] = await world.sql('select status, matched_transaction_id from intents where id = $1', [intentId]);
    expect(intent).toEqual({ status: 'approved', matched_transaction_id: null });
    expect((await network.authorize(payer)).body.decision).toBe('approved');
  });

  test('of a part lowers hold and spending', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { daily_limit_cents: 1_500 } });
    const { authorizationId, transactionId } = await authorized(payer);
    expect((await network.authorize(payer, { amountCents: 500 })).body.rule).toBe('daily_limit');
    await network.reverse(payer, { authorizationId, amountCents: 300 });
    expect(await transaction(transactionId)).toMatchObject({
      status: 'pending',
      held: 950,
      reversed: 300,
      spent: 950,
      amount: 950,
    });
    expect((await network.authorize(payer, { amountCents: 500 })).body.decision).toBe('approved');
  });

  test('after the clearing gives nothing back', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { authorizationId, transactionId } = await authorized(payer);
    await network.clear(payer, { authorizationId });
    expect((await network.reverse(payer, { authorizationId })).status).toBe(200);
    expect(await transaction(transactionId)).toMatchObject({ status: 'completed', cleared: 1_250 });
    expect(await journalsOf(world, payer.owner.ownerId)).toEqual(['authorization', 'clearing']);
  });

  test('of the rest after a part was cleared completes the transaction', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { authorizationId, transactionId } = await authorized(payer);
    await network.clear(payer, { authorizationId, amountCents: 400, final: false });
    await network.reverse(payer, { authorizationId });
    expect(await transaction(transactionId)).toMatchObject({ status: 'completed', amount: 400, held: 0, spent: 400 });
    expect(await eventNamesOf(world, payer.owner.ownerId)).toContain('transaction.completed');
  });

  test('five times in parallel gives back once', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { authorizationId } = await authorized(payer);
    await Promise.all(
      Array.from({ length: 5 }, () => network.reverse(payer, { id: 'rev_five', authorizationId, amountCents: 200 })),
    );
    expect(await balancesOf(world, payer)).toEqual({ available: 3_950, held: 1_050, receivable: 0 });
  });
});

describe('messages in any order', () => {
  const confirm = (payer: Payer, intentId: string) =>
    fetch(`${world.apiUrl}/checkout/confirm`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${payer.token}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': crypto.randomUUID(),
      },
      body: JSON.stringify({ intentId }),
    });
  const steps = ['confirm', 'authorization', 'clearing', 'reversal'] as const;
  const orders = permutations([...steps]);

  test.each(orders.map((order) => [order.join(' '), order] as const))('%s', async (_, order) => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
    const intentId = await anIntent(world, payer);
    const message = network.authorizationOf(payer);
    const authorizationId = message.id;
    for (const step of order) {
      if (step === 'confirm') expect((await confirm(payer, intentId)).status).toBe(200);
      if (step === 'authorization') expect((await network.send('authorizations', message)).status).toBe(200);
      if (step === 'clearing')
        expect((await network.clear(payer, { id: `c_${authorizationId}`, authorizationId })).status).toBe(200);
      if (step === 'reversal')
        expect((await network.reverse(payer, { id: `r_${authorizationId}`, authorizationId })).status).toBe(200);
    }
    const before = await balancesOf(world, payer);
    // Whatever comes twice changes nothing.
    await network.send('authorizations', message);
    await network.clear(payer, { id: `c_${authorizationId}`, authorizationId });
    await network.reverse(payer, { id: `r_${authorizationId}`, authorizationId });
    expect(await balancesOf(world, payer)).toEqual(before);

    expect(before).toEqual({ available: 3_750, held: 0, receivable: 0 });
    const journals = await journalsOf(world, payer.owner.ownerId);
    expect(journals.filter((kind) => kind === 'clearing')).toHaveLength(1);
    // A reversal that was there first leaves nothing to hold.
    const isReversedFirst = order.indexOf('reversal') < order.indexOf('authorization');
    expect(journals.filter((kind) => kind === 'authorization')).toHaveLength(isReversedFirst ? 0 : 1);
    expect(
      await world.sql('select 1 from network_messages where is_waiting and card_ref = $1', [payer.cardRef]),
    ).toEqual([]);
  });

  test('a clearing that is concurrent with its authorization is booked', async () => {
    const payers = await Promise.all(Array.from({ length: 8 }, () => aPayer(world, { fundsCents: 5_000 })));
    await Promise.all(
      payers.flatMap((payer) => {
        const message = network.authorizationOf(payer);
        return [network.send('authorizations', message), network.clear(payer, { authorizationId: message.id })];
      }),
    );
    for (const payer of payers)
      expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
  });
});

describe('the book', () => {
  test('of an owner with every kind of message is whole', async () => {
    const payer = await aPayer(world, { fundsCents: 6_000 });
    const [cleared, over, parted, reversed, open] = [
      await authorized(payer),
      await authorized(payer, { amountCents: 500 }),
      await authorized(payer, { amountCents: 800 }),
      await authorized(payer, { amountCents: 700 }),
      await authorized(payer, { amountCents: 300 }),
    ];
    await network.clear(payer, { authorizationId: cleared.authorizationId });
    await network.clear(payer, { authorizationId: over.authorizationId, amountCents: 9_000 });
    await network.clear(payer, { authorizationId: parted.authorizationId, amountCents: 100, final: false });
    await network.reverse(payer, { authorizationId: reversed.authorizationId });
    await network.clear(payer, { authorizationId: reversed.authorizationId, amountCents: 700 });
    const answer = await payer.owner.send({ method: 'GET', path: '/ledger/verify?full=true', headers: {} });
    expect(await answer.json()).toMatchObject({ balanced: true, differences: [] });
    expect((await balancesOf(world, payer)).held).toBe(700 + 300);
    expect(await transaction(open.transactionId)).toMatchObject({ status: 'pending', held: 300 });
  });
});

describe('clearings without an authorization', () => {
  const expire = (at: Date) => expireIn(world, at);
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

  test('a hold is given back after its days, and its intent is open again', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
    const intentId = await anIntent(world, payer, { ttlMs: 30 * 86_400_000 });
    const { transactionId, authorizationId } = await authorized(payer);
    await expire(inDays(6.9));
    expect((await balancesOf(world, payer)).held).toBe(1_250);
    await Promise.all([expire(inDays(7.1)), expire(inDays(7.1))]);
    expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
    expect(await transaction(transactionId)).toMatchObject({ status: 'reversed', spent: 0 });
    const [intent] = await world.sql('select status, matched_transaction_id from intents where id = $1', [intentId]);
    expect(intent).toEqual({ status: 'approved', matched_transaction_id: null });
    expect(await journalsOf(world, payer.owner.ownerId)).toEqual(['authorization', 'hold_expiry']);
    await network.clear(payer, { authorizationId });
    expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
  });

  test('one that fails stops no other', async () => {
    const [broken, fine] = [await aPayer(world, { fundsCents: 5_000 }), await aPayer(world, { fundsCents: 5_000 })];
    const first = await authorized(broken);
    await authorized(fine);
    await world.sql('update transactions set intent_id = $1 where id = $2', ['int_nowhere', first.transactionId]);
    await expect(expire(inDays(7.2))).rejects.toThrow('1 of what has aged failed');
    expect(await balancesOf(world, fine)).toEqual({ available: 5_000, held: 0, receivable: 0 });
    expect((await balancesOf(world, broken)).held).toBe(1_250);
    await world.sql('update transactions set intent_id = null where id = $1', [first.transactionId]);
    await expire(inDays(7.2));
    expect((await balancesOf(world, broken)).held).toBe(0);
  });

  test('a clearing whose authorization never comes is booked after a day, and answers it later', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const message = network.authorizationOf(payer);
    expect((await network.clear(payer, { authorizationId: message.id })).body).toEqual({ transactionId: null });
    await expire(inDays(0.9));
    expect((await balancesOf(world, payer)).available).toBe(5_000);
    expect((await expire(inDays(1.1))).orphans).toBe(1);
    expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
    const answers = await Promise.all(
      [1, 2, 3].map(() =>
        network.send<{ transactionId: string; rule: string; approvedCents: number }>('authorizations', message),
      ),
    );
    const [{ status, body } = { status: 0, body: { transactionId: '', rule: '', approvedCents: 0 } }] = answers;
    expect([status, body.rule, body.approvedCents]).toEqual([200, 'cleared_before', 1_250]);
    expect(answers).toEqual(answers.map(() => ({ status, body })));
    expect((await network.send('authorizations', { ...message, amountCents: 9_000 })).status).toBe(409);
    expect(await transaction(body.transactionId)).toMatchObject({ status: 'completed', cleared: 1_250 });
    expect((await expire(inDays(1.2))).orphans).toBe(0);
  });
});

describe('a card that is issued in that very moment', () => {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
  /** The processor has issued the card, and its reference is not stored yet. */
  async function notYetKnown() {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    await world.sql('update cards set card_ref = $2 where id = $1', [payer.cardId, `not-yet-${payer.cardRef}`]);
    const becomesKnown = () => world.sql('update cards set card_ref = $2 where id = $1', [payer.cardId, payer.cardRef]);
    return { payer, becomesKnown, message: network.authorizationOf(payer) };
  }

  test('declined as unknown and collected later: booked after a day, and the answer does not change', async () => {
    const { payer, becomesKnown, message } = await notYetKnown();
    const declined = await network.send<{ rule: string }>('authorizations', message);
    expect(declined.body.rule).toBe('unknown_card');
    await becomesKnown();
    expect((await network.clear(payer, { authorizationId: message.id })).body).toEqual({ transactionId: null });
    expect((await expireIn(world, inDays(1.1))).orphans).toBe(1);
    expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
    expect(await network.send('authorizations', message)).toEqual(declined);
    expect((await expireIn(world, inDays(1.2))).orphans).toBe(0);
    await network.clear(payer, { authorizationId: message.id, amountCents: 100 });
    expect(await balancesOf(world, payer)).toEqual({ available: 3_650, held: 0, receivable: 0 });
  });

  test('a reversal waits for its authorization, also where the card is not known yet', async () => {
    const { payer, becomesKnown, message } = await notYetKnown();
    expect(await network.reverse(payer, { authorizationId: message.id })).toMatchObject({ status: 200 });
    await becomesKnown();
    const { body } = await network.send<{ rule: string }>('authorizations', message);
    expect(body.rule).toBe('reversed_before');
    expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  });
});

function permutations<T>(items: T[]): T[][] {
  if (items.length <= 1) return [items];
  return items.flatMap((item, index) =>
    permutations([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  );
}
