/**
 * Goal: whatever network, owner, agent and time do around one authorization, in any order, repeated or in parallel, the
 * money is right and nothing is left half done. Method: random histories over all kinds of messages, with intents, payment
 * tokens, confirms, verifications, budgets, closed agents and deadlines between, against sums of rows and ledger.
 * @module
 */
import { createHash, randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { ledgerArea } from '../../../src/domains/treasury/ledger/ledger.contract.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import { anIntent, aPayer, expireIn, type Payer } from '../../support/payments-world.ts';
import { eventually, type World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
const askedCents = 1_250;
const fundsCents = 5_000;

const amount = fc.oneof(fc.constantFrom(1, 400, askedCents), fc.integer({ min: 1, max: 2_000 }));
const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'authorization' } as const) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('clearing' as const),
      cents: fc.oneof(fc.constant(0), amount),
      final: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('reversal' as const), cents: fc.option(amount, { nil: undefined }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('age' as const), days: fc.constantFrom(1.1, 8, 32) }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(...(['confirm', 'cancel', 'close', 'freeze'] as const).map((kind) => ({ kind }))),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const history = fc.record({
  requireIntent: fc.boolean(),
  intent: fc.constantFrom('none', 'fits', 'too small'),
  withToken: fc.boolean(),
  isVerification: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  funding: fc.constantFrom<'wallet' | 'budget'>('wallet', 'budget'),
  partialSupported: fc.boolean(),
  usage: fc.constantFrom('single', 'multi'),
  steps: fc.array(step, { minLength: 2, maxLength: 7 }),
  inParallel: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

test('random histories with intents, tokens, confirms, closed agents and deadlines end right', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (given) => {
      const { requireIntent, funding, partialSupported, usage, steps, inParallel, isVerification } = given;
      const payer = await aPayer(world, {
        funding,
        fundsCents,
        policy: { require_intent: requireIntent },
        card: { usage },
      });
      const intentId =
        given.intent === 'none'
          ? undefined
          : await anIntent(world, payer, {
              ttlMs: 60 * 86_400_000,
              amountCents: given.intent === 'fits' ? askedCents : 900,
            });
      const token = given.withToken && intentId !== undefined ? await aToken(payer, intentId) : undefined;
      const message = network.authorizationOf(payer, {
        partialSupported,
        ...(token === undefined ? {} : { token }),
        ...(isVerification ? { kind: 'verification', amountCents: 0 } : {}),
      });
      const say = (one: Step, index: number): Promise<{ status: number } | undefined> =>
        perform(one, { payer, intentId, message, id: `m${index}_${message.id}` });
      const statuses: number[] = [];
      const tell = async (one: Step, index: number): Promise<void> => {
        const answer = await say(one, index);
        if (answer !== undefined) statuses.push(answer.status);
      };
      if (inParallel) await Promise.all([...steps, ...steps].map((one, index) => tell(one, index % steps.length)));
      else for (const [index, one] of steps.entries()) await tell(one, index);
      const said = steps.filter((one) => one.kind === 'clearing');
      const wasAsked = steps.some((one) => one.kind === 'authorization');
      const held = await heldOf(payer);
      // After a final clearing nothing is held.
      if (wasAsked && said.some((one) => one.final)) expect(held).toBe(0);

      for (const days of [2, 40, 75]) await expireIn(world, inDays(days));
      // Whatever the network says again changes nothing.
      const before = await sumsOf(payer);
      for (const [index, one] of steps.entries()) if (isMessage(one)) await tell(one, index);
      expect(await sumsOf(payer)).toEqual(before);

      expect(statuses.filter((status) => status !== 200)).toEqual([]);
      const collected = said.reduce((sum, one) => sum + one.cents, 0);
      expect(before).toMatchObject({ held: 0, total: fundsCents - collected });
      // A verification uses no token up: its checkout goes on.
      await expectNothingHalfDone(payer, { intentId, wasAsked, isTokenUsed: wasAsked && !isVerification });
    }),
    { numRuns: Number(process.env.HISTORIES ?? 30), endOnFailure: false },
  );
}, 400_000);

const isMessage = ({ kind }: Step): boolean => ['authorization', 'clearing', 'reversal'].includes(kind);

type Told = { payer: Payer; intentId: string | undefined; message: { id: string }; id: string };

/** Answers of the owner's calls do not matter: most are refusals. Those of the network's messages do. */
async function perform(one: Step, { payer, intentId, message, id }: Told): Promise<{ status: number } | undefined> {
  const authorizationId = message.id;
  const headers = { 'Idempotency-Key': randomUUID() };
  const refused = (error: { status?: number }): undefined => {
    if (error.status === undefined || error.status >= 500) throw error;
  };
  if (one.kind === 'authorization') return network.send('authorizations', message);
  if (one.kind === 'clearing') {
    return network.clear(payer, { id, authorizationId, amountCents: one.cents, final: one.final });
  }
  if (one.kind === 'reversal') {
    return network.reverse(payer, {
      id,
      authorizationId,
      ...(one.cents === undefined ? {} : { amountCents: one.cents }),
    });
  }
  if (one.kind === 'age') await expireIn(world, inDays(one.days));
  else if (one.kind === 'close' || one.kind === 'freeze') {
    const agents = payer.owner.client(agentsArea);
    const params = { id: payer.agentId };
    await (one.kind === 'close' ? agents.closeAgent({ params }) : agents.freezeAgent({ params })).catch(refused);
  } else if (intentId !== undefined) {
    await (one.kind === 'cancel'
      ? payer.owner.client(intentsArea).cancelIntent({ params: { id: intentId }, headers })
      : createClient(checkoutArea, sendTo(world.apiUrl, payer.token)).confirmCheckout({ body: { intentId }, headers })
    ).catch(refused);
  }
  return undefined;
}

/** All of the owner's money, less what the owner owes. */
async function sumsOf({ owner }: Payer) {
  const [row] = await world.sql(
    `select coalesce(sum(balance_cents) filter (where name like '%:held'), 0)::int as held,
       sum(case when name like 'owner:%' then -balance_cents else balance_cents end)::int as total,
       (select count(*) from journals where owner_id = $1)::int as journals,
       (select count(*) from events where owner_id = $1)::int as events
     from ledger_accounts where owner_id = $1`,
    [owner.ownerId],
  );
  return row;
}
const heldOf = async (payer: Payer): Promise<unknown> => ((await sumsOf(payer)) as { held: number }).held;

async function expectNothingHalfDone(
  payer: Payer,
  { intentId, wasAsked, isTokenUsed }: { intentId: string | undefined; wasAsked: boolean; isTokenUsed: boolean },
): Promise<void> {
  const { agentId, owner } = payer;
  const open = await world.sql(
    `select 'transaction' as what, id, status from transactions where agent_id = $1 and status = 'pending'
     union all select 'budget of a closed agent', l.name, l.balance_cents::text from ledger_accounts l join agents a on a.id = $1
       where a.status = 'closed' and l.name like 'agent:' || $1 || ':%' and l.balance_cents <> 0
     union all select 'waiting message', id, kind from network_messages
       where card_ref = $2 and is_waiting and (kind = 'clearing' and (body ->> 'amountCents')::bigint > 0 or $3)
     union all select 'checkout', id, status from checkouts where agent_id = $1 and status = 'paying' and $4
     union all select 'intent that waits for a payment that has ended', i.id, t.status from intents i
       join transactions t on t.id = i.matched_transaction_id
       where i.agent_id = $1 and i.status = 'approved'
     union all select 'intent with two payments', intent_id, count(*)::text from transactions
       where agent_id = $1 and intent_id is not null and held_cents + cleared_cents > 0 group by 2 having count(*) > 1
     union all select 'paid checkout whose intent may be paid for again', i.id, i.status from checkouts k
       join intents i on i.id = k.intent_id where k.agent_id = $1 and k.status = 'paid' and i.status = 'approved'
         and exists (select from transactions t where t.id = k.transaction_id and t.cleared_cents > 0)
     union all select 'events in another order than the transaction''s life', subject_id, name from (
         select subject_id, name, row_number() over (partition by subject_id order by seq) as place from events
         where agent_id = $1 and subject_id like 'tx_%') e
       where (name = 'transaction.created') <> (place = 1)`,
    [agentId, payer.cardRef, wasAsked, isTokenUsed],
  );
  expect({ intentId, open }).toEqual({ intentId, open: [] });
  const book = await eventually(
    () =>
      owner
        .client(ledgerArea)
        .verifyLedger({ query: { full: 'true' } })
        .catch(() => undefined),
    (found) => found !== undefined,
  );
  expect(book).toMatchObject({ balanced: true, differences: [] });
}

async function aToken(payer: Payer, intentId: string): Promise<string> {
  const token = `spt_${randomUUID()}`;
  await world.sql(
    `insert into checkouts (id, owner_id, agent_id, intent_id, card_id, target_url, status, amount_cents, ceiling_cents,
       token_hash, request_id, created_at, updated_at)
     values ($1, $2, $3, $4, $5, 'https://shop.example/x', 'paying', 1250, 1250, $6, 'req', now(), now())`,
    [
      newId('checkout'),
      payer.owner.ownerId,
      payer.agentId,
      intentId,
      payer.cardId,
      createHash('sha256').update(token).digest('hex'),
    ],
  );
  return token;
}
