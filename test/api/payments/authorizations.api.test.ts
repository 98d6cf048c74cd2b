/** The network asks whether a card may pay. Real HTTP, signatures and rows. @module */

import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { applyToIntent } from '../../../src/domains/spending/intents/intent.service.ts';
import { hour } from '../../../src/kernel/instant.ts';
import { eventNamesOf, eventsOf } from '../../support/events.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import {
  anIntent,
  aPayer,
  balancesOf,
  inDatabase,
  journalsOf,
  sandboxShop,
  signed,
} from '../../support/payments-world.ts';
import type { World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

describe('a charge that the rules allow', () => {
  // spec: state:Transaction:created
  // spec: state:Transaction:authorization
  // spec: event:transaction.created
  // spec: event:transaction.authorization
  test('is approved, and its money is held', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { status, body } = await network.authorize(payer);
    expect(status).toBe(200);
    expect(body).toEqual({
      decision: 'approved',
      approvedCents: 1_250,
      transactionId: expect.stringMatching(/^tx_/),
      rule: 'within_rules',
      reason: '12.50 is within all rules',
    });
    expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 1_250, receivable: 0 });
    expect(await journalsOf(world, payer.owner.ownerId)).toEqual(['authorization']);
    const names = await eventNamesOf(world, payer.owner.ownerId);
    expect(names).toEqual(['api_key.created', 'transaction.created', 'transaction.authorization']);
  });

  // spec: state:Intent:matched
  // spec: event:intent.matched
  test('matches the approved intent that it fits', async () => {
    const payer = await aPayer(world, { policy: { require_intent: true } });
    const other = await anIntent(world, payer, { amountCents: 900, merchant: 'Example Shop' });
    const intentId = await anIntent(world, payer);
    const { body } = await network.authorize(payer);
    expect(body.decision).toBe('approved');
    const stored = (id: string) =>
      world.sql('select matched_transaction_id as matched, status from intents where id = $1', [id]);
    expect(await stored(other)).toEqual([{ matched: null, status: 'approved' }]);
    expect(await stored(intentId)).toEqual([{ matched: body.transactionId, status: 'approved' }]);
    const matched = (await eventsOf(world, payer.owner.ownerId)).find(({ name }) => name === 'intent.matched');
    expect(matched?.data).toMatchObject({
      id: intentId,
      agentId: payer.agentId,
      status: 'approved',
      matchedTransactionId: body.transactionId,
    });
  });

  test('is stored as a decision with the policy version, the figures and the trace', async () => {
    const payer = await aPayer(world, { policy: { daily_limit_cents: 10_000, version: 7 } });
    const { body } = await network.authorize(payer);
    const [decision] = await world.sql('select * from decisions where transaction_id = $1', [body.transactionId]);
    expect(decision).toMatchObject({
      outcome: 'approved',
      rule: 'within_rules',
      policy_version: 7,
      policy_id: payer.policyId,
    });
    expect(decision?.facts).toMatchObject({
      amountCents: 1_250,
      counters: { spentTodayCents: 0 },
      availableCents: 100_000,
    });
    expect(decision?.trace).toContainEqual({
      rule: 'daily_limit',
      outcome: 'pass',
      figures: { limitCents: 10_000, spentCents: 0, askedCents: 1_250 },
    });
  });
});

describe('a charge that is declined', () => {
  const declines: [string, Parameters<typeof aPayer>[1], Record<string, unknown>, string, RegExp][] = [
    ['no money', { fundsCents: 1_200 }, {}, 'insufficient_funds', /available 12\.00, asked 12\.50/],
    ['no intent', { policy: { require_intent: true } }, {}, 'intent_required', /no approved intent fits/],
    [
      'above the transaction limit',
      { policy: { max_transaction_cents: 1_000 } },
      {},
      'max_transaction',
      /limit 10\.00, asked 12\.50/,
    ],
    [
      'above the daily limit',
      { policy: { daily_limit_cents: 1_000 } },
      {},
      'daily_limit',
      /daily limit 10\.00, spent 0\.00, asked 12\.50/,
    ],
    [
      'above the card limit',
      { card: { monthly_limit_cents: 1_000 } },
      {},
      'card_monthly_limit',
      /card monthly limit 10\.00/,
    ],
    ['a frozen card', { card: { status: 'frozen', frozen_by: 'card' } }, {}, 'card_status', /the card is frozen/],
    ['a blocked category', { policy: { blocked_mccs: ['5734'] } }, {}, 'mcc_blocklist', /5734 is blocked/],
    [
      'another country',
      { policy: { allowed_countries: ['AT'] } },
      {},
      'country',
      /country DE is not among the allowed AT/,
    ],
    [
      'a person is needed',
      { policy: { auto_approve_limit_cents: 1_000 } },
      {},
      'auto_approve_limit',
      /a person has to approve/,
    ],
  ];
  // spec: state:Transaction:declined
  // spec: does:Policies:limits
  // spec: event:transaction.declined
  test.each(declines)('%s', async (_, options, over, rule, reason) => {
    const payer = await aPayer(world, options);
    const before = await balancesOf(world, payer);
    const { status, body } = await network.authorize(payer, over);
    expect([status, body.decision, body.approvedCents, body.rule]).toEqual([200, 'declined', 0, rule]);
    expect(body.reason).toMatch(reason);
    expect(await balancesOf(world, payer)).toEqual(before);
    const [row] = await world.sql(
      'select status, decline_rule, held_cents, spent_cents from transactions where id = $1',
      [body.transactionId],
    );
    expect(row).toEqual({ status: 'failed', decline_rule: rule, held_cents: '0', spent_cents: '0' });
    const names = await eventNamesOf(world, payer.owner.ownerId);
    const decided = names.filter((name) => name.startsWith('transaction.'));
    expect(decided).toEqual(['transaction.created', 'transaction.declined']);
  });

  test('a frozen agent', async () => {
    const payer = await aPayer(world);
    await world.sql(`update agents set status = 'frozen', version = version + 1 where id = $1`, [payer.agentId]);
    expect((await network.authorize(payer)).body).toMatchObject({ decision: 'declined', rule: 'agent_status' });
  });

  test('a card whose month is over, which the owner cannot allow once', async () => {
    const payer = await aPayer(world);
    await world.sql('update cards set expiry_month = 2, expiry_year = 2026 where id = $1', [payer.cardId]);
    const { body } = await network.authorize(payer);
    expect(body).toMatchObject({ decision: 'declined', rule: 'card_expiry' });
    const params = { id: body.transactionId as never };
    const explained = await payer.owner.client(transactionsArea).getTransactionDecision({ params });
    expect(explained).toMatchObject({ mayAllowOnce: false, remedy: null });
    const { agentId } = payer;
    const declared = { agentId, purpose: 'a thing', expectedAmountEuros: 5 };
    expect(await payer.owner.client(intentsArea).declareIntent({ body: declared })).toMatchObject({
      status: 'denied',
      deniedReason: expect.stringContaining('the card expired at 2026-03-01T00:00:00.000Z'),
    });
  });

  test('an unknown card, the same again for the same id', async () => {
    const payer = { ...(await aPayer(world)), cardRef: 'cr_nobody' };
    const message = network.authorizationOf(payer);
    const first = await network.send('authorizations', message);
    expect(first).toMatchObject({
      status: 200,
      body: { decision: 'declined', rule: 'unknown_card', transactionId: null },
    });
    expect(await network.send('authorizations', message)).toEqual(first);
  });

  // spec: state:Intent:mismatched
  // spec: event:intent.mismatched
  test('a near match is named in the answer, and its event has the codes and the figures', async () => {
    const payer = await aPayer(world, { policy: { require_intent: true, amount_tolerance_percent: 10 } });
    const intentId = await anIntent(world, payer, { amountCents: 1_000 });
    const tooMuch = await network.authorize(payer);
    expect(tooMuch.body.reason).toContain(`intent ${intentId} expects 10.00 (with tolerance 11.00), asked 12.50`);
    const lookAlike = { ...network.authorizationOf(payer).merchant, name: 'SANDBOX CHOP' };
    const elsewhere = await network.authorize(payer, { amountCents: 1_000, merchant: lookAlike });
    expect(elsewhere.body.reason).toContain(`intent ${intentId} expects Sandbox Shop, asked by SANDBOX CHOP`);
    const mismatched = (await eventsOf(world, payer.owner.ownerId)).filter(({ name }) => name === 'intent.mismatched');
    const said = (transactionId: string | null, misfits: string[], askedEuros: number) =>
      expect.objectContaining({
        id: intentId,
        status: 'approved',
        transactionId,
        misfits,
        askedEuros,
        maxChargeEuros: 11,
      });
    expect(mismatched.map(({ data }) => data)).toEqual([
      said(tooMuch.body.transactionId, ['amount'], 12.5),
      said(elsewhere.body.transactionId, ['merchant'], 10),
    ]);
  });

  test('two charges that drift from the declared name find its intent, a third one finds none', async () => {
    const payer = await aPayer(world, { policy: { require_intent: true } });
    const charge = async (name: string) =>
      (await network.authorize(payer, { merchant: { ...network.authorizationOf(payer).merchant, name } })).body.rule;
    for (let count = 0; count < 3; count++) await anIntent(world, payer, { merchant: 'Café Müller' });
    expect(await charge('SumUp  *CAFE MUELLER WIEN AT')).toBe('within_rules');
    expect(await charge('CAFE MULLER 0087')).toBe('within_rules');
    expect(await charge('CAFE MILLER')).toBe('intent_required');
  });

  test.each(['denied', 'expired', 'pending_approval'])('an intent that is %s does not count', async (intentStatus) => {
    const payer = await aPayer(world, { policy: { require_intent: true } });
    await anIntent(world, payer, { status: intentStatus });
    expect((await network.authorize(payer)).body.rule).toBe('intent_required');
  });

  test('an intent past its deadline does not match, whatever the status of its row', async () => {
    const payer = await aPayer(world, { policy: { require_intent: true } });
    await anIntent(world, payer, { ttlMs: 1_000 });
    expect((await network.authorize(payer)).body.rule).toBe('intent_required');
  });
});

describe('a charge that needs a person', () => {
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000);
  const pendingOf = (payer: Awaited<ReturnType<typeof aPayer>>) =>
    world.sql<{ id: string; status: string; amount: number; merchant: string }>(
      `select id, status, expected_amount_cents::int as amount, expected_merchant as merchant from intents where agent_id = $1`,
      [payer.agentId],
    );

  test('is declined with one approval request; after the approval the next attempt passes', async () => {
    const payer = await aPayer(world, { policy: { auto_approve_limit_cents: 1_000 } });
    const tries = await Promise.all([network.authorize(payer), network.authorize(payer)]);
    expect(tries.map(({ body }) => body.rule)).toEqual(['auto_approve_limit', 'auto_approve_limit']);
    const pending = await pendingOf(payer);
    expect(pending).toEqual([
      { id: expect.any(String), status: 'pending_approval', amount: 1_250, merchant: 'Sandbox Shop' },
    ]);
    const reviews = (await eventsOf(world, payer.owner.ownerId)).filter(({ name }) => name === 'risk.review_required');
    expect(reviews.map(({ data }) => data)).toEqual([
      expect.objectContaining({
        intentId: pending[0]?.id,
        action: 'review',
        signals: ['auto_approve_limit'],
        amountEuros: 12.5,
      }),
    ]);
    expect(await world.sql('select is_open from workflow_runs where id = $1', [`intent/${pending[0]?.id}`])).toEqual([
      { is_open: true },
    ]);
    await world.sql(
      `update intents set status = 'approved', is_auto_approved = false, version = version + 1 where id = $1`,
      [pending[0]?.id],
    );
    expect((await network.authorize(payer)).body.decision).toBe('approved');
    expect((await network.authorize(payer)).body.decision).toBe('declined');
  });

  test.each([
    ['category', { mcc: '7995' }, 'is for a merchant of category 5734, asked by one of 7995'],
    ['country', { country: 'FR' }, 'is for a merchant in DE, asked by one in FR'],
  ])('the approval is for the %s that the person was shown, whatever name is used', async (_what, other, why) => {
    const payer = await aPayer(world, { policy: { auto_approve_limit_cents: 1_000 } });
    await network.authorize(payer);
    const [asked] = await pendingOf(payer);
    await world.sql(
      `update intents set status = 'approved', is_auto_approved = false, version = version + 1 where id = $1`,
      [asked?.id],
    );
    await world.sql('update policies set require_intent = true where id = $1', [payer.policyId]);
    const { body } = await network.authorize(payer, { merchant: { ...sandboxShop, ...other } });
    expect(body).toMatchObject({ decision: 'declined', rule: 'intent_required' });
    expect(body.reason).toContain(`intent ${asked?.id} ${why}`);
    expect((await network.authorize(payer)).body.decision).toBe('approved');
  });

  test('passes for 15 minutes from the approval, however late that came', async () => {
    const payer = await aPayer(world, { policy: { auto_approve_limit_cents: 1_000 } });
    await network.authorize(payer);
    const [{ id } = { id: '' }] = await pendingOf(payer);
    const minutesLeft = async () =>
      (
        await world.sql<{ minutes: number }>(
          `select round(extract(epoch from expires_at - updated_at) / 60)::int as minutes from intents where id = $1`,
          [id],
        )
      )[0]?.minutes;
    expect(await minutesLeft()).toBe(24 * 60);
    const approval = { causeId: 'a-person', requestId: 'req', actor: { kind: 'system' }, at: inHours(23) } as const;
    await inDatabase(world, (database) => database.write((tx) => applyToIntent(tx, id, { kind: 'approve' }, approval)));
    expect(await minutesLeft()).toBe(15);
    expect(
      await world.sql(
        'select due_at = expires_at as same from workflow_runs, intents i where workflow_runs.id = $1 and i.id = $2',
        [`intent/${id}`, id],
      ),
    ).toEqual([{ same: true }]);
  });

  test('a charge is declined when its approval request fails, and requested again at the next attempt', async () => {
    const payer = await aPayer(world, { policy: { auto_approve_limit_cents: 1_000 } });
    await world.sql(
      `create function no_intents() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
       create trigger no_intents before insert on intents for each row when (new.agent_id = '${payer.agentId}')
         execute function no_intents()`,
    );
    const message = network.authorizationOf(payer);
    const first = await network.send('authorizations', message);
    expect(first).toMatchObject({ status: 200, body: { decision: 'declined', rule: 'auto_approve_limit' } });
    expect(await network.send('authorizations', message)).toEqual(first);
    await world.sql('drop trigger no_intents on intents');
    await network.authorize(payer);
    expect(await pendingOf(payer)).toHaveLength(1);
  });

  test('a repeat asks a person where the first one did not get that far, once, and not after a day', async () => {
    const payer = await aPayer(world, { policy: { auto_approve_limit_cents: 1_000 } });
    const message = network.authorizationOf(payer);
    const first = await network.send('authorizations', message);
    expect(first).toMatchObject({ status: 200, body: { decision: 'declined', rule: 'auto_approve_limit' } });
    // As if the process had died after the decision.
    const forget = async () => {
      const ids = await world.sql<{ id: string }>('delete from intents where agent_id = $1 returning id', [
        payer.agentId,
      ]);
      await world.sql('delete from workflow_runs where subject_id = any($1)', [ids.map(({ id }) => id)]);
    };
    await forget();
    expect(await network.send('authorizations', message)).toEqual(first);
    const [asked] = await pendingOf(payer);
    expect(asked).toMatchObject({ status: 'pending_approval' });
    // Whatever has become of the request, its charge is not asked about again.
    await world.sql(`update intents set status = 'cancelled' where agent_id = $1`, [payer.agentId]);
    expect(await network.send('authorizations', message)).toEqual(first);
    expect(await pendingOf(payer)).toMatchObject([{ status: 'cancelled' }]);
    await forget();
    await world.advance(25 * hour);
    expect(await network.send('authorizations', message)).toEqual(first);
    expect(await pendingOf(payer)).toEqual([]);
  });

  test('gets no approval request where a rule refuses it', async () => {
    const payer = await aPayer(world, { policy: { auto_approve_limit_cents: 1_000, max_transaction_cents: 1_100 } });
    expect((await network.authorize(payer)).body.rule).toBe('max_transaction');
    expect(await pendingOf(payer)).toEqual([]);
  });
});

describe('special charges', () => {
  test('a verification holds nothing, uses nothing and consumes no intent', async () => {
    const payer = await aPayer(world, { fundsCents: 0, policy: { require_intent: true, max_usage_count: 1 } });
    const intentId = await anIntent(world, payer);
    const { body } = await network.authorize(payer, { kind: 'verification', amountCents: 0 });
    expect(body).toMatchObject({ decision: 'approved', approvedCents: 0 });
    expect(await journalsOf(world, payer.owner.ownerId)).toEqual([]);
    const [intent] = await world.sql('select matched_transaction_id from intents where id = $1', [intentId]);
    expect(intent).toEqual({ matched_transaction_id: null });
    const [counters] = await world.sql('select usage_count from spending_counters($1, $2, now())', [
      payer.agentId,
      payer.cardId,
    ]);
    expect(counters).toEqual({ usage_count: '0' });
  });

  test('a part is approved only where the terminal supports it', async () => {
    const payer = await aPayer(world, { fundsCents: 1_000 });
    expect((await network.authorize(payer)).body).toMatchObject({ decision: 'declined', rule: 'insufficient_funds' });
    const { body } = await network.authorize(payer, { partialSupported: true });
    expect(body).toMatchObject({ decision: 'partial', approvedCents: 1_000, rule: 'insufficient_funds' });
    expect(await balancesOf(world, payer)).toEqual({ available: 0, held: 1_000, receivable: 0 });
  });

  test('a part never goes above a limit', async () => {
    const payer = await aPayer(world, { policy: { daily_limit_cents: 2_000, max_transaction_cents: 1_200 } });
    expect((await network.authorize(payer, { partialSupported: true })).body).toMatchObject({
      decision: 'partial',
      approvedCents: 1_200,
    });
    expect((await network.authorize(payer, { partialSupported: true })).body).toMatchObject({
      decision: 'partial',
      approvedCents: 800,
    });
    expect((await network.authorize(payer, { partialSupported: true })).body).toMatchObject({
      decision: 'declined',
      approvedCents: 0,
    });
  });

  test('an agent with a budget draws on its budget', async () => {
    const payer = await aPayer(world, { funding: 'budget', fundsCents: 2_000 });
    await network.authorize(payer);
    const accounts = await world.sql(
      'select name, balance_cents from ledger_accounts where name like $1 order by name',
      [`agent:${payer.agentId}%`],
    );
    expect(accounts.map(({ balance_cents }) => balance_cents)).toEqual(['750', '1250']);
  });

  test.each([
    ['5734', 7],
    ['7011', 31],
    ['3351', 31],
    ['4411', 31],
    ['7513', 31],
  ])('a hold at category %s lives %i days', async (mcc, days) => {
    const payer = await aPayer(world);
    const { body } = await network.authorize(payer, { merchant: { ...sandboxShop, mcc } });
    const [row] = await world.sql<{ days: number }>(
      `select round(extract(epoch from hold_expires_at - authorized_at) / 86400)::int as days from transactions where id = $1`,
      [body.transactionId],
    );
    expect(row?.days).toBe(days);
  });
});

describe('repeats and crowds', () => {
  test('ten concurrent copies of one message hold once and get the same answer', async () => {
    const payer = await aPayer(world);
    const message = network.authorizationOf(payer);
    const answers = await Promise.all(Array.from({ length: 10 }, () => network.send('authorizations', message)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 200, body: { decision: 'approved' } });
    expect(await journalsOf(world, payer.owner.ownerId)).toEqual(['authorization']);
    expect((await balancesOf(world, payer)).held).toBe(1_250);
  });

  test('the same message sent again later gives the same answer', async () => {
    const payer = await aPayer(world);
    const message = network.authorizationOf(payer);
    const first = await network.send('authorizations', message);
    const again = { ...message, sentAt: new Date(Date.now() + 60_000).toISOString(), attempt: 2 };
    expect(await network.send('authorizations', again)).toEqual(first);
  });

  test('the same id with another body is refused', async () => {
    const payer = await aPayer(world);
    const message = network.authorizationOf(payer);
    await network.send('authorizations', message);
    const { status, body } = await network.send('authorizations', { ...message, amountCents: 1 });
    expect([status, body]).toEqual([409, { error: expect.stringContaining(message.id) }]);
  });

  test('two authorizations for one intent: one wins', async () => {
    const payer = await aPayer(world, { policy: { require_intent: true } });
    await anIntent(world, payer);
    const answers = await Promise.all([network.authorize(payer), network.authorize(payer)]);
    expect(answers.map(({ body }) => body.rule).sort()).toEqual(['intent_required', 'within_rules']);
    expect((await balancesOf(world, payer)).held).toBe(1_250);
  });

  test('concurrent charges use the whole daily limit and never exceed it', async () => {
    const payer = await aPayer(world, { policy: { daily_limit_cents: 5_000 } });
    const answers = await Promise.all(Array.from({ length: 12 }, () => network.authorize(payer)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(answers.filter(({ body }) => body.decision === 'approved')).toHaveLength(4);
    expect((await balancesOf(world, payer)).held).toBe(5_000);
  });

  test('concurrent charges of ten agents that share a wallet hold its last cent, never more, and none fails', async () => {
    const owner = await world.owner();
    const first = await aPayer(world, { owner, fundsCents: 5_000 });
    const others = await Promise.all(Array.from({ length: 9 }, () => aPayer(world, { owner, fundsCents: 0 })));
    for (const { agentId } of others)
      await world.sql('update agents set wallet_id = $1 where id = $2', [first.walletId, agentId]);
    const answers = await Promise.all(
      [first, ...others].flatMap((payer) => [network.authorize(payer), network.authorize(payer)]),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(answers.filter(({ body }) => body.decision === 'approved')).toHaveLength(4);
    expect(answers.filter(({ body }) => body.rule === 'insufficient_funds')).toHaveLength(16);
    expect(await balancesOf(world, first)).toEqual({ available: 0, held: 5_000, receivable: 0 });
  });

  test('a crowd over the usage count gets exactly that many', async () => {
    const payer = await aPayer(world, { policy: { max_usage_count: 3 } });
    const answers = await Promise.all(Array.from({ length: 6 }, () => network.authorize(payer)));
    expect(answers.filter(({ body }) => body.decision === 'approved')).toHaveLength(3);
    expect(answers.filter(({ body }) => body.rule === 'usage_count')).toHaveLength(3);
  });
});

describe('the signature', () => {
  let sender = 1;
  /** Sent from a separate address, because invalid signatures are limited by address. */
  const raw = async (body: string, header: string | undefined) => {
    sender += 1;
    const { hostname, port } = new URL(world.apiUrl);
    const sent = request({
      hostname,
      port,
      localAddress: `127.0.0.${sender}`,
      path,
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(header === undefined ? {} : { 'X-Network-Signature': header }),
      },
    });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: answer.statusCode, body: JSON.parse(await text(answer)) };
  };
  const now = () => Math.floor(Date.now() / 1_000);
  const path = '/network/authorizations';
  const rightly = (rawBody: string, unixSeconds = now()) => signed(world.networkKey, { path, rawBody, unixSeconds });

  test.each<[string, (body: string) => string | undefined]>([
    ['missing', () => undefined],
    ['empty', () => ''],
    ['of another key', (body) => signed('another', { path, rawBody: body })],
    ['of another body', (body) => rightly(`${body} `)],
    ['too old', (body) => rightly(body, now() - 301)],
    ['from the future', (body) => rightly(body, now() + 302)],
    ['with its time changed', (body) => rightly(body).replace(/t=\d+/, `t=${now() + 1}`)],
    ['cut short', (body) => rightly(body).slice(0, -2)],
    ['of another endpoint', (body) => signed(world.networkKey, { path: '/network/clearings', rawBody: body })],
    ['of another prefix', (body) => signed(world.networkKey, { path: `/v1${path}`, rawBody: body })],
    ['of another query', (body) => signed(world.networkKey, { path: `${path}?a=1`, rawBody: body })],
  ])('%s is 401, and nothing is written', async (_, header) => {
    const payer = await aPayer(world);
    const message = JSON.stringify(network.authorizationOf(payer));
    expect(await raw(message, header(message))).toEqual({
      status: 401,
      body: { error: expect.stringContaining('X-Network-Signature') },
    });
    expect(await world.sql('select 1 from network_messages where card_ref = $1', [payer.cardRef])).toEqual([]);
  });

  test('is checked before the body is read', async () => {
    expect((await raw('not json', undefined)).status).toBe(401);
    expect((await raw('not json', rightly('not json'))).status).toBe(400);
  });

  // spec: money:euros only
  test.each([
    ['currency', { currency: 'USD' }],
    ['amountCents', { amountCents: -1 }],
    ['amountCents', { amountCents: 0 }],
    ['amountCents', { amountCents: 12.5 }],
    ['merchant', { merchant: { ...sandboxShop, mcc: 'x' } }],
    ['id', { id: 'a b' }],
  ])('a signed message with a wrong %s is 400 and says so', async (field, over) => {
    const payer = await aPayer(world);
    const { status, body } = await network.authorize(payer, over);
    expect([status, body]).toEqual([400, { error: expect.stringContaining(`body.${field}`) }]);
  });

  test('fields that are not known are let through', async () => {
    const payer = await aPayer(world);
    expect((await network.authorize(payer, { wallet: 'apple' })).status).toBe(200);
  });
});
