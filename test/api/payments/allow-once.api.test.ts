/**
 * An owner lets a declined charge pass once: over HTTP and the signed messages of the network. Never more than one
 * charge, never more than the amount, never another merchant, card or agent, never late, never by another's credential.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { cardsArea } from '../../../src/domains/cards/cards/card.contract.ts';
import { approvalsArea } from '../../../src/domains/identity/approvals/approval.contract.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { policiesArea } from '../../../src/domains/spending/policies/policy.contract.ts';
import { transfersArea } from '../../../src/domains/treasury/transfers/transfer.contract.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { eventNamesOf, eventsOf } from '../../support/events.ts';
import { aBeneficiary, anIban } from '../../support/factories/beneficiaries.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import {
  anIntent,
  aPayer,
  balancesOf,
  brokenInvariants,
  type Payer,
  sandboxShop,
} from '../../support/payments-world.ts';
import { refusalOf, statusOf } from '../../support/refusals.ts';
import type { World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

const limited = { daily_limit_cents: 1_000 };
const allow = (payer: Payer, id: unknown, key = payer.owner.key) =>
  world
    .as(key)
    .client(transactionsArea)
    .allowTransactionOnce({ params: { id: String(id) as never }, body: {} });
const decisionOn = (payer: Payer, id: unknown, key = payer.owner.key) =>
  world
    .as(key)
    .client(transactionsArea)
    .getTransactionDecision({ params: { id: String(id) as never } });
const intentOf = (payer: Payer, id: string) =>
  payer.owner.client(intentsArea).getIntent({ params: { id: id as never } });

/** A payer whose charge was declined by the daily limit, and allowed once. */
async function anAllowed(options: Parameters<typeof aPayer>[1] = {}) {
  const payer = await aPayer(world, { ...options, policy: { ...limited, ...options.policy } });
  const { body } = await network.authorize(payer);
  expect(body).toMatchObject({ decision: 'declined', rule: 'daily_limit' });
  return { payer, declinedId: String(body.transactionId), intent: await allow(payer, body.transactionId) };
}

describe('a declined charge that its owner allows', () => {
  test('passes at the next attempt, once; the trace and the events name the permission', async () => {
    const { payer, declinedId, intent } = await anAllowed();
    expect(await decisionOn(payer, declinedId)).toMatchObject({
      mayAllowOnce: true,
      inWords: expect.stringMatching(/^Declined: daily limit 10.00.*The owner can also allow it once\.$/),
    });
    expect(intent).toMatchObject({
      status: 'approved',
      agentId: payer.agentId,
      cardId: payer.cardId,
      expectedAmountEuros: 12.5,
      expectedMerchant: 'Sandbox Shop',
      approvedBy: expect.stringMatching(/^key:key_/),
      allowsOnceOf: declinedId,
      declinedCharge: {
        transactionId: declinedId,
        merchantId: 'sandbox-shop',
        merchantMcc: '5734',
        merchantCountry: 'DE',
        rule: 'daily_limit',
        figures: { limitEuros: 10, spentEuros: 0, askedEuros: 12.5 },
      },
      purpose: 'a charge of 12.50 EUR by Sandbox Shop that was declined (daily_limit) and is allowed once',
    });
    expect(Date.parse(intent.expiresAt) - Date.parse(intent.createdAt)).toBe(15 * 60_000);
    expect(await allow(payer, declinedId)).toEqual(intent);
    const paid = (await network.authorize(payer)).body;
    expect(paid).toMatchObject({ decision: 'approved', approvedCents: 1_250, rule: 'allowed_once' });
    expect(paid.reason).toBe(
      `the owner has allowed 12.50 once for this merchant, after ${declinedId} was declined; asked 12.50, in spite of daily_limit`,
    );
    const decision = await decisionOn(payer, paid.transactionId);
    expect(decision).toMatchObject({ outcome: 'approved', intentId: intent.id, mayAllowOnce: false, remedy: [] });
    expect(decision.trace).toEqual(
      expect.arrayContaining([
        {
          rule: 'daily_limit',
          outcome: 'lifted',
          figures: { limitEuros: 10, spentEuros: 0, askedEuros: 12.5, allowedOnceOf: declinedId },
        },
      ]),
    );
    expect(decision.trace.at(-1)).toEqual({
      rule: 'allowed_once',
      outcome: 'pass',
      figures: { allowedOnceOf: declinedId, intentId: intent.id, askedEuros: 12.5, limitEuros: 12.5 },
    });
    expect(await eventNamesOf(world, intent.id)).toEqual(['intent.created', 'intent.approved', 'intent.matched']);
    const told = [...(await eventsOf(world, declinedId)), ...(await eventsOf(world, String(paid.transactionId)))];
    expect(told.flatMap(({ name, data }) => (data.decision === undefined ? [] : [[name, data.decision]]))).toEqual([
      [
        'transaction.declined',
        {
          ...{ rule: 'daily_limit', askedEuros: 12.5, limitEuros: 10, spentEuros: 0, availableEuros: null },
          allowedOnceOf: null,
        },
      ],
      [
        'transaction.authorization',
        {
          ...{ rule: 'allowed_once', askedEuros: 12.5, limitEuros: 12.5, spentEuros: null, availableEuros: null },
          allowedOnceOf: declinedId,
        },
      ],
    ]);
    const audited = await world.sql<{ action: string }>(
      `select action from audit where owner_id = $1 and details::text like $2 order by created_at, id`,
      [payer.owner.ownerId, `%"allowsOnceOf": "${declinedId}"%`],
    );
    expect(audited.map(({ action }) => action)).toEqual(['intent.created']);
    // It counts as spent, and a second charge of the same kind is declined.
    expect((await network.authorize(payer)).body).toMatchObject({
      decision: 'declined',
      rule: 'daily_limit',
      reason: 'daily limit 10.00, spent 12.50, asked 12.50',
    });
    expect(await allow(payer, declinedId)).toMatchObject({ id: intent.id, matchedTransactionId: paid.transactionId });
    const [message] = await world.sql<{ authorization_id: string }>(
      'select authorization_id from transactions where id = $1',
      [paid.transactionId],
    );
    await network.clear(payer, { authorizationId: message?.authorization_id });
    expect(await intentOf(payer, intent.id)).toMatchObject({ status: 'completed', transactionId: paid.transactionId });
    expect(await brokenInvariants(world)).toEqual([]);
  });

  test('is one of forty attempts at once', async () => {
    const { payer, intent } = await anAllowed();
    const tries = await Promise.all(Array.from({ length: 40 }, () => network.authorize(payer)));
    const approved = tries.filter(({ body }) => body.decision === 'approved');
    expect(approved.map(({ body }) => body.rule)).toEqual(['allowed_once']);
    expect(tries.map(({ status }) => status)).toEqual(tries.map(() => 200));
    expect((await intentOf(payer, intent.id)).matchedTransactionId).toBe(approved[0]?.body.transactionId);
    expect(await balancesOf(world, payer)).toMatchObject({ available: 100_000 - 1_250, held: 1_250 });
  });

  test('makes one intent, however many calls come at once', async () => {
    const payer = await aPayer(world, { policy: limited });
    const { body } = await network.authorize(payer);
    const made = await Promise.all(Array.from({ length: 8 }, () => allow(payer, body.transactionId)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await eventNamesOf(world, String(made[0]?.id))).toEqual(['intent.created', 'intent.approved']);
  });

  test('is used up by a charge that was reversed', async () => {
    const { payer, intent } = await anAllowed();
    const message = network.authorizationOf(payer);
    expect((await network.send('authorizations', message)).body).toMatchObject({ rule: 'allowed_once' });
    await network.reverse(payer, { authorizationId: message.id });
    expect((await intentOf(payer, intent.id)).status).toBe('cancelled');
    expect((await network.authorize(payer)).body).toMatchObject({ decision: 'declined', rule: 'daily_limit' });
  });

  test.each(['approves', 'collects'])('is used up where the network %s the declined charge itself', async (deed) => {
    const payer = await aPayer(world, { policy: limited });
    const message = network.authorizationOf(payer);
    const { body } = await network.send<{ transactionId: string }>('authorizations', message);
    const { id } = await allow(payer, body.transactionId);
    if (deed === 'approves') {
      await network.advise(message);
      expect(await intentOf(payer, id)).toMatchObject({ status: 'approved', matchedTransactionId: body.transactionId });
      expect((await network.authorize(payer)).body).toMatchObject({ decision: 'declined', rule: 'daily_limit' });
    }
    await network.clear(payer, { authorizationId: message.id });
    expect(await intentOf(payer, id)).toMatchObject({ status: 'completed', transactionId: body.transactionId });
    expect((await network.authorize(payer)).body).toMatchObject({ decision: 'declined', rule: 'daily_limit' });
    expect(await brokenInvariants(world)).toEqual([]);
  });

  test('takes the place of the declared intent, with its attestation: one purchase has one grant', async () => {
    const payer = await aPayer(world, {
      policy: { ...limited, require_intent: true, require_attestation: true, attestation_window_minutes: 60 },
    });
    const declared = await anIntent(world, payer);
    await world.sql(`update intents set attested_at = created_at, attested_by = 'pk_aaaaaaaa' where id = $1`, [
      declared,
    ]);
    const { body } = await network.authorize(payer);
    expect(body).toMatchObject({ decision: 'declined', rule: 'daily_limit' });
    const calls = await Promise.all([1, 2, 3].map(() => allow(payer, body.transactionId)));
    const ended = await intentOf(payer, declared);
    expect(ended.status).toBe('cancelled');
    expect(calls.map(({ id, attestedAt }) => [id, attestedAt])).toEqual(
      calls.map(() => [calls[0]?.id, ended.attestedAt]),
    );
    const [audited] = await world.sql(
      `select details ->> 'reason' as reason from audit where subject_id = $1 and action = 'intent.cancelled'`,
      [declared],
    );
    expect(audited).toEqual({
      reason: `transaction ${body.transactionId} is allowed once: the permission takes the place of this intent`,
    });
    expect((await network.authorize(payer)).body).toMatchObject({ decision: 'approved', rule: 'allowed_once' });
    await world.advance(86_400_000);
    expect((await network.authorize(payer, { amountCents: 1_000 })).body).toMatchObject({
      ...{ decision: 'declined', rule: 'intent_required' },
    });
  });

  test('is not used where the rules approve, and is withdrawn by a cancellation', async () => {
    const { payer, intent } = await anAllowed();
    const small = await network.authorize(payer, { amountCents: 500 });
    expect(small.body).toMatchObject({ decision: 'approved', rule: 'within_rules' });
    await payer.owner.client(intentsArea).cancelIntent({ params: { id: intent.id }, body: {} });
    expect((await network.authorize(payer)).body).toMatchObject({ decision: 'declined', rule: 'daily_limit' });
  });

  test('also passes where the policy requires an intent, a person, or blocks the merchant', async () => {
    const payer = await aPayer(world, {
      policy: {
        ...{ require_intent: true, auto_approve_limit_cents: 100, merchant_blocklist: ['Sandbox Shop'] },
        ...{ blocked_mccs: ['5734'], max_transaction_cents: 100, lock_to_first_merchant: true },
      },
    });
    const { body } = await network.authorize(payer);
    expect(body.rule).toBe('merchant_blocklist');
    await allow(payer, body.transactionId);
    const paid = (await network.authorize(payer)).body;
    expect(paid).toMatchObject({ decision: 'approved', rule: 'allowed_once' });
    expect(paid.reason).toMatch(/in spite of merchant_blocklist, mcc_blocklist, max_transaction$/);
  });
});

describe('the permission is for nothing else', () => {
  test('no other merchant, name, category, country or amount', async () => {
    const { payer, intent } = await anAllowed();
    for (const merchant of [
      { ...sandboxShop, id: 'example-shop' },
      { ...sandboxShop, name: 'Sandbox Shop 2' },
      { ...sandboxShop, mcc: '7995' },
      { ...sandboxShop, country: 'FR' },
    ])
      expect((await network.authorize(payer, { merchant })).body).toMatchObject({ rule: 'daily_limit' });
    expect((await network.authorize(payer, { amountCents: 1_251 })).body.rule).toBe('daily_limit');
    // Less than what was declined is within it, and uses it up.
    expect((await network.authorize(payer, { amountCents: 1_249 })).body).toMatchObject({
      decision: 'approved',
      approvedCents: 1_249,
      rule: 'allowed_once',
    });
    expect((await intentOf(payer, intent.id)).matchedTransactionId).not.toBeNull();
  });

  test('no other card and no other agent of the same owner', async () => {
    const { payer, intent } = await anAllowed();
    const colleague = await aPayer(world, { owner: payer.owner, policy: limited });
    expect((await network.authorize(colleague)).body).toMatchObject({ decision: 'declined', rule: 'daily_limit' });
    const [cardId, cardRef] = [newId('card'), `cr_${randomUUID()}`];
    await world.sql(
      `insert into cards (id, owner_id, agent_id, card_ref, last4, brand, expiry_month, expiry_year, status, synced_state,
         usage, is_primary, name, is_provisioning, origin, created_at, updated_at)
       select $1, owner_id, agent_id, $2, '1111', brand, expiry_month, expiry_year, status, synced_state, usage, false,
         'second', false, origin, created_at, updated_at from cards where id = $3`,
      [cardId, cardRef, payer.cardId],
    );
    expect((await network.authorize({ ...payer, cardId, cardRef })).body).toMatchObject({ rule: 'daily_limit' });
    expect((await intentOf(payer, intent.id)).matchedTransactionId).toBeNull();
  });

  test('no payment that names its intent', async () => {
    const { payer, intent } = await anAllowed();
    const { id: intentId } = intent;
    const agent = world.as(payer.token);
    const only = /only lets the charge of transaction tx_\w+ pass once/;
    const target = { targetUrl: `${world.sandboxUrl}/shops/sandbox-shop?amountCents=1250` };
    const key = { 'Idempotency-Key': randomUUID() };
    const attempts = [
      () => agent.client(checkoutArea).executeCheckout({ body: { intentId, ...target } }),
      () => agent.client(checkoutArea).confirmCheckout({ body: { intentId }, headers: key }),
      () => payer.owner.client(transactionsArea).simulateTransaction({ body: { cardId: payer.cardId, intentId } }),
    ];
    for (const attempt of attempts) expect(await refusalOf(attempt())).toEqual([400, expect.stringMatching(only)]);
    expect((await intentOf(payer, intentId)).status).toBe('approved');
  });

  test.each([{ daily_limit_cents: 1_000 }, { daily_limit_cents: 1_000, require_intent: true }])(
    'no transfer of the agent, to a wallet or a bank, with its intent or without (policy %p)',
    async (policy) => {
      const payer = await aPayer(world, { policy });
      const { body } = await network.authorize(payer);
      const intent = await allow(payer, body.transactionId);
      await world.sql(`update agent_tokens set scopes = '{*,transfers.write}' where agent_id = $1`, [payer.agentId]);
      await world.sql(`update wallets set iban = $2, bic = 'BURSDEF0XXX' where id = $1`, [payer.walletId, anIban()]);
      const { id: toWalletId } = await payer.owner.client(walletsArea).createWallet({ body: { name: 'Sandbox Shop' } });
      const payee = { name: 'Sandbox Shop', agentsMayPay: true };
      const { id: beneficiaryId } = await aBeneficiary(payer.owner, payee);
      const transfers = world.as(payer.token).client(transfersArea);
      const only = /only lets the charge of transaction tx_\w+ pass once/;
      for (const target of [{ toWalletId }, { beneficiaryId }]) {
        const order = { ...target, amountEuros: 12.5 };
        expect(await refusalOf(transfers.createTransfer({ body: order }))).toEqual([403, expect.any(String)]);
        const named = { ...order, intentId: intent.id };
        expect(await refusalOf(transfers.createTransfer({ body: named }))).toEqual([400, expect.stringMatching(only)]);
      }
      const splits = [
        { toWalletId, amountEuros: 6.25 },
        { beneficiaryId, amountEuros: 6.25 },
      ];
      const split = { body: { splits, intentId: intent.id } };
      expect(await refusalOf(transfers.createTransferSplit(split))).toEqual([400, expect.stringMatching(only)]);
      expect(await balancesOf(world, payer)).toEqual({ available: 100_000, held: 0, receivable: 0 });
      expect(await intentOf(payer, intent.id)).toMatchObject({ status: 'approved', transferId: null });
      expect((await network.authorize(payer)).body).toMatchObject({ decision: 'approved', rule: 'allowed_once' });
    },
  );

  test('no increment, of another payment or of the one that it let pass', async () => {
    const payer = await aPayer(world, { policy: limited });
    const first = network.authorizationOf(payer, { amountCents: 500 });
    await network.send('authorizations', first);
    const { body } = await network.authorize(payer);
    const intent = await allow(payer, body.transactionId);
    const raise = (authorizationId: string, amountCents: number) =>
      network.increment(payer, { authorizationId, amountCents, partialSupported: true });
    const refused = { decision: 'declined', approvedCents: 0, rule: 'daily_limit' };
    // By the same merchant, and by what was declined; a part of 5.00 is within the rules and needs no permission.
    expect((await raise(first.id, 1_250)).body).toMatchObject({ decision: 'partial', approvedCents: 500 });
    expect((await raise(first.id, 1_250)).body).toMatchObject(refused);
    expect((await intentOf(payer, intent.id)).matchedTransactionId).toBeNull();
    const retry = network.authorizationOf(payer);
    expect((await network.send('authorizations', retry)).body).toMatchObject({ rule: 'allowed_once' });
    expect((await raise(retry.id, 1)).body).toMatchObject(refused);
    expect((await raise(first.id, 1)).body).toMatchObject(refused);
    expect(await balancesOf(world, payer)).toEqual({ available: 97_750, held: 2_250, receivable: 0 });
    expect(await brokenInvariants(world)).toEqual([]);
  });

  test('at once with increments, smaller and larger attempts: one passes, for no more than was declined', async () => {
    const payer = await aPayer(world, { policy: limited });
    const first = network.authorizationOf(payer, { amountCents: 1_000 });
    await network.send('authorizations', first);
    const { body } = await network.authorize(payer);
    const intent = await allow(payer, body.transactionId);
    const attempts = [1_248, 1_249, 1_250, 1_251, 2_000].flatMap((amountCents) => [
      ...Array.from({ length: 6 }, () => network.authorize(payer, { amountCents, partialSupported: true })),
      ...[1, 2].map(() => network.increment(payer, { authorizationId: first.id, amountCents, partialSupported: true })),
    ]);
    const answers = await Promise.all(attempts);
    expect(answers.map(({ status }) => status)).toEqual(attempts.map(() => 200));
    const passed = answers.filter(({ body: { approvedCents } }) => approvedCents > 0);
    expect(passed.map(({ body: { decision, rule } }) => [decision, rule])).toEqual([['approved', 'allowed_once']]);
    expect(passed[0]?.body.approvedCents).toBeLessThanOrEqual(1_250);
    expect((await intentOf(payer, intent.id)).matchedTransactionId).toBe(passed[0]?.body.transactionId);
    expect((await balancesOf(world, payer)).held).toBe(1_000 + Number(passed[0]?.body.approvedCents));
    expect(await brokenInvariants(world)).toEqual([]);
  });

  test('only the owner’s key grants it', async () => {
    const payer = await aPayer(world, { policy: limited });
    const { body } = await network.authorize(payer);
    const stranger = await aPayer(world);
    expect(await statusOf(allow(payer, body.transactionId, payer.token))).toBe(403);
    expect(await statusOf(allow(payer, body.transactionId, stranger.owner.key))).toBe(404);
    expect(await statusOf(allow(payer, body.transactionId, stranger.token))).toBeGreaterThanOrEqual(403);
    expect(await statusOf(allow(payer, newId('transaction')))).toBe(404);
    expect((await network.authorize(payer)).body.decision).toBe('declined');
  });
});

describe('where the permission cannot help it is refused, with the rule', () => {
  const refusedFor = async (options: Parameters<typeof aPayer>[1], over = {}) => {
    const payer = await aPayer(world, options);
    const { body } = await network.authorize(payer, over);
    expect(body.decision).toBe('declined');
    return [...(await refusalOf(allow(payer, body.transactionId))), body.rule];
  };

  test('states, single use, attestation and money', async () => {
    expect(await refusedFor({ card: { status: 'frozen', frozen_by: 'card' } })).toEqual([
      403,
      'no permission helps: the card is frozen',
      'card_status',
    ]);
    expect(await refusedFor({ policy: { expires_after_minutes: 1, updated_at: new Date(0) } })).toEqual([
      403,
      expect.stringMatching(/no permission helps: the policy expired/),
      'policy_expiry',
    ]);
    expect(await refusedFor({ fundsCents: 500 })).toEqual([
      403,
      'no permission helps: available 5.00, asked 12.50',
      'insufficient_funds',
    ]);
    // The first refusal could be lifted, and the next one not.
    expect(await refusedFor({ fundsCents: 500, policy: limited })).toEqual([
      403,
      'the charge would be declined nevertheless: available 5.00, asked 12.50',
      'daily_limit',
    ]);
    expect(await refusedFor({ policy: { ...limited, require_attestation: true } })).toEqual([
      403,
      expect.stringMatching(/the charge would be declined nevertheless: needs an attestation/),
      'daily_limit',
    ]);
  });

  test('a charge that was not declined, an account check, and a freeze after the decline', async () => {
    const payer = await aPayer(world, { policy: { blocked_mccs: ['7995'] } });
    const approved = (await network.authorize(payer)).body;
    expect(await refusalOf(allow(payer, approved.transactionId))).toEqual([
      400,
      `transaction ${approved.transactionId} was not declined, so there is nothing to allow`,
    ]);
    const merchant = { ...sandboxShop, mcc: '7995' };
    const check = (await network.authorize(payer, { kind: 'verification', amountCents: 0, merchant })).body;
    expect(await refusalOf(allow(payer, check.transactionId))).toEqual([400, expect.stringMatching(/account check/)]);
    const { body } = await network.authorize(payer, { merchant });
    await payer.owner.client(agentsArea).freezeAgent({ params: { id: payer.agentId }, body: {} });
    expect(await refusalOf(allow(payer, body.transactionId))).toEqual([
      403,
      expect.stringMatching(/the charge would be declined nevertheless: the agent is frozen/),
    ]);
    await payer.owner.client(agentsArea).unfreezeAgent({ params: { id: payer.agentId } });
    expect((await allow(payer, body.transactionId)).status).toBe('approved');
    await payer.owner.client(agentsArea).freezeAgent({ params: { id: payer.agentId }, body: {} });
    expect((await network.authorize(payer, { merchant })).body.rule).toBe('agent_status');
  });
});

describe('while it is used, the owner changes his mind', () => {
  const changes: readonly [name: string, change: (payer: Payer) => Promise<unknown>, isLifted: boolean][] = [
    [
      'freezes the agent',
      ({ owner, agentId }) => owner.client(agentsArea).freezeAgent({ params: { id: agentId }, body: {} }),
      false,
    ],
    ['freezes the card', ({ owner, cardId }) => owner.client(cardsArea).freezeCard({ params: { cardId } }), false],
    ['closes the card', ({ owner, cardId }) => owner.client(cardsArea).closeCard({ params: { cardId } }), false],
    [
      'demands attestation',
      ({ owner, agentId }) =>
        owner.client(policiesArea).updateAgentPolicy({ params: { agentId }, body: { requireAttestation: true } }),
      false,
    ],
    [
      'lowers a limit',
      ({ owner, agentId }) =>
        owner.client(policiesArea).updateAgentPolicy({ params: { agentId }, body: { maxTransactionEuros: 1 } }),
      true,
    ],
  ];
  test.each(changes)('%s', async (_name, change, isLifted) => {
    const { payer } = await anAllowed();
    const [tries] = await Promise.all([
      Promise.all(Array.from({ length: 6 }, () => network.authorize(payer))),
      change(payer),
    ]);
    const late = await network.authorize(payer);
    const approved = [...tries, late].filter(({ body }) => body.decision === 'approved');
    expect(approved.length).toBeLessThanOrEqual(1);
    if (isLifted) expect(approved.length).toBe(1);
    else expect(late.body.decision).toBe('declined');
    const { held } = await balancesOf(world, payer);
    expect(held).toBe(1_250 * approved.length);
  });
});

describe('a charge that a person is asked about', () => {
  const asking = { auto_approve_limit_cents: 1_000 };
  const waiting = async (payer: Payer) =>
    (await payer.owner.client(intentsArea).listIntents({ query: { status: 'pending_approval' } })).data;

  test('is shown with merchant, category, card, rule and figures, to the approver and to the owner', async () => {
    const payer = await aPayer(world, { policy: asking });
    const { body } = await network.authorize(payer);
    const [intent] = await waiting(payer);
    expect(intent).toMatchObject({
      expectedAmountEuros: 12.5,
      expectedMerchant: 'Sandbox Shop',
      cardId: payer.cardId,
      allowsOnceOf: null,
      declinedCharge: {
        ...{
          transactionId: body.transactionId,
          merchantId: 'sandbox-shop',
          merchantMcc: '5734',
          merchantCountry: 'DE',
        },
        ...{ rule: 'auto_approve_limit', figures: { limitEuros: 10, askedEuros: 12.5 } },
      },
    });
    const token = String(intent?.approvalUrl).split('/').at(-1) ?? '';
    const page = await world.as('').client(approvalsArea).getApproval({ params: { token } });
    expect(page.request?.facts.map(({ name, text }) => [name, text])).toEqual([
      ['merchant', 'Sandbox Shop'],
      ['merchantMcc', '5734'],
      ['merchantCountry', 'DE'],
      ['card', 'default, ends with 4242'],
      ['declinedTransactionId', body.transactionId],
      ['rule', 'auto_approve_limit'],
    ]);
    expect(page.request?.rule).toMatch(/up to 10.00 EUR without asking: a person has to approve 12.50 EUR/);
    const [created] = (await eventsOf(world, String(intent?.id))).filter(({ name }) => name === 'intent.created');
    expect(created?.data).toMatchObject({ declinedTransactionId: body.transactionId, allowsOnceOf: null });
  });

  test('is asked about once, not again on the day of a denial, and again after it or without an answer', async () => {
    const payer = await aPayer(world, { policy: asking });
    for (let attempt = 0; attempt < 3; attempt++) await network.authorize(payer);
    const [intent, ...others] = await waiting(payer);
    expect(others).toEqual([]);
    await payer.owner.client(intentsArea).denyIntent({ params: { id: intent?.id as never }, body: {} });
    await network.authorize(payer);
    expect(await waiting(payer)).toEqual([]);
    await network.authorize(payer, { amountCents: 1_300 });
    expect((await waiting(payer)).map(({ expectedAmountEuros }) => expectedAmountEuros)).toEqual([13]);
    const { body } = await network.authorize(payer);
    expect((await allow(payer, body.transactionId)).status).toBe('approved');
    expect((await network.authorize(payer)).body).toMatchObject({ decision: 'approved', rule: 'allowed_once' });
    await world.advance(86_400_000);
    await network.authorize(payer);
    await network.authorize(payer, { amountCents: 1_300 });
    expect((await waiting(payer)).map(({ expectedAmountEuros }) => expectedAmountEuros).sort()).toEqual([12.5, 13]);
  });
});

describe('a charge that a person is asked about, and that the owner allows', () => {
  const waitingFor = async (policy: Record<string, unknown>) => {
    const payer = await aPayer(world, { policy });
    const { body } = await network.authorize(payer);
    expect(body.rule).toBe('auto_approve_limit');
    const { data } = await payer.owner.client(intentsArea).listIntents({ query: { status: 'pending_approval' } });
    return { payer, declinedId: body.transactionId, requestId: data[0]?.id as `int_${string}` };
  };
  const approve = ({ owner }: Payer, id: `int_${string}`) =>
    owner.client(intentsArea).approveIntent({ params: { id }, body: {} });

  test('passes once: the permission takes the place of the request', async () => {
    const { payer, declinedId, requestId } = await waitingFor({ auto_approve_limit_cents: 1_000 });
    await allow(payer, declinedId);
    expect((await intentOf(payer, requestId)).status).toBe('cancelled');
    expect(await statusOf(approve(payer, requestId))).toBe(400);
    const rules = [];
    for (let attempt = 0; attempt < 2; attempt++) rules.push((await network.authorize(payer)).body.rule);
    expect(rules).toEqual(['allowed_once', 'auto_approve_limit']);
  });

  test('is not allowed as well once a person has approved it, unless it was declined in spite of that', async () => {
    const { payer, declinedId, requestId } = await waitingFor({ auto_approve_limit_cents: 1_000 });
    // As the workflow run writes it, which no worker does here.
    await world.sql(
      `update intents set status = 'approved', approved_by = 'key:key_aaaaaaaa', approved_at = updated_at where id = $1`,
      [requestId],
    );
    expect(await refusalOf(allow(payer, declinedId))).toEqual([
      400,
      `intent ${requestId} already lets the next attempt pass`,
    ]);
    await payer.owner
      .client(policiesArea)
      .updateAgentPolicy({ params: { agentId: payer.agentId }, body: { dailyLimitEuros: 10 } });
    const { body } = await network.authorize(payer);
    expect(body.rule).toBe('daily_limit');
    await allow(payer, body.transactionId);
    expect((await intentOf(payer, requestId)).status).toBe('cancelled');
    expect((await network.authorize(payer)).body.rule).toBe('allowed_once');
  });
});

test('an agent reads its trace and the change that is enough, and not the rules of its policy', async () => {
  const payer = await aPayer(world, { policy: limited });
  await payer.owner
    .client(policiesArea)
    .updateAgentPolicy({ params: { agentId: payer.agentId }, body: { dailyLimitEuros: 9 } });
  const { body } = await network.authorize(payer);
  const [own, owners] = [
    await decisionOn(payer, body.transactionId, payer.token),
    await decisionOn(payer, body.transactionId),
  ];
  expect(owners.policy).toMatchObject({ version: 2, policy: { dailyLimitEuros: 9 } });
  expect(own).toEqual({ ...owners, policy: null });
  expect(own).toMatchObject({ policyVersion: 2, remedy: [{ field: 'policy.dailyLimitEuros', value: 12.5 }] });
});

describe('time', () => {
  test('the permission is good until then', async () => {
    const { payer } = await anAllowed();
    await world.advance(10 * 60_000);
    expect((await network.authorize(payer)).body).toMatchObject({ decision: 'approved', rule: 'allowed_once' });
  });

  test('the permission ends after 15 minutes, and a decline is too old after a week', async () => {
    const { payer, declinedId, intent } = await anAllowed();
    const { body } = await network.authorize(payer, { amountCents: 2_000 });
    await world.advance(15 * 60_000);
    expect((await network.authorize(payer)).body).toMatchObject({ decision: 'declined', rule: 'daily_limit' });
    expect(await allow(payer, declinedId)).toMatchObject({ id: intent.id, status: 'expired' });
    await world.advance(7 * 86_400_000);
    expect(await refusalOf(allow(payer, body.transactionId))).toEqual([
      400,
      expect.stringMatching(/declined 7 d 0 h ago, and a charge is allowed within 7 d 0 h/),
    ]);
  });
});
