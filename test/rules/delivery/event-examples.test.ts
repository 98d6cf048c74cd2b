/** The examples of the event catalog: each satisfies the schema of its event, and has the specification's fields. @module */
import { expect, test } from '@jest/globals';
import { eventCatalog, eventNames } from '../../../src/events/catalog.ts';
import { exampleOf, schemaOf } from '../../../src/events/example.ts';

test.each(eventNames)('the example of %s is valid and has every field', (name) => {
  const example = exampleOf(name);
  expect(eventCatalog[name].data.parse(example)).toEqual(example);
  expect(Object.keys(example)).toEqual(Object.keys(eventCatalog[name].data.shape));
  expect(schemaOf(name)).toMatchObject({ type: 'object' });
  // Receivers must accept fields that are added later.
  expect(JSON.stringify(schemaOf(name))).not.toContain('additionalProperties":false');
});

test('the example of transaction.completed has the fields of the specification', () => {
  expect(exampleOf('transaction.completed')).toEqual({
    transactionId: 'tx_01kc1v9m3se7ttw5v1x0h2q8ab',
    agentId: 'ag_01kc1v9m3se7ttw5v1x0h2q8ab',
    intentId: 'int_01kc1v9m3se7ttw5v1x0h2q8ab',
    amountEuros: 12.5,
    merchant: 'Sandbox Shop',
    status: 'completed',
  });
});
