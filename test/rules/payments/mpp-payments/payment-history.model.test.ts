/**
 * Goal: whatever merchants, agents, operators, processes and clocks do, an intent is paid once at most and within its
 * tolerance, the owner sees every charge, and an unknown payment is never paid again. Method: random histories on the
 * rules, with processes that die between any two steps; the same histories find planted faults.
 * @module
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { day, minute, second } from '../../../../src/kernel/instant.ts';
import { PaymentHistory } from './payment-history.model.ts';
import { faults, productRules, type Rules } from './payment-history.rules.ts';

type Step = (history: PaymentHistory, which: number, dice: number) => boolean;

const steps: readonly (readonly [number, Step])[] = [
  [4, (history, which, dice) => history.pay(which, dice)],
  [0.5, (history, which) => history.mintForAgent(which)],
  [60, (history, which, dice) => history.turn(which, dice)],
  [5, (history, which) => history.abandon(which)],
  [8, (history, which, dice) => history.late(which, dice)],
  [3, (history, which) => history.die(which)],
  [2, (history, which) => history.loseRun(which)],
  [12, (history, which, dice) => history.charge(which, dice)],
  [2, (history, which) => history.verify(which)],
  [3, (history, which, dice) => history.resolve(which, dice)],
  [3, (history, which) => history.clear(which)],
  [4, (history, which) => history.reverse(which)],
  [0.5, (history, which) => history.cancel(which)],
  [2, (history, which) => history.expire(which)],
  [0.5, (history, which) => history.expireLate(which)],
  [0.2, (history) => history.freeze(true)],
  [1, (history) => history.freeze(false)],
  [
    8,
    (history, _which, dice) =>
      history.moveReal([second, 2 * second, 12 * second, 25 * second, 25 * second, 6 * minute][dice % 6] ?? 0),
  ],
  [1, (history, _which, dice) => history.moveBusiness([minute, 3_600 * second, day, 8 * day][dice % 4] ?? 0)],
  [2, (history) => history.expireCredentials()],
];

const stepsPerHistory = 200;
/** Without a bias towards small numbers, which would refuse most payments at once. */
const nat = fc.noBias(fc.nat(10_000));
const history = fc.array(
  fc.tuple(
    fc.oneof(...steps.map(([weight, step]) => ({ weight: weight * 10, arbitrary: fc.constant(step) }))),
    nat,
    nat,
  ),
  { minLength: 60, maxLength: stepsPerHistory, size: 'max' },
);

/** What a history came to: the steps that found something to do, and the states that it went through. */
type Reached = Map<string, number>;

function played(rules: Rules, given: readonly (readonly [Step, number, number])[], reached: Reached = new Map()): void {
  const count = (what: string) => reached.set(what, (reached.get(what) ?? 0) + 1);
  const model = new PaymentHistory(rules);
  for (const [step, which, dice] of given) {
    if (step(model, which, dice)) count('step');
    model.checked();
  }
  model.settle();
  for (const { status, chargeSource, left, merchantStatus } of model.payments) {
    count(status);
    if (status === 'paid') count(`paid by ${chargeSource}`);
    if (status === 'paid' && merchantStatus === 402) count('charged and refused');
    if (status === 'not_paid' && left > 0) count('presented and not paid');
  }
  if (model.sentFromMemory > 0) count('sent from memory');
  for (const { status } of model.credentials) if (status === 'revoked') count('revoked');
  for (const { state } of model.charges) count(state);
  for (const { status } of model.intents) count(status);
  const payments = model.intents.map((_intent, intent) => model.payments.filter((one) => one.intent === intent).length);
  if (Math.max(...payments) > 2) count('an intent with three payments');
}

const mustReach = [
  ...['paid', 'declined', 'refused', 'not_paid', 'reversed', 'cleared', 'promised', 'charged and refused'],
  ...[
    'paid by network',
    'paid by verify',
    'paid by operator',
    'paid by receipt',
    'sent from memory',
    'revoked',
    'expired',
    'cancelled',
    'presented and not paid',
    'an intent with three payments',
  ],
];

test('an intent is paid once at most, within its tolerance, visibly, and never again while a payment is unknown', () => {
  const reached: Reached = new Map();
  fc.assert(
    fc.property(history, (given) => played(productRules, given, reached)),
    { numRuns: 3_000 },
  );
  if (process.env.MODEL_FIGURES !== undefined) process.stderr.write(`${JSON.stringify([...reached])}\n`);
  expect(reached.get('step')).toBeGreaterThan(50_000);
  expect(mustReach.filter((what) => (reached.get(what) ?? 0) < 20)).toEqual([]);
});

test.each(Object.entries(faults))('the model notices when %s', (_what, fault) => {
  const rules = { ...productRules, ...fault };
  const { failed } = fc.check(
    fc.property(history, (given) => played(rules, given)),
    { seed: 1, numRuns: 30_000, endOnFailure: true },
  );
  expect(failed).toBe(true);
});
