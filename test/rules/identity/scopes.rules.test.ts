/** What a scope grants: itself, and `*` everything but what shows card numbers, moves money out or delegates. @module */
import { expect, test } from '@jest/globals';
import { grants, scopes } from '../../../src/http/scopes.ts';

test('`*` does not grant these scopes, and grants all others', () => {
  const notGranted = scopes.filter((scope) => !grants(['*'], scope));
  expect(notGranted).toEqual([
    'cards.reveal',
    'transfers.write',
    'collect.pay',
    'delegations.write',
    'operations.call',
  ]);
});

test('a scope grants itself alone', () => {
  for (const held of scopes) expect(scopes.filter((scope) => grants([held], scope))).toEqual([held]);
  expect(scopes.filter((scope) => grants([], scope))).toEqual([]);
});
