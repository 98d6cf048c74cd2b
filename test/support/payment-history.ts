/**
 * Plays a random history of card payments on a real stack and on the model at once: after each step the answer, the
 * accounts of the wallet, the touched payment and every intent must be the model's. Throws with seed and step where they
 * are not.
 * @module
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { intentsArea } from '../../src/domains/spending/intents/intent.contract.ts';
import { ledgerArea } from '../../src/domains/treasury/ledger/ledger.contract.ts';
import {
  isLegal,
  type Message,
  type ModelIntent,
  modelCards,
  modelFundsCents,
  type Payment,
  paymentModel,
} from './payment-model.ts';
import { type Action, actionsOf, anyStep, type Step } from './payment-steps.ts';
import { type Authorized, anIntent, aPayer, differencesOf, networkOf, type Payer } from './payments-world.ts';
import { businessNow, eventually, type World } from './world.ts';

export type Stack = Pick<World, 'apiUrl' | 'networkKey' | 'sql' | 'owner'> & {
  /** Moves business time, and returns when what it made due is done. */
  readonly passes: (ms: number) => Promise<void>;
};
export type Played = { readonly steps: number; readonly done: Record<string, number>; readonly verified: number };

const columns: Readonly<Record<string, string>> = {
  maxTransactionCents: 'max_transaction_cents',
  dailyLimitCents: 'daily_limit_cents',
  monthlyLimitCents: 'monthly_limit_cents',
  requireIntent: 'require_intent',
  amountTolerancePercent: 'amount_tolerance_percent',
};

export async function playPayments(
  stack: Stack,
  { seed, steps, verifyEvery }: { seed: number; steps: number; verifyEvery: number },
): Promise<Played> {
  const world = stack as unknown as World;
  const cards = modelCards();
  const model = paymentModel({ fundsCents: modelFundsCents, cards });
  const actionOf = actionsOf(model, (serial) => `${serial}_${randomUUID().slice(0, 8)}`);
  const network = networkOf(stack);
  const payers = await twoPayers(
    world,
    cards.map(({ terms }) => terms),
  );
  const [{ owner, walletId }] = payers;
  const done: Record<string, number> = {};
  let verified = 0;

  const bodyOf = ({ id, card, amountCents, partialSupported }: Message): object => {
    const kind = amountCents === 0 ? 'verification' : 'purchase';
    return network.authorizationOf(payerOf(card), {
      id,
      amountCents,
      kind,
      partialSupported: partialSupported === true,
    });
  };
  const payerOf = (card: number): Payer => payers[card] as Payer;
  function said(message: Message): Promise<{ status: number; body: object }> {
    const { kind, id, about, card, amountCents, isFinal, partialSupported, authorization } = message;
    const payer = payerOf(card);
    const on = about === null ? {} : { authorizationId: about };
    if (kind === 'authorization') return network.send<object>('authorizations', bodyOf(message));
    if (kind === 'increment') return network.increment(payer, { id, ...on, amountCents, partialSupported });
    if (kind === 'clearing') return network.clear(payer, { id, ...on, amountCents, final: isFinal });
    if (kind === 'refund') return network.refund(payer, { id, ...on, amountCents });
    if (kind === 'advice') return network.advise(bodyOf(authorization as Message), { id, approvedCents: amountCents });
    return network.reverse(payer, { id, ...on, ...(amountCents === undefined ? {} : { amountCents }) });
  }

  async function perform(action: Action): Promise<void> {
    const now = await businessNow(world);
    if (action.do === 'send') {
      const { message } = action;
      const expected = model.send(message, now);
      const { status, body } = await said(message);
      const { decision, approvedCents, rule } = body as Partial<Authorized>;
      const answer = expected.decision === undefined ? { status } : { status, decision, approvedCents, rule };
      assert.deepEqual(answer, expected, `${JSON.stringify({ status, body })}, not ${JSON.stringify(expected)}`);
      const payment = model.payments.get(message.about ?? '');
      if (payment !== undefined) assert.deepEqual(await rowOf(world, payment), asRow(payment));
      await areIntentsRight(now);
    } else if (action.do === 'declare') {
      const { card, amountCents, ttlMs } = action;
      const id = await anIntent(world, payerOf(card), { amountCents, merchant: null, ttlMs });
      const [row] = await stack.sql<{ at: Date }>('select expires_at as at from intents where id = $1', [id]);
      model.declare({ id, card, amountCents, expiresAt: Number(row?.at) });
    } else if (action.do === 'cancel') {
      const { intent } = action;
      const wasCancelled = intent.status === 'cancelled';
      const isTaken = model.cancel(intent, now) || wasCancelled;
      const params = { id: intent.id as `int_${string}` };
      const headers = { 'Idempotency-Key': randomUUID() };
      const cancelled = await owner
        .client(intentsArea)
        .cancelIntent({ params, headers })
        .then(
          () => true,
          ({ status }: { status?: number }) => {
            assert.equal(status, 400);
            return false;
          },
        );
      assert.equal(cancelled, isTaken);
    } else if (action.do === 'freeze') {
      const card = cards[action.card];
      if (card === undefined) return;
      card.isFrozen = !card.isFrozen;
      await stack.sql('update agents set status = $2, version = version + 1 where id = $1', [
        ...[payerOf(action.card).agentId, card.isFrozen ? 'frozen' : 'active'],
      ]);
    } else {
      await stack.passes(action.ms);
      model.sweep(await businessNow(world));
    }
  }

  async function isRight(): Promise<void> {
    assert.deepEqual(await accountsOf(world, owner.ownerId, walletId), model.balances());
    assert.deepEqual(model.wrong(), []);
  }

  async function areIntentsRight(now: Date): Promise<void> {
    const rows = await intentsOf(world, owner.ownerId);
    const found = model.intents.map(({ id }) => rows.get(id));
    assert.deepEqual(
      found,
      model.intents.map((intent, index) => asIntentRow(intent, { now, isExpired: found[index]?.status === 'expired' })),
    );
  }

  async function verify(): Promise<void> {
    const rows = await stack.sql<{ id: string }>(
      'select authorization_id as id from transactions where owner_id = $1',
      [owner.ownerId],
    );
    assert.equal(rows.filter(({ id }) => id !== null).length, model.payments.size);
    for (const payment of model.payments.values()) assert.deepEqual(await rowOf(world, payment), asRow(payment));
    await areIntentsRight(await businessNow(world));
    assert.deepEqual(await illegalMoves(world, owner.ownerId), []);
    assert.deepEqual(await differencesOf(world), []);
    const book = await eventually(
      () =>
        owner
          .client(ledgerArea)
          .verifyLedger({ query: { full: 'true' } })
          .catch(() => undefined),
      (found) => found !== undefined,
    );
    assert.deepEqual({ balanced: book?.balanced, differences: book?.differences }, { balanced: true, differences: [] });
    verified += 1;
  }

  const history: Step[] = fc.sample(anyStep, { numRuns: steps, seed });
  for (const [index, step] of history.entries()) {
    const action = actionOf(step);
    try {
      if (action !== undefined) {
        done[step.kind] = (done[step.kind] ?? 0) + 1;
        await perform(action);
        await isRight();
      }
      if ((index + 1) % verifyEvery === 0 || index + 1 === steps) await verify();
    } catch (error) {
      const what = `seed ${seed}, step ${index}: ${JSON.stringify(action)}`;
      throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
    }
  }
  return { steps, done, verified };
}

/** Of one owner, both drawing on the wallet of the first. */
async function twoPayers(world: World, terms: readonly object[]): Promise<[Payer, Payer]> {
  const owner = await world.owner();
  const policyOf = (one: object = {}) =>
    Object.fromEntries(Object.entries(one).map(([name, value]) => [columns[name] ?? name, value]));
  const first = await aPayer(world, { owner, fundsCents: modelFundsCents, policy: policyOf(terms[0]) });
  const second = await aPayer(world, { owner, fundsCents: 0, policy: policyOf(terms[1]) });
  await world.sql('update agents set wallet_id = $2 where id = $1', [second.agentId, first.walletId]);
  return [first, second];
}

/** What is shown of a payment, and which intent it pays for. */
const asRow = (payment: Payment) => ({
  status: payment.status,
  type: payment.type,
  amount: payment.amountCents,
  approved: payment.approvedCents,
  held: payment.heldCents,
  cleared: payment.clearedCents,
  reversed: payment.reversedCents,
  refunded: payment.refundedCents,
  isFinal: payment.isFinal,
  intentId: payment.intentId,
});

const rowOf = async ({ sql }: World, { authorizationId }: Payment) =>
  (
    await sql(
      `select status, type, amount_cents::int as amount, approved_cents::int as approved, held_cents::int as held,
         cleared_cents::int as cleared,
         reversed_cents::int as reversed, refunded_cents::int as refunded, is_final as "isFinal", intent_id as "intentId"
       from transactions where authorization_id = $1`,
      [authorizationId],
    )
  )[0];

type IntentRow = { readonly id: string; readonly status: string; readonly matchedBy: string | null };

/** The model does not tell when one that nothing pays for expires: at some time after its deadline. */
function asIntentRow(intent: ModelIntent, { now, isExpired }: { now: Date; isExpired: boolean }): IntentRow {
  const { id, status, matchedBy, expiresAt } = intent;
  const mayExpire = status === 'approved' && matchedBy === null && expiresAt <= now.getTime();
  return { id, status: isExpired && mayExpire ? 'expired' : status, matchedBy };
}

async function intentsOf({ sql }: World, ownerId: string): Promise<Map<string, IntentRow>> {
  const rows = await sql<IntentRow>(
    `select i.id, i.status, t.authorization_id as "matchedBy"
     from intents i left join transactions t on t.id = i.matched_transaction_id where i.owner_id = $1`,
    [ownerId],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** By the balances that the accounts have, which must be the sums of their entries. */
async function accountsOf({ sql }: World, ownerId: string, walletId: string) {
  const rows = await sql<{ name: string; balance: number; entered: number }>(
    `select a.name, a.balance_cents::int as balance, coalesce(sum(e.amount_cents), 0)::int as entered
     from ledger_accounts a left join ledger_entries e on e.account = a.name where a.owner_id = $1 group by a.name`,
    [ownerId],
  );
  for (const { name, balance, entered } of rows)
    assert.equal(balance, name.startsWith('owner:') ? 0 - entered : entered);
  const of = (name: string): number => rows.find((row) => row.name === name)?.balance ?? 0;
  return {
    available: of(`wallet:${walletId}:available`),
    held: of(`wallet:${walletId}:held`),
    receivable: of(`owner:${ownerId}:receivable`),
  };
}

async function illegalMoves({ sql }: World, ownerId: string): Promise<unknown[]> {
  const moves = await sql<{ id: string; from: string | null; to: string; isVerification: boolean }>(
    `select t.id, m.from_status as "from", m.to_status as "to", t.is_verification as "isVerification"
     from transitions m join transactions t on t.id = m.row_id
     where m.noun = 'transaction' and t.owner_id = $1 and t.type <> 'refund'`,
    [ownerId],
  );
  return moves.filter(({ from, to, isVerification }) => !isLegal(String(from), to, { isVerification }));
}
