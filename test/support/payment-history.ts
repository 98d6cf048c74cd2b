/**
 * Plays a random history of card payments and of commands on a real stack and on the model at once: after each step
 * the answer, the accounts of the wallet, the touched payment, every intent with its windows, every card and agent
 * must be the model's. Throws with seed and step where they are not.
 * @module
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { ledgerArea } from '../../src/domains/treasury/ledger/ledger.contract.ts';
import { type Commander, commanderOf, idOfRequest } from './payment-calls.ts';
import { type Command, commandModel } from './payment-commands.ts';
import { paymentModel } from './payment-model.ts';
import { accountsOf, agentsOf, asRow, cardsOf, illegalMoves, intentsOf, rowOf, windowsOf } from './payment-rows.ts';
import { type Message, modelAgents, modelFundsCents } from './payment-shapes.ts';
import { type Action, actionsOf, anyStep, type Step } from './payment-steps.ts';
import { type Authorized, differencesOf, networkOf, type Payer } from './payments-world.ts';
import { businessNow, eventually, type World } from './world.ts';

/** With a worker: approvals, new cards and deadlines are workflows. */
export type Stack = Pick<World, 'apiUrl' | 'networkKey' | 'sql' | 'owner' | 'as'> & {
  readonly advance: (ms: number) => Promise<unknown>;
};
export type Played = { readonly steps: number; readonly done: Record<string, number>; readonly verified: number };

export async function playPayments(
  stack: Stack,
  { seed, steps, verifyEvery }: { seed: number; steps: number; verifyEvery: number },
): Promise<Played> {
  const world = stack as unknown as World;
  const agents = modelAgents();
  const model = paymentModel({ fundsCents: modelFundsCents, agents });
  const actionOf = actionsOf(model, (serial) => `${serial}_${randomUUID().slice(0, 8)}`);
  const network = networkOf(stack);
  const commander: Commander = await commanderOf(
    world,
    agents.map(({ terms }) => terms),
  );
  const { owner, walletId } = commander;
  const done: Record<string, number> = {};
  const count = (what: string): void => {
    done[what] = (done[what] ?? 0) + 1;
  };
  let verified = 0;

  const payerOf = (card: number): Payer => ({ cardRef: commander.cards[card]?.cardRef }) as Payer;
  const bodyOf = ({ id, card, amountCents, partialSupported, isRecurring }: Message): object => {
    const kind = amountCents === 0 ? 'verification' : 'purchase';
    return network.authorizationOf(payerOf(card), {
      ...{ id, amountCents, kind, partialSupported: partialSupported === true, recurring: isRecurring === true },
    });
  };
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

  async function send(message: Message): Promise<void> {
    const expected = model.send(message, await businessNow(world));
    const { status, body } = await said(message);
    const { decision, approvedCents, rule } = body as Partial<Authorized>;
    const answer = expected.decision === undefined ? { status } : { status, decision, approvedCents, rule };
    assert.deepEqual(answer, expected, `${JSON.stringify({ status, body })}, not ${JSON.stringify(expected)}`);
    count(expected.decision === undefined ? message.kind : `${message.kind} ${expected.decision}`);
    if (expected.rule !== undefined) count(`by ${expected.rule}`);
    for (const intent of model.intents.filter((one) => one.asksAbout !== null && one.id.startsWith('new_'))) {
      intent.id = await idOfRequest(world, intent);
      count('request to a person');
    }
    // One whose payment has come to nothing after its deadline.
    if (model.expireIntents()) await settled(world, await businessNow(world));
    const payment = model.payments.get(message.about ?? '');
    if (payment !== undefined) assert.deepEqual(await rowOf(world, payment), asRow(payment));
  }

  async function command(action: Command): Promise<void> {
    const { status, intent } = commandModel(model, action, await businessNow(world));
    const answer = await commander.carryOut(action);
    assert.equal(answer.status, status, `answered ${answer.status} ${answer.message}, not ${status}`);
    count(`${action.do} ${action.do === 'declare' && intent !== undefined ? intent.status : status}`);
    if (intent === undefined) return;
    assert.notEqual(answer.made, undefined);
    if (status === 201) intent.id = answer.made?.id ?? '';
    if (status === 201) intent.expiresAtMs = Date.parse(answer.made?.expiresAt ?? '');
    assert.equal(answer.made?.id, intent.id);
  }

  async function perform(action: Action): Promise<void> {
    if (action.do === 'send') return send(action.message);
    if (action.do !== 'advance') return command(action);
    await stack.advance(action.ms);
    const now = await businessNow(world);
    await settled(world, now);
    model.sweep(now);
  }

  async function isRight(): Promise<void> {
    assert.deepEqual(await accountsOf(world, owner.ownerId, walletId), model.balances());
    assert.deepEqual(model.wrong(), []);
    assert.deepEqual(await intentsOf(world, owner.ownerId, model, commander), []);
    assert.deepEqual(await windowsOf(world, owner.ownerId, model, await businessNow(world)), []);
    assert.deepEqual(await cardsOf(world, commander, model), []);
    assert.deepEqual(
      await agentsOf(world, commander),
      agents.map(({ status }) => status),
    );
  }

  async function verify(): Promise<void> {
    const rows = await stack.sql<{ id: string }>(
      'select authorization_id as id from transactions where owner_id = $1',
      [owner.ownerId],
    );
    assert.equal(rows.filter(({ id }) => id !== null).length, model.payments.size);
    for (const payment of model.payments.values()) assert.deepEqual(await rowOf(world, payment), asRow(payment));
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
        count(step.kind);
        await perform(action);
        await isRight();
      }
      if ((index + 1) % verifyEvery === 0 || index + 1 === steps) await verify();
    } catch (error) {
      const what = `seed ${seed}, step ${index}: ${JSON.stringify(action)}`;
      throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
    }
  }
  return { steps, done: { ...done, ...model.noted }, verified };
}

/** Until the worker has done what time made due: holds, early messages, deadlines and ends of windows. */
async function settled({ sql }: World, now: Date): Promise<void> {
  await eventually(
    () =>
      sql(
        `select id from transactions where status = 'pending' and hold_expires_at <= $1
         union all select id from network_messages where is_waiting and received_at <= $1::timestamptz - interval '1 day'
           and (kind = 'refund' or kind = 'clearing' and (body ->> 'amountCents')::bigint > 0)
         union all select id from intents where status in ('pending_approval', 'approved')
           and matched_transaction_id is null and (expires_at <= $1 or status = 'approved' and window_to_at <= $1)`,
        [now],
      ),
    (due) => due.length === 0,
  );
}
