/**
 * Charges a card on request, in sandbox deployments. One transaction writes the simulation and its workflow run, the
 * workflow has the simulated network charge the card, and the network's messages do the rest. Returns the transaction.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import type { CardRow } from '../../domains/cards/cards/card.entity.ts';
import { findCard } from '../../domains/cards/cards/card.queries.ts';
import type { SimulationRow } from '../../domains/payments/simulations/simulation.entity.ts';
import { simulateCharge, simulationWorkflowId } from '../../domains/payments/simulations/simulation.messages.ts';
import { findSimulation } from '../../domains/payments/simulations/simulation.queries.ts';
import { chargeRefusalInWords, isFinalSimulation } from '../../domains/payments/simulations/simulation.rules.ts';
import { type NewSimulation, openSimulation } from '../../domains/payments/simulations/simulation.service.ts';
import type { TransactionRow } from '../../domains/payments/transactions/transaction.entity.ts';
import { findTransaction } from '../../domains/payments/transactions/transaction.queries.ts';
import type { SimulationOrder } from '../../domains/payments/transactions/transaction.routes.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { findIntent } from '../../domains/spending/intents/intent.queries.ts';
import { refuseUnpayable } from '../../domains/spending/intents/intent.state.service.ts';
import { type Call, mayReach, ownOf } from '../../http/caller.ts';
import { DomainError, notFound, unavailable } from '../../kernel/errors.ts';
import { inRunOf } from '../../platform/cause.ts';
import type { WorkflowGateway } from '../../temporal/gateway.ts';

export type SimulateChargeDeps = {
  readonly database: Database;
  readonly gateway: Pick<WorkflowGateway, 'ask'>;
};

export const simulateCardCharge =
  ({ database, gateway }: SimulateChargeDeps) =>
  async (order: SimulationOrder, call: Call): Promise<TransactionRow> => {
    const id = call.newId('simulation');
    const opened = await database.write((tx) => begin(tx, id, order, call));
    if (!isFinalSimulation(opened.status)) {
      // Another update id for each request: a repeat asks anew, and the row makes it harmless.
      await gateway.ask(simulationWorkflowId(id), simulateCharge, {}, `${id}/${call.requestId}`);
    }
    return transactionOf(database.read(), id);
  };

async function transactionOf(tx: Tx, id: string): Promise<TransactionRow> {
  const row = await findSimulation(tx, id);
  if (row?.refusal != null) throw new DomainError('invalid_state', chargeRefusalInWords[row.refusal]);
  const transaction = row?.transactionId == null ? null : await findTransaction(tx, row.transactionId);
  if (transaction === null) throw unavailable(`the outcome of simulation ${id} is not known yet`);
  return transaction;
}

async function begin(tx: Tx, id: NewSimulation['id'], order: SimulationOrder, call: Call): Promise<SimulationRow> {
  const known = await findSimulation(tx, id);
  if (known !== null) return known; // This very request began it.
  const card = mayReach(ownOf(call), 'card', order.cardId, await issuedCard(tx, order.cardId));
  const intent = order.intentId === undefined ? undefined : await payable(tx, order.intentId, card, call);
  const amountCents = order.amountCents ?? intent?.expectedAmountCents ?? 0;
  if (amountCents === 0) {
    throw new DomainError('invalid_request', 'body.amountEuros: name an amount, or an intent that expects one');
  }
  return openSimulation(tx, inRunOf(call.cause, intent), {
    id,
    ownerId: card.ownerId,
    agentId: card.agentId,
    cardId: card.id,
    intentId: intent?.id ?? null,
    amountCents,
    merchant: order.merchant ?? intent?.expectedMerchant?.slice(0, longestName) ?? 'Sandbox Shop',
    mcc: order.mcc,
    country: order.country,
    wanted: order.outcome,
  });
}

/** Of a merchant, as the network has it. */
const longestName = 140;

async function issuedCard(tx: Tx, cardId: string): Promise<CardRow> {
  const card = await findCard(tx, cardId);
  if (card === null || card.isProvisioning) throw notFound('card', cardId);
  return card;
}

async function payable(tx: Tx, intentId: string, card: CardRow, call: Call): Promise<IntentRow> {
  const intent = mayReach(ownOf(call), 'intent', intentId, await findIntent(tx, intentId));
  if (intent.cardId !== card.id) {
    throw new DomainError('invalid_state', `intent ${intentId} is for card ${intent.cardId}, not for ${card.id}`);
  }
  refuseUnpayable(intent, call.cause.at);
  return intent;
}
