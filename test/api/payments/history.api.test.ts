/** How far back lists of transactions reach: as far as the owner's plan, by business time. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { planLimits } from '../../../src/domains/parties/customers/plan.rules.ts';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { day, hour } from '../../../src/kernel/instant.ts';
import { aCustomer } from '../../support/factories/parties.ts';
import { aPayer, fund, networkOf, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let payer: Payer;
let id: string;
beforeAll(async () => {
  world = await startWorld();
  payer = await aPayer(world, { policy: { require_intent: false } });
  await fund(world, payer.owner.ownerId, `wallet:${payer.walletId}`, 1);
  const network = networkOf(world);
  const { body } = await network.send<{ transactionId: string }>('authorizations', network.authorizationOf(payer));
  id = body.transactionId;
});
afterAll(async () => {
  await world.close();
});

const transactions = () => payer.owner.client(transactionsArea);
const listed = async (query: object = {}) =>
  (await transactions().listTransactions({ query })).data.map((one) => one.id);

// spec: does:Transactions:transaction history and memos
test.each(Object.entries(planLimits).map(([plan, { historyDays }]) => [plan, historyDays] as const))(
  'on the plan %s a list reaches back %i days, and a transaction is returned by its id whatever its age',
  async (plan, historyDays) => {
    await aCustomer(world, payer.owner.ownerId, { plan });
    const aged = (ms: number) =>
      world.sql('update transactions set created_at = $2 where id = $1', [id, new Date(Date.now() - ms)]);
    await aged(historyDays * day - hour);
    expect(await listed()).toEqual([id]);
    await aged(historyDays * day + hour);
    expect(await listed()).toEqual([]);
    // Asking for more does not open it.
    expect(await listed({ from: '2000-01-01T00:00:00.000Z', agentId: payer.agentId })).toEqual([]);
    expect(await transactions().getTransaction({ params: { id } })).toMatchObject({ id });
  },
);

test('the window moves with business time', async () => {
  await aCustomer(world, payer.owner.ownerId, { plan: 'free' });
  await world.sql('update transactions set created_at = $2 where id = $1', [id, new Date(Date.now() - 29 * day)]);
  expect(await listed()).toEqual([id]);
  await world.advance(2 * day);
  expect(await listed()).toEqual([]);
});
