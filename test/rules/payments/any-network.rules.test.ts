/**
 * Goal: whatever the network, owners, agents and time do, in any order and repeated, the rules make no illegal
 * transition, hold no more than was approved and pay for no intent twice. Method: the model over 100,000 random steps,
 * checked after each step; it decides by rules of its own, and asks the product's pure rules about the same facts.
 * @module
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { commandModel } from '../../support/payment-commands.ts';
import { paymentModel } from '../../support/payment-model.ts';
import { modelAgents, modelFundsCents } from '../../support/payment-shapes.ts';
import { actionsOf, anyStep, type Step } from '../../support/payment-steps.ts';
import { seed } from '../../support/seed.ts';

const histories = 500;
const stepsEach = 200;

function play(steps: readonly Step[]): Record<string, number> {
  const model = paymentModel({ fundsCents: modelFundsCents, agents: modelAgents() });
  const actionOf = actionsOf(model, String);
  const done: Record<string, number> = {};
  const count = (what: string): void => {
    done[what] = (done[what] ?? 0) + 1;
  };
  let now = Date.UTC(2026, 1, 20);
  for (const [index, step] of steps.entries()) {
    now += 1_000;
    const action = actionOf(step);
    if (action === undefined) continue;
    const before = model.balances();
    count(step.kind);
    if (action.do === 'send') {
      const answer = model.send(action.message, new Date(now));
      model.expireIntents();
      if (step.kind === 'repeat') expect(model.balances()).toEqual(before);
      if (answer.decision === 'declined' && action.message.kind === 'increment') {
        expect(model.balances()).toEqual(before);
      }
      count(answer.decision === undefined ? action.message.kind : `${action.message.kind} ${answer.decision}`);
      if (answer.rule !== undefined) count(`by ${answer.rule}`);
    } else if (action.do === 'advance') {
      now += action.ms;
      model.sweep(new Date(now));
    } else {
      const { status, intent } = commandModel(model, action, new Date(now));
      count(`${step.kind} ${action.do === 'declare' && intent !== undefined ? intent.status : status}`);
      // Money moves only on messages of the network.
      expect(model.balances()).toEqual(before);
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
  return { ...done, ...model.noted };
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
  const tested = Object.entries(total);
  expect({ seldom: tested.filter(([, count]) => count < 10), kinds: tested.length }).toEqual({ seldom: [], kinds: 94 });
});
