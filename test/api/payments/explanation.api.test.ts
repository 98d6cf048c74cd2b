/** Why a charge was declined, and what would have let it through: over HTTP, with the version of the policy. @module */
import { expect, test } from '@jest/globals';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { policiesArea } from '../../../src/domains/spending/policies/policy.contract.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import { aPayer, type Payer } from '../../support/payments-world.ts';
import { statusOf } from '../../support/refusals.ts';
import type { World } from '../../support/world.ts';

let world: World;
let network: Network;
let payer: Payer;
usePayments((started) => {
  ({ world, network, payer } = started);
});

const policies = () => payer.owner.client(policiesArea);
const transactions = () => payer.owner.client(transactionsArea);
const decisionOn = (id: unknown) => transactions().getTransactionDecision({ params: { id: String(id) as never } });

test('a decline names the rule, its figures, the version of the policy and the change that is enough', async () => {
  const { agentId } = payer;
  await policies().updateAgentPolicy({ params: { agentId }, body: { maxTransactionEuros: 10, dailyLimitEuros: 11 } });
  const { body } = await network.authorize(payer);
  expect(body).toMatchObject({ decision: 'declined', rule: 'max_transaction' });
  const decision = await decisionOn(body.transactionId);
  expect(decision).toMatchObject({
    transactionId: body.transactionId,
    outcome: 'declined',
    rule: 'max_transaction',
    amountEuros: 12.5,
    policyVersion: 2,
    policy: { version: 2, policy: { maxTransactionEuros: 10 } },
    remedy: [
      { field: 'policy.maxTransactionEuros', value: 12.5, inWords: 'raise the limit for one payment to 12.50 EUR' },
      { field: 'policy.dailyLimitEuros', value: 12.5, inWords: 'raise the limit for a day to 12.50 EUR' },
    ],
  });
  expect(decision.trace.at(-1)).toEqual({
    rule: 'max_transaction',
    outcome: 'deny',
    figures: { limitEuros: 10, askedEuros: 12.5 },
  });
  expect(decision.inWords).toBe(
    'Declined: transaction limit 10.00, asked 12.50. It would have passed with these changes: raise the limit for one payment to 12.50 EUR; raise the limit for a day to 12.50 EUR. The owner can also allow it once.',
  );
  // What the explanation proposes is enough; the explanation keeps the version that the decision used.
  await policies().updateAgentPolicy({
    params: { agentId },
    body: { maxTransactionEuros: 12.49, dailyLimitEuros: 12.5 },
  });
  expect((await network.authorize(payer)).body).toMatchObject({ decision: 'declined', rule: 'max_transaction' });
  await policies().updateAgentPolicy({ params: { agentId }, body: { maxTransactionEuros: 12.5 } });
  const approved = (await network.authorize(payer)).body;
  expect(approved.decision).toBe('approved');
  expect(await decisionOn(approved.transactionId)).toMatchObject({ outcome: 'approved', remedy: [], policyVersion: 4 });
  expect(await decisionOn(body.transactionId)).toEqual(decision);
});

test('where no change helps, none is proposed; the agent reads its own decisions, and nobody else', async () => {
  const single = await aPayer(world, { owner: payer.owner, card: { usage: 'single' } });
  expect((await network.authorize(single)).body.decision).toBe('approved');
  const { body } = await network.authorize(single);
  expect(await decisionOn(body.transactionId)).toMatchObject({ rule: 'single_use', remedy: null });
  const read = (token: string) =>
    world
      .as(token)
      .client(transactionsArea)
      .getTransactionDecision({ params: { id: String(body.transactionId) as never } });
  expect((await read(single.token)).outcome).toBe('declined');
  expect(await statusOf(read(payer.token))).toBe(403);
  const stranger = await aPayer(world);
  expect(await statusOf(read(stranger.token))).toBe(404);
  expect(await statusOf(read(stranger.owner.key))).toBe(404);
});
