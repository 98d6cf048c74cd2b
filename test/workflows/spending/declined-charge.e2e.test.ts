/**
 * What an operator reads of an intent that was made from a declined charge: which charge, of which merchant, and the rule
 * with its figures. The real network message, row, worker and Temporal server.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { aPayer, networkOf } from '../../support/payments-world.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
let temporal: OpenTemporal;
beforeAll(async () => {
  world = await startWorld({ worker: true });
  temporal = await openTemporal();
});
afterAll(async () => {
  await temporal.close();
  await world.close();
});

const detailsOf = (intentId: string, text: string) =>
  eventually(
    async () => (await temporal.viewOf(`intent/${intentId}`).catch(() => ({ details: '' }))).details,
    (details) => details.includes(text),
  );
const shop = 'of merchant sandbox-shop (category 5734, country DE)';

test('the request to a person names the charge that waits for it', async () => {
  const payer = await aPayer(world, { policy: { auto_approve_limit_cents: 1_000 } });
  const { body } = await networkOf(world).authorize(payer);
  expect(body).toMatchObject({ decision: 'declined', rule: 'auto_approve_limit' });
  const [intent] = await world.sql<{ id: string }>('select id from intents where agent_id = $1', [payer.agentId]);
  await detailsOf(
    String(intent?.id),
    `For the charge ${body.transactionId} ${shop}, declined by auto_approve_limit: limit 10.00, asked 12.50`,
  );
});

test('the permission names the charge that it lets pass once', async () => {
  const payer = await aPayer(world, { policy: { daily_limit_cents: 1_000 } });
  const { body } = await networkOf(world).authorize(payer);
  const params = { id: body.transactionId as never };
  const { id } = await payer.owner.client(transactionsArea).allowTransactionOnce({ params, body: {} });
  await detailsOf(
    id,
    `The owner allows once the charge ${body.transactionId} ${shop}, declined by daily_limit: limit 10.00, spent 0.00, asked 12.50`,
  );
});
