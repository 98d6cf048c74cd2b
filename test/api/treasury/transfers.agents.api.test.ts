/** Transfers of an agent over HTTP: from its own money alone, within its policy, and counted against it. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ledgerArea } from '../../../src/domains/treasury/ledger/ledger.contract.ts';
import { transfersArea } from '../../../src/domains/treasury/transfers/transfer.contract.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { eventsOf } from '../../support/events.ts';
import { aPayer, networkOf, type Payer } from '../../support/payments-world.ts';
import { refusal } from '../../support/refusals.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

type Rules = Readonly<Record<string, unknown>>;

/** An agent that may transfer, and a wallet of its owner that it does not draw on. */
async function aMover(policy: Rules = {}, funding: 'wallet' | 'budget' = 'wallet') {
  const payer = await aPayer(world, { fundsCents: 50_000, policy, funding });
  await world.sql(`update agent_tokens set scopes = '{*,transfers.write}' where agent_id = $1`, [payer.agentId]);
  const { id: target } = await payer.owner.client(walletsArea).createWallet({ body: { name: 'Target' } });
  const api = world.as(payer.token).client(transfersArea);
  const send = (amountEuros: number, more: object = {}) =>
    api.createTransfer({ body: { toWalletId: target, amountEuros, ...more } });
  return { payer, target, api, send };
}

const balanceOf = async ({ owner }: Payer, id: string) =>
  (await owner.client(walletsArea).getWallet({ params: { id } })).balanceEuros;
const verified = async ({ owner }: Payer) =>
  expect(await owner.client(ledgerArea).verifyLedger({ query: { full: 'true' } })).toMatchObject({
    balanced: true,
    differences: [],
  });

describe('the source', () => {
  test('is the wallet that the agent draws on, and the record names the agent', async () => {
    const { payer, target, api, send } = await aMover();
    const made = await send(12.5);
    expect(made).toMatchObject({ agentId: payer.agentId, fromWalletId: payer.walletId, toWalletId: target });
    expect(await send(1, { fromWalletId: payer.walletId })).toMatchObject({ fromWalletId: payer.walletId });
    expect(await balanceOf(payer, target)).toBe(13.5);
    expect(await api.getTransfer({ params: { id: made.id } })).toEqual(made);
    const [event] = await eventsOf(world, made.id);
    expect(event).toMatchObject({ agent_id: payer.agentId, data: { agentId: payer.agentId } });
    const audits = await world.sql('select actor, details from audit where subject_id = $1', [made.id]);
    expect(audits).toEqual([{ actor: `agent:${payer.agentId}`, details: { amountCents: 1_250, policyVersion: 1 } }]);
    await verified(payer);
  });

  test('is the budget of an agent that has one, also back to its wallet', async () => {
    const { payer, api, send } = await aMover({}, 'budget');
    expect(await send(20)).toMatchObject({ fromWalletId: null, agentId: payer.agentId });
    const { id } = await api.createTransfer({ body: { toWalletId: payer.walletId, amountEuros: 5 } });
    expect(await balanceOf(payer, payer.walletId)).toBe(5);
    const { data } = await payer.owner.client(ledgerArea).listLedgerEntries({ query: { referenceId: id } });
    expect(data.map(({ account }) => account).sort()).toEqual(
      [`agent:${payer.agentId}:available`, `wallet:${payer.walletId}:available`].sort(),
    );
    await expect(send(475.01)).rejects.toEqual(refusal(400, /has 475\.00 euros available, 475\.01 asked/));
    const named = send(1, { fromWalletId: payer.walletId });
    await expect(named).rejects.toEqual(refusal(403, /draws on its budget and on no wallet/));
    await verified(payer);
  });

  test('is no other wallet of the owner, and none of another owner', async () => {
    const { payer, target, send, api } = await aMover();
    const stranger = await aMover();
    const from = (fromWalletId: string) =>
      api.createTransfer({ body: { fromWalletId, toWalletId: payer.walletId, amountEuros: 1 } });
    await expect(from(target)).rejects.toEqual(refusal(403, /is not the wallet that this agent draws on/));
    for (const asked of [
      from(stranger.target),
      from(stranger.payer.walletId),
      send(1, { toWalletId: stranger.target }),
    ]) {
      await expect(asked).rejects.toEqual(refusal(404, /^no wallet wal_/));
    }
    expect(await balanceOf(payer, target)).toBe(0);
  });

  test('needs the scope transfers.write, which * does not include', async () => {
    const { payer, send } = await aMover();
    await world.sql(`update agent_tokens set scopes = '{*}' where agent_id = $1`, [payer.agentId]);
    await expect(send(1)).rejects.toEqual(refusal(403, /transfers\.write/));
  });

  test('an agent sees its own transfers, and neither those of its owner nor of a sibling', async () => {
    const { payer, target, api, send } = await aMover();
    const own = await send(1);
    const ofOwner = await payer.owner
      .client(transfersArea)
      .createTransfer({ body: { fromWalletId: payer.walletId, toWalletId: target, amountEuros: 1 } });
    const sibling = await aPayer(world, { owner: payer.owner });
    expect((await api.listTransfers()).data.map(({ id }) => id)).toEqual([own.id]);
    await expect(api.getTransfer({ params: { id: ofOwner.id } })).rejects.toEqual(refusal(403, /another agent/));
    const asSibling = world.as(sibling.token).client(transfersArea);
    await expect(asSibling.getTransfer({ params: { id: own.id } })).rejects.toMatchObject({ status: 403 });
    await expect(asSibling.listTransfers({ query: { agentId: payer.agentId } })).rejects.toMatchObject({ status: 403 });
    const all = await payer.owner.client(transfersArea).listTransfers({ query: { agentId: payer.agentId } });
    expect(all.data.map(({ id }) => id)).toEqual([own.id]);
  });
});

describe('the policy', () => {
  test.each<[string, Rules, RegExp]>([
    [
      'a person would have to approve',
      { auto_approve_limit_cents: 1_000 },
      /refused by auto_approve_limit: .*up to 10\.00 EUR .*approve 20\.00 EUR; no one can/,
    ],
    [
      'exceeds the transaction limit',
      { max_transaction_cents: 1_999 },
      /refused by max_transaction: transaction limit 19\.99, asked 20\.00/,
    ],
    [
      'exceeds the daily limit',
      { daily_limit_cents: 1_999 },
      /refused by daily_limit: daily limit 19\.99, spent 0\.00, asked 20\.00/,
    ],
    ['exceeds the monthly limit', { monthly_limit_cents: 1_999 }, /refused by monthly_limit/],
    [
      'has no intent although one is required',
      { require_intent: true },
      /refused by require_intent: the transfer names no intent/,
    ],
    ['has no attestation although one is required', { require_attestation: true }, /refused by attestation/],
  ])('refuses a transfer that %s, with the rule and its figures', async (_what, policy, message) => {
    const { payer, target, api, send } = await aMover(policy);
    await expect(send(20)).rejects.toEqual(refusal(403, message));
    const splits = [10, 10].map((amountEuros) => ({ toWalletId: target, amountEuros }));
    await expect(api.createTransferSplit({ body: { splits } })).rejects.toEqual(refusal(403, message));
    expect(await balanceOf(payer, target)).toBe(0);
    expect(await world.sql('select 1 from spending_days where agent_id = $1', [payer.agentId])).toEqual([]);
  });

  test('asks nothing about merchants: a transfer has none', async () => {
    const { send } = await aMover({ merchant_allowlist: ['Sandbox Shop'], allowed_countries: ['DE'] });
    expect(await send(20)).toMatchObject({ status: 'completed' });
  });

  test('that is gone, and an agent that is frozen, move nothing', async () => {
    const { payer, send } = await aMover();
    await world.sql(`update agents set status = 'frozen' where id = $1`, [payer.agentId]);
    await expect(send(1)).rejects.toEqual(refusal(403, /refused by agent_status: the agent is frozen/));
    await world.sql(`update agents set status = 'active' where id = $1`, [payer.agentId]);
    await world.sql('update policies set removed_at = now() where agent_id = $1', [payer.agentId]);
    await expect(send(1)).rejects.toEqual(refusal(403, /refused by no_policy/));
  });

  test('counts transfers like payments: for the limits of both, the usage and the cooldown', async () => {
    const { payer, target, api, send } = await aMover({ daily_limit_cents: 10_000, max_usage_count: 3 });
    await send(30);
    const splits = [20, 10].map((amountEuros) => ({ toWalletId: target, amountEuros }));
    await api.createTransferSplit({ body: { splits } });
    await expect(send(40.01)).rejects.toEqual(refusal(403, /daily limit 100\.00, spent 60\.00, asked 40\.01/));
    const network = networkOf(world);
    const charge = (amountCents: number) =>
      network.send('authorizations', network.authorizationOf(payer, { amountCents }));
    expect(await charge(4_001)).toMatchObject({ body: { decision: 'declined', rule: 'daily_limit' } });
    expect(await charge(1_000)).toMatchObject({ body: { decision: 'approved' } });
    await expect(send(30.01)).rejects.toEqual(refusal(403, /usage count 3, used 3|spent 70\.00/));
    await expect(send(1)).rejects.toEqual(refusal(403, /refused by usage_count: usage count 3, used 3/));
    await verified(payer);
  });

  test('lets the time of its cooldown pass after a transfer', async () => {
    const { payer, send } = await aMover({ cooldown_minutes: 10 });
    await send(1);
    await expect(send(1)).rejects.toEqual(refusal(403, /refused by cooldown: 10 min must lie between payments/));
    await world.sql(`update transfers set created_at = created_at - interval '10 min' where agent_id = $1`, [
      payer.agentId,
    ]);
    expect(await send(1)).toMatchObject({ status: 'completed' });
  });

  test('of twenty transfers at once lets pass exactly as many as the daily limit covers', async () => {
    const { payer, target, send } = await aMover({ daily_limit_cents: 10_000 });
    const answers = await Promise.allSettled(Array.from({ length: 20 }, () => send(9)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(11);
    expect(await balanceOf(payer, target)).toBe(99);
    await verified(payer);
  });

  test('is not asked again, and nothing counts twice, when a request is repeated', async () => {
    const { payer, api, target } = await aMover({ daily_limit_cents: 1_000 });
    const headers = { 'Idempotency-Key': `again-${payer.agentId}` };
    const ask = () => api.createTransfer({ body: { toWalletId: target, amountEuros: 10 }, headers });
    const first = await ask();
    await world.sql('update idempotency set status = null, body = null, lease_until = null where key = $1', [
      headers['Idempotency-Key'],
    ]);
    expect(await ask()).toEqual(first);
    const days = await world.sql('select spent_cents, payments from spending_days where agent_id = $1', [
      payer.agentId,
    ]);
    expect(days).toEqual([{ spent_cents: '1000', payments: '1' }]);
  });
});

test('an agent makes at most so many transfers in a UTC day as limits.ts says; a split counts once', async () => {
  const { payer, target, api, send } = await aMover();
  const splits = [1, 1].map((amountEuros) => ({ toWalletId: target, amountEuros }));
  await api.createTransferSplit({ body: { splits } });
  await world.sql(`insert into owner_limits (owner_id, name, most, updated_at) values ($1, 'transfers', 2, now())`, [
    payer.owner.ownerId,
  ]);
  await send(1);
  await expect(send(1)).rejects.toEqual(
    refusal(400, /you have 2 transfers and splits of this agent today, and 2 is the limit/),
  );
});
