/** execute, from the API through the real workflow to the sandbox's shop and network and back. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, type Refused, sendTo } from '../../../src/client/client.ts';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { policiesArea } from '../../../src/domains/spending/policies/policy.contract.ts';
import { type CheckoutWorld, startCheckoutWorld } from '../../support/checkout-world.ts';
import { eventNamesOf } from '../../support/events.ts';
import { anIntent, balancesOf, brokenInvariants, type Payer } from '../../support/payments-world.ts';
import { eventually } from '../../support/world.ts';

let w: CheckoutWorld;
beforeAll(async () => {
  w = await startCheckoutWorld();
});
afterAll(async () => {
  expect(await brokenInvariants(w.world)).toEqual([]);
  await w.close();
});

const execute = (token: string, intentId: string, targetUrl: string, key: string = crypto.randomUUID()) =>
  createClient(checkoutArea, sendTo(w.apiUrl, token)).executeCheckout({
    body: { intentId, targetUrl },
    headers: { 'Idempotency-Key': key },
  });
const buyer = (over: Parameters<CheckoutWorld['payer']>[0] = {}) =>
  w.payer({ policy: { require_intent: true }, fundsCents: 5_000, ...over });
const intentOf = async (id: string) =>
  (await w.world.sql('select status, matched_transaction_id, transaction_id from intents where id = $1', [id]))[0];

describe('execute', () => {
  // spec: does:Checkout:payment execution
  test('pays, and the clearing completes the intent', async () => {
    const payer = await buyer();
    const intentId = await anIntent(w.world, payer);
    const targetUrl = w.shop('sandbox-shop', 1_250);
    const answer = await execute(payer.token, intentId, targetUrl);
    expect(answer).toEqual({
      success: true,
      checkoutId: expect.stringMatching(/^chk_/),
      status: 'paid',
      transactionId: expect.stringMatching(/^tx_/),
      intentId,
      amountEuros: 12.5,
      targetUrl,
      cardId: payer.cardId,
      reason: null,
      paymentId: null,
    });
    await eventually(
      () => intentOf(intentId),
      (intent) => intent?.status === 'completed',
    );
    expect(await balancesOf(w.world, payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
    const names = (await eventNamesOf(w.world, payer.owner.ownerId)).filter(
      (name) => name.startsWith('transaction.') || name.startsWith('intent.'),
    );
    expect(names).toEqual([
      'transaction.created',
      'transaction.authorization',
      'intent.matched',
      'intent.completed',
      'transaction.settlement',
      'transaction.settled',
      'transaction.completed',
    ]);
  });

  test('the same key finds the same checkout, one payment', async () => {
    const payer = await buyer();
    const intentId = await anIntent(w.world, payer);
    const first = await execute(payer.token, intentId, w.shop('sandbox-shop', 1_250), 'one-key');
    expect(await execute(payer.token, intentId, w.shop('sandbox-shop', 1_250), 'one-key')).toEqual(first);
    expect(await w.world.sql('select 1 from transactions where intent_id = $1', [intentId])).toHaveLength(1);
  });

  test('by an owner key too; in parallel with two keys one pays and the other is refused', async () => {
    const payer = await buyer();
    const intentId = await anIntent(w.world, payer);
    const answers = await Promise.allSettled([
      execute(payer.owner.key, intentId, w.shop('sandbox-shop', 1_250)),
      execute(payer.token, intentId, w.shop('sandbox-shop', 1_250)),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 400 } });
    expect(await w.world.sql('select 1 from transactions where intent_id = $1', [intentId])).toHaveLength(1);
  });

  test('a checkout is paid although the shop failed after the authorization', async () => {
    const payer = await buyer();
    const intentId = await anIntent(w.world, payer, { merchant: null });
    expect(await execute(payer.token, intentId, w.shop('sandbox-flaky', 1_250))).toMatchObject({
      success: true,
      status: 'paid',
    });
    expect(await w.world.sql('select 1 from transactions where intent_id = $1', [intentId])).toHaveLength(1);
  });

  test('with similar intents it pays for its own', async () => {
    const payer = await buyer();
    const twin = await anIntent(w.world, payer);
    const intentId = await anIntent(w.world, payer);
    await execute(payer.token, intentId, w.shop('sandbox-shop', 1_250));
    expect(await intentOf(twin)).toMatchObject({ status: 'approved', matched_transaction_id: null });
  });

  test('below the amount of the intent is fine, also within tolerance above', async () => {
    const payer = await buyer({ policy: { require_intent: true, amount_tolerance_percent: 10 } });
    const [below, above] = [await anIntent(w.world, payer), await anIntent(w.world, payer)];
    expect(await execute(payer.token, below, w.shop('sandbox-shop', 900))).toMatchObject({
      success: true,
      amountEuros: 9,
    });
    expect(await execute(payer.token, above, w.shop('sandbox-shop', 1_375))).toMatchObject({
      success: true,
      amountEuros: 13.75,
    });
  });
});

describe('nothing is held', () => {
  const refused = async (payer: Payer, intentId: string, url: string, message: RegExp, status = 400) => {
    await expect(execute(payer.token, intentId, url)).rejects.toMatchObject({
      status,
      message: expect.stringMatching(message),
    });
    expect(await balancesOf(w.world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
    expect(await w.world.sql('select 1 from transactions where intent_id = $1', [intentId])).toEqual([]);
  };

  test('when the shop’s price is above the intent; the intent can be paid again', async () => {
    const payer = await buyer();
    const intentId = await anIntent(w.world, payer);
    await refused(payer, intentId, w.shop('sandbox-shop', 1_251), /expects 12\.50, asked 12\.51: nothing was held/);
    expect(await intentOf(intentId)).toMatchObject({ status: 'approved' });
    expect(await execute(payer.token, intentId, w.shop('sandbox-shop', 1_250))).toMatchObject({ success: true });
  });

  test('when it is another merchant', async () => {
    const payer = await buyer();
    await refused(
      payer,
      await anIntent(w.world, payer),
      w.shop('example-shop', 1_250),
      /expects Sandbox Shop, asked by Example Shop/,
    );
  });

  test('when there is no offer', async () => {
    const payer = await buyer();
    await refused(
      payer,
      await anIntent(w.world, payer),
      `${w.sandboxUrl}/receiver/x`,
      /offers no payment method Bursar speaks/,
    );
  });

  test.each([
    ['http://127.0.0.1:1/x', /targetUrl/],
    ['https://10.0.0.1/x', /targetUrl/],
    ['https://169.254.169.254/latest', /targetUrl/],
    ['http://example.com/', /https/],
    ['ftp://example.com/', /https/],
    ['nonsense', /targetUrl/],
  ])('when the address is %s', async (url, message) => {
    const payer = await buyer();
    await refused(payer, await anIntent(w.world, payer), url, message);
  });

  test('when there is too little money', async () => {
    const payer = await buyer();
    const intentId = await anIntent(w.world, payer, { amountCents: 9_000 });
    const offer = w.shop('sandbox-shop', 9_000);
    await refused(payer, intentId, offer, /available 50\.00, asked 90\.00/);
    const code = await execute(payer.token, intentId, offer).catch(({ headers }: Refused) =>
      headers.get('X-Service-Error-Code'),
    );
    expect(code).toBe('insufficient_funds');
    expect(await intentOf(intentId)).toMatchObject({ status: 'approved' });
  });

  test.each(['pending_approval', 'denied', 'cancelled', 'completed', 'failed'])(
    'when the intent is %s',
    async (status) => {
      const payer = await buyer();
      await refused(
        payer,
        await anIntent(w.world, payer, { status }),
        w.shop('sandbox-shop', 1_250),
        new RegExp(status),
      );
    },
  );

  test('when the intent is past its deadline', async () => {
    const payer = await buyer();
    await refused(payer, await anIntent(w.world, payer, { ttlMs: 1_000 }), w.shop('sandbox-shop', 1_250), /expired at/);
  });

  test('when card or agent are frozen', async () => {
    const payer = await buyer();
    const intentId = await anIntent(w.world, payer);
    await w.world.sql(`update cards set status = 'frozen', frozen_by = 'card' where id = $1`, [payer.cardId]);
    await refused(payer, intentId, w.shop('sandbox-shop', 1_250), /card .* is frozen/, 403);
    await w.world.sql(`update agents set status = 'frozen' where id = $1`, [payer.agentId]);
    await refused(payer, intentId, w.shop('sandbox-shop', 1_250), /agent .* is frozen/, 403);
  });

  // rulings A (Execute): the policy is evaluated on the offer, before the network is asked.
  test.each([
    ['mcc_blocklist', { blockedMccs: ['7995'] }, /rule mcc_blocklist: merchant category 7995 is blocked/],
    ['max_transaction', { maxTransactionEuros: 12.49 }, /rule max_transaction: transaction limit 12\.49, asked 12\.50/],
    ['daily_limit', { dailyLimitEuros: 12 }, /rule daily_limit: daily limit 12\.00, spent 0\.00, asked 12\.50/],
    ['country', { allowedCountries: ['FR'] }, /rule country: country DE is not among the allowed FR/],
    ['merchant_blocklist', { merchantBlocklist: ['Sandbox Casino'] }, /rule merchant_blocklist: .*Sandbox Casino/],
  ])(
    'when the rule %s forbids the offer; after the rule was changed the repeat pays',
    async (_rule, change, message) => {
      const payer = await buyer();
      const { updateAgentPolicy } = createClient(policiesArea, sendTo(w.apiUrl, payer.owner.key));
      const params = { agentId: payer.agentId };
      const before = { maxTransactionEuros: null, dailyLimitEuros: null, merchantBlocklist: [], blockedMccs: [] };
      const intentId = await anIntent(w.world, payer, { merchant: null, isAutoApproved: false });
      await updateAgentPolicy({ params, body: change });
      const url = w.shop('sandbox-casino', 1_250);
      const key = crypto.randomUUID();
      const refusal = await execute(payer.token, intentId, url, key).catch((error: unknown) => error as Refused);
      expect(refusal).toMatchObject({ status: 403, message: expect.stringMatching(message) });
      expect((refusal as Refused).headers.get('x-service-error-code')).toBe('policy_denied');
      expect(await intentOf(intentId)).toMatchObject({ status: 'approved', matched_transaction_id: null });
      expect(await balancesOf(w.world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
      expect(await w.world.sql('select 1 from transactions where card_id = $1', [payer.cardId])).toEqual([]);
      expect(await w.world.sql('select 1 from network_messages where card_ref = $1', [payer.cardRef])).toEqual([]);
      await updateAgentPolicy({ params, body: { ...before, allowedCountries: ['DE'] } });
      expect(await execute(payer.token, intentId, url, key)).toMatchObject({ success: true, amountEuros: 12.5 });
    },
  );

  test('when the intent belongs to another owner', async () => {
    const payer = await buyer();
    const intentId = await anIntent(w.world, payer);
    await expect(execute((await buyer()).token, intentId, w.shop('sandbox-shop', 1_250))).rejects.toMatchObject({
      status: 404,
    });
    await expect(
      execute((await buyer({ owner: payer.owner })).token, intentId, w.shop('sandbox-shop', 1_250)),
    ).rejects.toMatchObject({ status: 403 });
  });
});

test('with the worker away it is 503; the same key finds the same checkout when it is back', async () => {
  await w.stopWorker();
  const payer = await buyer();
  const intentId = await anIntent(w.world, payer);
  const url = w.shop('sandbox-shop', 1_250);
  await expect(execute(payer.token, intentId, url, 'late')).rejects.toMatchObject({ status: 503 });
  const [{ id } = { id: '' }] = await w.world.sql<{ id: string }>('select id from checkouts where intent_id = $1', [
    intentId,
  ]);
  await expect(execute(payer.token, intentId, url)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining(`${id} of this intent is under way`),
  });
  await w.startWorker();
  const answer = await eventually(
    () => execute(payer.token, intentId, url, 'late').catch((error: { status: number }) => error),
    (given) => 'success' in given,
  );
  expect(answer).toMatchObject({ success: true, checkoutId: id });
  expect(await w.world.sql('select 1 from transactions where intent_id = $1', [intentId])).toHaveLength(1);
});
