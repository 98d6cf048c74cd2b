/**
 * Goal: a database error takes no row out of the database: no history, description or log shows a row's text. Method:
 * an installation whose tables refuse a real grant and a real declaration by a check constraint, and everything that it
 * writes down.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { clientsOf } from '../support/factories/records.ts';
import { type Installation, startInstallation } from '../support/installation.ts';
import { openTemporal } from '../support/operator-view.ts';
import { eventually, type Owner } from '../support/world.ts';
import { type Places, placesOf } from './places.ts';

const personal = 'Medication of Erika Mustermann';
const refusedText = 'Letter to Jonas Beispiel';

let bursar: Installation;
let owner: Owner;
let intentId: string;
let agentId: string;
beforeAll(async () => {
  bursar = await startInstallation({ LOG_LEVEL: 'debug' });
  await bursar.isWell();
  owner = await bursar.owner();
  const { agents, intents } = clientsOf(owner);
  ({ id: agentId } = await agents.createAgent({ body: { name: 'buyer' } }));
  const body = { agentId, purpose: personal, expectedAmountEuros: 80, expectedMerchant: 'Sandbox Shop' };
  ({ id: intentId } = await intents.declareIntent({ body }));
}, 300_000);
afterAll(async () => {
  await bursar.stop();
});

const where = (places: Places, text: string): string[] =>
  [...places].filter(([name, written]) => !name.startsWith('table ') && written.includes(text)).map(([name]) => name);

test('a grant that a constraint refuses is repeated, and shows its SQLSTATE and no row', async () => {
  await bursar.sql(`alter table intents add constraint no_grants check (status <> 'approved') not valid`);
  const answer = await clientsOf(owner)
    .intents.approveIntent({ params: { id: intentId } })
    .catch((error: unknown) => error);
  expect(answer).toMatchObject({ status: 503 });
  const declared = await fetch(`${bursar.apiUrl}/intents`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${owner.key}` },
    body: JSON.stringify({ agentId, purpose: refusedText, expectedAmountEuros: 1, expectedMerchant: 'Sandbox Shop' }),
  });
  expect(declared.status).toBe(500);
  expect(await declared.text()).not.toMatch(/Beispiel|Failing row/);

  const temporal = await openTemporal(bursar.ready.temporalAddress);
  const run = temporal.client.workflow.getHandle(`intent/${intentId}`);
  const failure = await eventually(
    async () => (await run.describe()).raw.pendingActivities?.[0]?.lastFailure,
    (last) => last != null,
  );
  expect(failure).toMatchObject({ message: 'CheckConstraintViolationException (SQLSTATE 23514)', stackTrace: '' });
  await temporal.close();

  const places = await placesOf(bursar);
  for (const text of ['Failing row contains', personal, 'Erika', refusedText]) expect(where(places, text)).toEqual([]);
  expect(where(places, 'SQLSTATE 23514')).toEqual(
    expect.arrayContaining([`history intent/${intentId}`, `description intent/${intentId}`]),
  );
  for (const log of ['log worker.log', 'log api.log']) expect(places.get(log)).toMatch(/"constraint":"no_grants"/);
}, 120_000);

test('it takes effect when the constraint is gone', async () => {
  await bursar.sql('alter table intents drop constraint no_grants');
  await eventually(
    async () => (await clientsOf(owner).intents.getIntent({ params: { id: intentId } })).status,
    (status) => status === 'approved',
    60_000,
  );
});
