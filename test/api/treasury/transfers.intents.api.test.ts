/** Transfers of an agent that pay for its intents: matched from the order on, completed with the money, open without. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { approvalsArea } from '../../../src/domains/identity/approvals/approval.contract.ts';
import { createApprovalLinks } from '../../../src/domains/identity/approvals/approval-link.service.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { endToEndIdOf } from '../../../src/domains/treasury/sepa/end-to-end-id.rules.ts';
import { transfersArea } from '../../../src/domains/treasury/transfers/transfer.contract.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import type { Id } from '../../../src/kernel/ids.ts';
import { hour } from '../../../src/kernel/instant.ts';
import { hearBankMessages } from '../../../src/usecases/treasury/hear-bank-messages.ts';
import { paidIntentReconciliation } from '../../../src/usecases/treasury/reconcile-paid-intents.ts';
import { createVault } from '../../../src/vault/vault.ts';
import { readVaultKeys } from '../../../src/vault/vault-keys.ts';
import { notificationOf, sendBankFile, statusesOf } from '../../support/bank-files.ts';
import { eventNamesOf } from '../../support/events.ts';
import { aBeneficiary, anIban } from '../../support/factories/beneficiaries.ts';
import { aPayer, inDatabase, networkOf } from '../../support/payments-world.ts';
import { refusal } from '../../support/refusals.ts';
import { markSending } from '../../support/sent-transfers.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

type Rules = Readonly<Record<string, unknown>>;
const payeeName = 'Müller & Söhne GmbH';

async function aBuyer(policy: Rules = {}) {
  const payer = await aPayer(world, { fundsCents: 50_000, policy: { require_intent: true, ...policy } });
  await world.sql(`update agent_tokens set scopes = '{*,transfers.write}' where agent_id = $1`, [payer.agentId]);
  const iban = anIban();
  await world.sql(`update wallets set iban = $2, bic = 'BURSDEF0XXX' where id = $1`, [payer.walletId, iban]);
  const { id: target } = await payer.owner.client(walletsArea).createWallet({ body: { name: 'Target' } });
  const { id: beneficiaryId } = await aBeneficiary(payer.owner, { agentsMayPay: true });
  const agent = world.as(payer.token);
  const [transfers, intents] = [agent.client(transfersArea), agent.client(intentsArea)];
  const declare = async (expectedAmountEuros = 20, more: object = {}): Promise<string> =>
    (await intents.declareIntent({ body: { purpose: 'Invoice 7', expectedAmountEuros, ...more } })).id;
  const pay = (intentId: string | undefined, amountEuros = 20, more: object = {}) =>
    transfers.createTransfer({ body: { beneficiaryId, amountEuros, intentId, ...more } });
  const read = (id: string) => intents.getIntent({ params: { id } });
  return { payer, iban, target, beneficiaryId, transfers, intents, declare, pay, read };
}

const debitOf = (id: string, amount: string) =>
  ({ direction: 'DBIT', amount, endToEndId: endToEndIdOf(id as Id<'transfer'>) }) as const;

describe('a transfer to a bank account', () => {
  test('keeps its intent from the order on, and completes it when the money has left', async () => {
    const { payer, iban, intents, declare, pay, read } = await aBuyer({ daily_limit_cents: 4_000 });
    const intentId = await declare(20, { expectedMerchant: payeeName });
    await expect(pay(undefined)).rejects.toEqual(
      refusal(403, /refused by require_intent: the transfer names no intent/),
    );
    const made = await pay(intentId);
    expect(made).toMatchObject({ intentId, status: 'pending' });
    expect(await read(intentId)).toMatchObject({ status: 'approved', transferId: made.id, matchedTransactionId: null });
    const paying = `transfer ${made.id} is paying for`;
    await expect(pay(intentId)).rejects.toEqual(refusal(400, new RegExp(paying)));
    await expect(intents.cancelIntent({ params: { id: intentId }, body: {} })).rejects.toEqual(
      refusal(400, new RegExp(`cannot cancel an intent while ${paying} it`)),
    );
    // Counted once: as spent, and no longer as planned.
    await expect(declare(20.01)).resolves.toEqual(expect.any(String));
    const network = networkOf(world);
    const charged = await network.send('authorizations', network.authorizationOf(payer, { amountCents: 2_000 }));
    expect(charged).toMatchObject({ body: { decision: 'declined', rule: 'intent_required' } });

    await markSending(world, made.id);
    expect(await sendBankFile(world, notificationOf([debitOf(made.id, '20.00')], iban))).toMatchObject({
      body: { moved: 1 },
    });
    expect(await read(intentId)).toMatchObject({ status: 'completed', transferId: made.id, transactionId: null });
    expect(await eventNamesOf(world, intentId)).toEqual([
      'intent.created',
      'intent.approved',
      'intent.matched',
      'intent.completed',
    ]);
    const returned = { amount: '20.00', endToEndId: endToEndIdOf(made.id as Id<'transfer'>), returnReason: 'MD07' };
    await sendBankFile(world, notificationOf([returned], iban));
    expect(await read(intentId)).toMatchObject({ status: 'completed' });
  });

  test('that never leaves opens its intent again, whose deadline then counts', async () => {
    const { payer, declare, pay, read } = await aBuyer();
    const intentId = await declare();
    const cancelled = await pay(intentId);
    await payer.owner.client(transfersArea).cancelTransfer({ params: { id: cancelled.id }, body: {} });
    expect(await read(intentId)).toMatchObject({ status: 'approved', transferId: null });
    const rejected = await pay(intentId, 12.5);
    await world.sql(`update intents set expires_at = now() - interval '1 s' where id = $1`, [intentId]);
    expect(await read(intentId)).toMatchObject({ status: 'approved', transferId: rejected.id });
    await markSending(world, rejected.id);
    const status = { endToEndId: endToEndIdOf(rejected.id as Id<'transfer'>), status: 'RJCT', reason: 'AC04' };
    expect(await sendBankFile(world, statusesOf([status]))).toMatchObject({ body: { moved: 1 } });
    expect(await read(intentId)).toMatchObject({ status: 'expired', transferId: null });
    await expect(pay(intentId)).rejects.toEqual(refusal(400, /the intent expired at/));
    const [run] = await world.sql<{ due: Date | null }>(`select due_at as due from workflow_runs where id = $1`, [
      `intent/${intentId}`,
    ]);
    expect(run?.due).not.toBeNull();
  });

  test('that is cancelled does not begin the cooldown', async () => {
    const { payer, declare, pay } = await aBuyer({ cooldown_minutes: 10 });
    const [one, other] = [await declare(), await declare()];
    const { id } = await pay(one);
    await expect(pay(other)).rejects.toEqual(refusal(403, /refused by cooldown/));
    await payer.owner.client(transfersArea).cancelTransfer({ params: { id: id as never }, body: {} });
    expect(await pay(other)).toMatchObject({ amountEuros: 20 });
  });

  test('is refused where it does not fit its intent', async () => {
    const { payer, declare, pay, target, transfers } = await aBuyer({ amount_tolerance_percent: 10 });
    const intentId = await declare(20, { expectedMerchant: payeeName });
    await expect(pay(intentId, 22.01)).rejects.toEqual(refusal(403, /refused by intent: .*expects 20\.00/));
    const other = await aBeneficiary(payer.owner, { name: 'Erika Muster', agentsMayPay: true });
    await expect(pay(intentId, 20, { beneficiaryId: other.id })).rejects.toEqual(
      refusal(403, /refused by intent: .*asked by Erika Muster/),
    );
    const toWallet = transfers.createTransfer({ body: { toWalletId: target, amountEuros: 1, intentId } });
    await expect(toWallet).rejects.toEqual(refusal(403, /refused by intent: .*asked by Target/));
    const recurring = await declare(5, { recurring: { cadence: 'monthly' } });
    await expect(pay(recurring, 5)).rejects.toEqual(refusal(400, /is recurring/));
    const sibling = await aPayer(world, { owner: payer.owner });
    const asSibling = world.as(sibling.token);
    const foreign = await asSibling
      .client(intentsArea)
      .declareIntent({ body: { purpose: 'x', expectedAmountEuros: 1 } });
    await expect(pay(foreign.id, 1)).rejects.toEqual(refusal(403, /another agent/));
    const ofOwner = payer.owner.client(transfersArea).createTransfer({
      body: { fromWalletId: payer.walletId, toWalletId: target, amountEuros: 1, intentId },
    });
    await expect(ofOwner).rejects.toEqual(refusal(400, /body\.intentId: is for agents/));
    expect(await pay(intentId, 22)).toMatchObject({ intentId, status: 'pending' });
  });

  test('needs no person above the limit where a person approved its intent', async () => {
    const { declare, pay, read } = await aBuyer({ auto_approve_limit_cents: 1_000 });
    const intentId = await declare();
    expect(await read(intentId)).toMatchObject({ status: 'pending_approval' });
    await expect(pay(intentId)).rejects.toEqual(refusal(400, /the intent is pending_approval/));
    await world.sql(`update intents set status = 'approved' where id = $1`, [intentId]);
    expect(await pay(intentId)).toMatchObject({ approvalRule: null });
  });

  test('is one of several at once for one intent', async () => {
    const { declare, pay, read } = await aBuyer();
    const intentId = await declare();
    const answers = await Promise.allSettled(Array.from({ length: 5 }, () => pay(intentId, 1)));
    const [paid, ...others] = answers.filter(({ status }) => status === 'fulfilled');
    expect(others).toEqual([]);
    expect(await read(intentId)).toMatchObject({
      transferId: paid?.status === 'fulfilled' ? paid.value.id : 'one of them',
    });
  });
});

describe.each(['cancelled', 'denied'] as const)('what is %s by the owner', (how) => {
  /** Of a half paid split the other line has been paid. */
  const ordered = async (kind: 'transfer' | 'split' | 'half paid split') => {
    const buyer = await aBuyer();
    const { payer, beneficiaryId, target, transfers, declare, pay } = buyer;
    const intentId = await declare(20);
    const other = kind === 'split' ? { beneficiaryId } : { toWalletId: target };
    const splits = [
      { beneficiaryId, amountEuros: 10 },
      { ...other, amountEuros: 10 },
    ];
    const split = kind === 'transfer' ? undefined : await transfers.createTransferSplit({ body: { splits, intentId } });
    const id = split?.transfers[0]?.id ?? (await pay(intentId)).id;
    if (how === 'denied')
      await world.sql(
        `update transfers set stage = 'pending_approval', status = 'pending_approval', expires_at = now() + interval '1 h'
         where intent_id = $1 and type = 'sepa'`,
        [intentId],
      );
    const owner = payer.owner.client(transfersArea);
    const ends = {
      transfer: () =>
        how === 'cancelled'
          ? owner.cancelTransfer({ params: { id }, body: {} })
          : owner.denyTransfer({ params: { id }, body: {} }),
      split: () =>
        how === 'cancelled'
          ? owner.cancelTransferSplit({ params: { splitId: split?.id ?? '' }, body: {} })
          : owner.denyTransferSplit({ params: { splitId: split?.id ?? '' }, body: {} }),
    };
    return { ...buyer, intentId, id, ends };
  };

  test('completes its intent where another line has paid', async () => {
    for (const by of ['transfer', 'split'] as const) {
      const { intentId, ends, read } = await ordered('half paid split');
      await ends[by]();
      expect(await read(intentId)).toMatchObject({ status: 'completed' });
      expect((await eventNamesOf(world, intentId)).at(-1)).toBe('intent.completed');
    }
  });

  test('cancels its intent where the agent was closed meanwhile', async () => {
    for (const kind of ['transfer', 'split'] as const) {
      const { intentId, ends, payer } = await ordered(kind);
      await payer.owner.client(agentsArea).closeAgent({ params: { id: payer.agentId } });
      await ends[kind]();
      await isCancelled(intentId);
    }
  });

  if (how === 'denied')
    test('does the same by its link', async () => {
      const paid = await ordered('half paid split');
      await denyByLink(paid.id);
      expect(await paid.read(paid.intentId)).toMatchObject({ status: 'completed' });
      const { intentId, id, payer } = await ordered('transfer');
      await payer.owner.client(agentsArea).closeAgent({ params: { id: payer.agentId } });
      await denyByLink(id);
      await isCancelled(intentId);
    });
});

/** By the approver's link, which the run of the transfer would open. */
async function denyByLink(id: string): Promise<void> {
  const vault = createVault({ keys: readVaultKeys(world.config.BURSAR_VAULT_KEY) });
  const links = createApprovalLinks({ vault, publicUrl: 'https://pay.example' });
  const url = await inDatabase(world, (database) =>
    database.write(async (tx) => {
      await links.open(tx, id, new Date());
      return (await links.urlsOf(tx, [id])).get(id);
    }),
  );
  const params = { token: url?.split('/').at(-1) ?? '' };
  await world.as('').client(approvalsArea).denyByLink({ params, body: {} });
}

const isCancelled = async (intentId: string) => {
  const [intent] = await world.sql('select status, transfer_id as payer from intents where id = $1', [intentId]);
  expect(intent).toEqual({ status: 'cancelled', payer: null });
  expect((await eventNamesOf(world, intentId)).at(-1)).toBe('intent.cancelled');
};

test('a transfer of an agent that was closed meanwhile cancels its intent when the bank rejects it', async () => {
  const { payer, declare, pay } = await aBuyer();
  const intentId = await declare();
  const { id } = await pay(intentId, 12.5);
  await markSending(world, id);
  await payer.owner.client(agentsArea).closeAgent({ params: { id: payer.agentId } });
  const status = { endToEndId: endToEndIdOf(id as Id<'transfer'>), status: 'RJCT', reason: 'AC04' };
  expect(await sendBankFile(world, statusesOf([status]))).toMatchObject({ body: { moved: 1 } });
  await isCancelled(intentId);
});

test('two transfers that the bank rejects in its answer open their intent again, one after the other', async () => {
  const { declare, pay, read } = await aBuyer();
  const intentId = await declare();
  for (let time = 0; time < 2; time++) {
    const { id } = await pay(intentId);
    await markSending(world, id);
    await hearAnswer(id as Id<'transfer'>);
    expect(await read(intentId)).toMatchObject({ status: 'approved', transferId: null });
  }
});

/** As the run hears what the bank answers to its request. */
const hearAnswer = (id: Id<'transfer'>) =>
  inDatabase(world, (database) =>
    database.write((tx) => {
      const message = { endToEndId: endToEndIdOf(id), kind: 'rejected', reasonCode: 'AC04' } as const;
      const cause = { causeId: 'answer', requestId: 'test', actor: { kind: 'system' }, at: new Date() } as const;
      return hearBankMessages(
        tx,
        [{ ...message, amountCents: null, accountIban: null, cause: 'answer:rejected' }],
        cause,
      );
    }),
  );

test('a transfer to a wallet completes its intent at once', async () => {
  const { declare, read, target, transfers } = await aBuyer();
  const intentId = await declare(20, { expectedMerchant: 'Target' });
  const made = await transfers.createTransfer({ body: { toWalletId: target, amountEuros: 20, intentId } });
  expect(made).toMatchObject({ intentId, status: 'completed' });
  expect(await read(intentId)).toMatchObject({ status: 'completed', transferId: made.id });
});

describe('a split', () => {
  test('is one payment of its intent: open until its last line has ended', async () => {
    const { iban, declare, read, target, beneficiaryId, transfers } = await aBuyer();
    const intentId = await declare(20);
    const splits = [
      { beneficiaryId, amountEuros: 10 },
      { toWalletId: target, amountEuros: 10 },
    ];
    const made = await transfers.createTransferSplit({ body: { splits, intentId } });
    expect(made).toMatchObject({ intentId, transfers: [{ intentId }, { intentId }] });
    expect(await read(intentId)).toMatchObject({ status: 'approved', transferId: made.id });
    const line = made.transfers[0]?.id ?? '';
    await markSending(world, line);
    await sendBankFile(world, notificationOf([debitOf(line, '10.00')], iban));
    expect(await read(intentId)).toMatchObject({ status: 'completed', transferId: made.id });
  });

  test('between wallets completes its intent at once; one that is cancelled opens it again', async () => {
    const { payer, declare, read, target, beneficiaryId, transfers } = await aBuyer();
    const intentId = await declare(20);
    const toBank = [1, 2].map((amountEuros) => ({ beneficiaryId, amountEuros }));
    const { id } = await transfers.createTransferSplit({ body: { splits: toBank, intentId } });
    await payer.owner.client(transfersArea).cancelTransferSplit({ params: { splitId: id }, body: {} });
    expect(await read(intentId)).toMatchObject({ status: 'approved', transferId: null });
    const toWallets = [1, 2].map((amountEuros) => ({ toWalletId: target, amountEuros }));
    const made = await transfers.createTransferSplit({ body: { splits: toWallets, intentId } });
    expect(await read(intentId)).toMatchObject({ status: 'completed', transferId: made.id });
  });

  test('of an agent is one payment of its budget and of its policy', async () => {
    const { payer, declare, beneficiaryId, transfers } = await aBuyer({ daily_limit_cents: 3_000, max_usage_count: 2 });
    const ask = async (amountEuros: number) => {
      const splits = [amountEuros / 2, amountEuros / 2].map((half) => ({ beneficiaryId, amountEuros: half }));
      return transfers.createTransferSplit({ body: { splits, intentId: await declare(amountEuros) } });
    };
    const first = await ask(20);
    const spent = () =>
      world.sql('select spent_cents::int as cents, payments::int from spending_days where agent_id = $1', [
        payer.agentId,
      ]);
    expect(await spent()).toEqual([{ cents: 2_000, payments: 1 }]);
    const over = await declare(10);
    const splits = [5.01, 5].map((amountEuros) => ({ beneficiaryId, amountEuros }));
    await expect(transfers.createTransferSplit({ body: { splits, intentId: over } })).rejects.toEqual(
      refusal(403, /refused by daily_limit: daily limit 30\.00, spent 20\.00, asked 10\.01/),
    );
    await payer.owner.client(transfersArea).cancelTransferSplit({ params: { splitId: first.id }, body: {} });
    expect(await spent()).toEqual([{ cents: 0, payments: 0 }]);
    const stranger = await aBeneficiary(payer.owner);
    const strange = [{ beneficiaryId: stranger.id, amountEuros: 5 }, splits[1] ?? { beneficiaryId, amountEuros: 5 }];
    await expect(transfers.createTransferSplit({ body: { splits: strange, intentId: over } })).rejects.toMatchObject({
      status: 403,
    });
  });
});

test('an intent that a transfer pays for outlives its deadline, and is listed as open', async () => {
  const { declare, pay, intents } = await aBuyer();
  const intentId = await declare(20, { ttlMinutes: 60 });
  await pay(intentId);
  await world.sql(`update intents set expires_at = created_at - $2 * interval '1 ms' where id = $1`, [intentId, hour]);
  const listed = async (status: 'approved' | 'expired') =>
    (await intents.listIntents({ query: { status } })).data.map(({ id }) => id);
  expect(await listed('approved')).toEqual([intentId]);
  expect(await listed('expired')).toEqual([]);
});

test('after all of these each intent and what pays for it agree', async () => {
  for (const { sql } of paidIntentReconciliation) expect(await world.sql(sql, [null])).toEqual([]);
  expect(await world.sql('select from intents where transfer_id is not null limit 1')).toHaveLength(1);
});
