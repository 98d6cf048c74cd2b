/** Reading transactions: the record, every filter, pages, and who may look. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { anIntent, aPayer, fund, networkOf, type Payer, sandboxShop } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
let payer: Payer;
let other: Payer;
let ids: Record<'cleared' | 'declined' | 'held' | 'elsewhere', string>;
let intentId: string;

const as = (token: string) => createClient(transactionsArea, sendTo(world.apiUrl, token));
const idsOf = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);

beforeAll(async () => {
  world = await startWorld();
  network = networkOf(world);
  payer = await aPayer(world, { policy: { max_transaction_cents: 5_000 } });
  other = await aPayer(world, { owner: payer.owner });
  await fund(world, payer.owner.ownerId, `wallet:${payer.walletId}`, 1);
  intentId = await anIntent(world, payer, { amountCents: 1_300 });
  const pay = async (by: Payer, over: Record<string, unknown> = {}) => {
    const message = network.authorizationOf(by, over);
    const { body } = await network.send<{ transactionId: string }>('authorizations', message);
    return { id: body.transactionId, authorizationId: message.id };
  };
  const cleared = await pay(payer);
  await network.clear(payer, { id: 'clr_read', authorizationId: cleared.authorizationId });
  const declined = await pay(payer, { amountCents: 6_000 });
  const held = await pay(payer, { merchant: { ...sandboxShop, id: 'm_hotel', name: 'Grand Hotel' } });
  const elsewhere = await pay(other);
  ids = { cleared: cleared.id, declined: declined.id, held: held.id, elsewhere: elsewhere.id };
});
afterAll(async () => {
  await world.close();
});

describe('one transaction', () => {
  test('contains the merchant’s amount and currency, where the network sends them', async () => {
    const abroad = await aPayer(world);
    const { body } = await network.authorize(abroad, {
      merchantAmount: 13.37,
      merchantCurrency: 'USD',
    });
    const params = { id: body.transactionId as never };
    const charged = { merchantAmount: 13.37, merchantCurrency: 'USD' };
    expect(await as(abroad.owner.key).getTransaction({ params })).toMatchObject({ amountEuros: 12.5, ...charged });
    const told = await world.sql('select data from events where subject_id = $1', [body.transactionId]);
    expect(told).toEqual(told.map(() => ({ data: expect.objectContaining(charged) })));
    expect(await as(payer.owner.key).getTransaction({ params: { id: ids.cleared } })).toMatchObject({
      merchantAmount: null,
      merchantCurrency: null,
    });
  });

  test('contains the record and the messages of the network', async () => {
    const record = await as(payer.owner.key).getTransaction({ params: { id: ids.cleared } });
    expect(record).toMatchObject({
      id: ids.cleared,
      agentId: payer.agentId,
      cardId: payer.cardId,
      intentId,
      walletId: payer.walletId,
      amountEuros: 12.5,
      heldEuros: 0,
      clearedEuros: 12.5,
      currency: 'EUR',
      merchant: 'Sandbox Shop',
      merchantMcc: '5734',
      merchantCountry: 'DE',
      rail: 'card',
      type: 'capture',
      status: 'completed',
      verified: false,
      memo: null,
      issuerSettlementId: 'clr_read',
      refundedEuros: 0,
      declineReason: null,
    });
    expect(record.events.map(({ kind, amountEuros, final }) => [kind, amountEuros, final])).toEqual([
      ['authorization', 12.5, null],
      ['clearing', 12.5, true],
    ]);
  });

  test('contains the reason of a decline', async () => {
    const record = await as(payer.token).getTransaction({ params: { id: ids.declined } });
    expect(record).toMatchObject({
      status: 'failed',
      declineRule: 'max_transaction',
      declineReason: 'transaction limit 50.00, asked 60.00',
      amountEuros: 60,
    });
  });

  test('is not there for another owner, and closed to another agent', async () => {
    const stranger = await world.owner();
    await expect(as(stranger.key).getTransaction({ params: { id: ids.held } })).rejects.toMatchObject({ status: 404 });
    await expect(as(other.token).getTransaction({ params: { id: ids.held } })).rejects.toMatchObject({ status: 403 });
    await expect(as(payer.owner.key).getTransaction({ params: { id: 'tx_00000000' } })).rejects.toMatchObject({
      status: 404,
      message: 'no transaction tx_00000000',
    });
  });
});

describe('the list', () => {
  test('is newest first, and an agent sees its own', async () => {
    expect(idsOf(await as(payer.owner.key).listTransactions())).toEqual([
      ids.elsewhere,
      ids.held,
      ids.declined,
      ids.cleared,
    ]);
    expect(idsOf(await as(payer.token).listTransactions())).toEqual([ids.held, ids.declined, ids.cleared]);
  });

  test('accepts every filter', async () => {
    const list = async (query: Record<string, string>) => idsOf(await as(payer.owner.key).listTransactions({ query }));
    expect(await list({ agentId: other.agentId })).toEqual([ids.elsewhere]);
    expect(await list({ cardId: payer.cardId, status: 'failed' })).toEqual([ids.declined]);
    expect(await list({ status: 'pending' })).toEqual([ids.elsewhere, ids.held]);
    expect(await list({ status: 'completed' })).toEqual([ids.cleared]);
    expect(await list({ intentId })).toEqual([ids.cleared]);
    expect(await list({ merchant: 'GRAND hotel' })).toEqual([ids.held]);
    expect(await list({ merchant: 'Grand' })).toEqual([]);
    const [row] = await world.sql<{ at: Date }>('select created_at as at from transactions where id = $1', [
      ids.declined,
    ]);
    const at = row?.at.toISOString() ?? '';
    expect(await list({ from: at })).toEqual([ids.elsewhere, ids.held, ids.declined]);
    expect(await list({ to: at })).toEqual([ids.cleared]);
    expect(await list({ from: at, to: at })).toEqual([]);
  });

  test('continues where a page ended, also with a filter', async () => {
    const first = await as(payer.owner.key).listTransactions({ query: { limit: 2 } });
    expect([idsOf(first), first.hasMore]).toEqual([[ids.elsewhere, ids.held], true]);
    const cursor = first.nextCursor ?? '';
    const second = await as(payer.owner.key).listTransactions({ query: { limit: 2, cursor } as never });
    expect([idsOf(second), second.hasMore, second.nextCursor]).toEqual([[ids.declined, ids.cleared], false, null]);
    const filtered = await as(payer.owner.key).listTransactions({ query: { cardId: payer.cardId, cursor } as never });
    expect(idsOf(filtered)).toEqual([ids.declined, ids.cleared]);
  });

  test('refuses unknown parameters', async () => {
    const refused = (query: Record<string, string>) =>
      expect(as(payer.owner.key).listTransactions({ query })).rejects.toMatchObject({ status: 400 });
    await refused({ status: 'settled' });
    await refused({ limit: '0' });
    await refused({ cursor: 'x' });
    await refused({ from: 'yesterday' });
    await refused({ color: 'red' });
    await expect(as(payer.token).listTransactions({ query: { agentId: other.agentId } })).rejects.toMatchObject({
      status: 403,
    });
    await expect(as('sk_sandbox_unknown_key').listTransactions()).rejects.toMatchObject({ status: 401 });
  });

  test('needs the scope', async () => {
    const narrow = await aPayer(world, { owner: payer.owner });
    await world.sql(`update agent_tokens set scopes = '{intents.read}' where agent_id = $1`, [narrow.agentId]);
    await expect(as(narrow.token).listTransactions()).rejects.toMatchObject({ status: 403 });
  });
});
