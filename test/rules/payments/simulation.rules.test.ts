/** When a simulated charge is over, and what its refusals say. @module */
import { expect, test } from '@jest/globals';
import {
  chargeRefusalInWords,
  isFinalSimulation,
  wantedOutcomes,
} from '../../../src/domains/payments/simulations/simulation.rules.ts';

test('a simulation is over once the network has charged the card or refused to', () => {
  expect([isFinalSimulation('open'), isFinalSimulation('done'), isFinalSimulation('refused')]).toEqual([
    ...[false, true, true],
  ]);
});

test('a charge may be wished to be approved or declined', () => {
  expect(wantedOutcomes).toEqual(['approve', 'decline']);
});

test('each refusal of the simulated network has its words', () => {
  expect(chargeRefusalInWords).toEqual({
    unknown_card: 'the simulated network does not know the card: only cards that its own processor has issued',
    not_accepted: 'the simulated network does not take this charge',
  });
});
