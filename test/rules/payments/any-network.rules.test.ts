/**
 * Goal: whatever the network, owners and time do, in any order and repeated, the rules make no illegal transition, hold no
 * more than was approved and pay for no intent twice. Method: the model over 100,000 random steps, in which the rules
 * decide, checked after each step.
 * @module
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { modelCards, modelFundsCents, paymentModel } from '../../support/payment-model.ts';
import { actionsOf, anyStep, type Step } from '../../support/payment-steps.ts';
import { seed } from '../../support/seed.ts';

const histories = 500;
const stepsEach = 200;

function play(steps: readonly Step[]): Record<string, number> {
  const model = paymentModel({ fundsCents: modelFundsCents, cards: modelCards() });
  const actionOf = actionsOf(model, String);
  const done: Record<string, number> = {};
  let now = Date.UTC(2026, 1, 20);
  for (const [index, step] of steps.entries()) {
    now += 1_000;
    const action = actionOf(step);
    if (action === undefined) continue;
    const before = model.balances();
    done[step.kind] = (done[step.kind] ?? 0) + 1;
    if (action.do === 'send') {
      const answer = model.send(action.message, new Date(now));
      if (step.kind === 'repeat') expect(model.balances()).toEqual(before);
      if (answer.decision === 'declined' && action.message.kind === 'increment') {
        expect(model.balances()).toEqual(before);
      }
      const said = answer.decision === undefined ? action.message.kind : `${action.message.kind} ${answer.decision}`;
      done[said] = (done[said] ?? 0) + 1;
    } else if (action.do === 'declare') {
      model.declare({ ...action, id: `int_${index}`, expiresAt: now + action.ttlMs });
    } else if (action.do === 'cancel') model.cancel(action.intent, new Date(now));
    else if (action.do === 'freeze') {
      const card = model.cards[action.card];
      if (card !== undefined) card.isFrozen = !card.isFrozen;
    } else {
      now += action.ms;
      model.sweep(new Date(now));
    }
    const wrong = model.wrong();
    if (wrong.length > 0) throw new Error(`step ${index}, ${JSON.stringify(step)}: ${wrong.join('; ')}`);
  }
  // Everything ends without another message.
  now += 100 * 86_400_000;
  model.sweep(new Date(now));
  model.sweep(new Date(now + 100 * 86_400_000));
  expect(model.balances().held).toBe(0);
  expect([...model.payments.values()].filter(({ status }) => status === 'pending')).toEqual([]);
  expect(model.wrong()).toEqual([]);
  return done;
}

test(`${histories * stepsEach} steps: no illegal transition, and all money is where it belongs`, () => {
  const total: Record<string, number> = {};
  let steps = 0;
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: stepsEach, maxLength: stepsEach }), (history) => {
      steps += history.length;
      for (const [kind, count] of Object.entries(play(history))) total[kind] = (total[kind] ?? 0) + count;
    }),
    { numRuns: histories, seed, endOnFailure: false },
  );
  expect(steps).toBeGreaterThanOrEqual(100_000);
  process.stderr.write(`model of payments: seed ${seed}, ${steps} steps, ${JSON.stringify(total)}\n`);
  // Nothing of it is so rare that it is not tested.
  const seldom = Object.entries(total).filter(([, count]) => count < 50);
  expect({ seldom, kinds: Object.keys(total).length }).toEqual({ seldom: [], kinds: 23 });
});
