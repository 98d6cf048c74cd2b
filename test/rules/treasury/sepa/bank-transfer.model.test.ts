/**
 * Goal: whatever people, runs, the bank and the clocks do, a transfer is submitted once at most, no money is lost or
 * made, and our book agrees with the bank's. Method: random histories on the rules; the same histories find planted
 * faults.
 * @module
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { day, hour, second } from '../../../../src/kernel/instant.ts';
import { type BankTransferRules, faults, productRules } from './bank-transfer.faults.ts';
import { BankTransferHistory } from './bank-transfer.model.ts';

type Step = (history: BankTransferHistory, which: number, dice: number) => boolean;

const steps: readonly (readonly [number, Step])[] = [
  [4, (history, _which, dice) => history.create(dice)],
  [8, (history, which, dice) => history.checkPayee(which, dice)],
  [6, (history, which, dice) => history.decide(which, dice)],
  [2, (history, which) => history.cancel(which)],
  [10, (history, which) => history.beginSending(which)],
  [16, (history, which, dice) => history.send(which, dice)],
  [10, (history, which, dice) => history.arrive(which, dice)],
  [8, (history, which) => history.ask(which)],
  [16, (history, which, dice) => history.bankWorks(which, dice)],
  [20, (history, which, dice) => history.deliver(which, dice)],
  [2, (history, which, dice) => history.deliverWrong(which, dice)],
  [8, (history, which) => history.recall(which)],
  [4, (history, which) => history.die(which)],
  [
    8,
    (history, which, dice) =>
      history.moveReal([second, 2 * second, 4 * second, 4 * second, 11 * second][(which + dice) % 5] ?? 0),
  ],
  [2, (history, _which, dice) => history.moveBusiness([hour, day, 8 * day][dice % 3] ?? 0)],
];

const nat = fc.noBias(fc.nat(10_000));
const history = fc.array(
  fc.tuple(fc.oneof(...steps.map(([weight, step]) => ({ weight, arbitrary: fc.constant(step) }))), nat, nat),
  { minLength: 150, maxLength: 250, size: 'max' },
);

type Reached = Map<string, number>;

function played(
  rules: BankTransferRules,
  given: readonly (readonly [Step, number, number])[],
  reached: Reached = new Map(),
): void {
  const count = (what: string) => reached.set(what, (reached.get(what) ?? 0) + 1);
  const model = new BankTransferHistory(rules);
  for (const [step, which, dice] of given) {
    count('step');
    step(model, which, dice);
    model.checked();
  }
  model.settle();
  for (const { stage } of model.transfers) count(stage);
}

const runs = 2_000;
const mustReach = ['denied', 'expired', 'cancelled', 'rejected', 'settled', 'returned', 'recalled'];

test('at most one submission, money conserved and both books equal, in more than 50,000 steps', () => {
  const reached: Reached = new Map();
  fc.assert(
    fc.property(history, (given) => played(productRules, given, reached)),
    { numRuns: runs },
  );
  expect(reached.get('step')).toBeGreaterThan(50_000);
  const rare = mustReach.filter((stage) => (reached.get(stage) ?? 0) < 10);
  expect(rare).toEqual([]);
});

test.each(Object.entries(faults))('the histories find: %s', (_what, fault) => {
  const outcome = fc.check(
    fc.property(history, (given) => played({ ...productRules, ...fault }, given)),
    { numRuns: runs, endOnFailure: true },
  );
  expect(outcome.failed).toBe(true);
});
