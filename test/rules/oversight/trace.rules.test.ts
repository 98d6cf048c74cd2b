/** Each part of a trace is open to whoever may read it alone, and the story of a record is found from it. @module */
import { expect, test } from '@jest/globals';
import { cardRequestsArea } from '../../../src/domains/cards/card-requests/card-request.contract.ts';
import { cardsArea } from '../../../src/domains/cards/cards/card.contract.ts';
import { eventsArea } from '../../../src/domains/delivery/events/event.contract.ts';
import { webhooksArea } from '../../../src/domains/delivery/webhooks/webhook.contract.ts';
import { accessEventsArea } from '../../../src/domains/oversight/access-events/access-event.contract.ts';
import {
  mostEvents,
  mostOfPart,
  omissions,
  pointerOfKind,
  rankOf,
  scopeOfKind,
  scopeOfPart,
  traceParts,
} from '../../../src/domains/oversight/trace/trace.rules.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { mppCredentialsArea } from '../../../src/domains/payments/mpp-credentials/mpp-credential.contract.ts';
import { mppPaymentsArea } from '../../../src/domains/payments/mpp-payments/mpp-payment.contract.ts';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { evidenceArea } from '../../../src/domains/spending/evidence/evidence.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { protectRulesArea } from '../../../src/domains/spending/protect-rules/protect-rule.contract.ts';
import { beneficiariesArea } from '../../../src/domains/treasury/beneficiaries/beneficiary.contract.ts';
import { ledgerArea } from '../../../src/domains/treasury/ledger/ledger.contract.ts';
import { transfersArea } from '../../../src/domains/treasury/transfers/transfer.contract.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';

const { getIntent } = intentsArea.operations;
const { getTransaction, getTransactionDecision } = transactionsArea.operations;
const { getMppPayment } = mppPaymentsArea.operations;
const { getMppCredential } = mppCredentialsArea.operations;
const { getEvidence } = evidenceArea.operations;
const { getAccessEvent } = accessEventsArea.operations;
const { getLedgerEntry } = ledgerArea.operations;
const { listEvents } = eventsArea.operations;
const { confirmCheckout } = checkoutArea.operations;
const { getTransfer, getTransferSplit } = transfersArea.operations;

const scopesOf = (operations: Readonly<Record<string, { readonly scope: string }>>) =>
  Object.fromEntries(Object.entries(operations).map(([name, { scope }]) => [name, scope]));

test('each part has the scope of the operation that reads it alone, and a delivery is for the owner', () => {
  const { delivery, ...others } = scopeOfPart;
  expect(others).toEqual(
    scopesOf({
      ...{ declaration: getIntent, decision: getIntent, approval: getIntent, record: getIntent },
      ...{ checkout: confirmCheckout, machine_payment: getMppPayment, credential: getMppCredential },
      ...{ access: getAccessEvent, transaction: getTransaction, charge_decision: getTransactionDecision },
      ...{ network_message: getTransaction, posting: getLedgerEntry, evidence: getEvidence, event: listEvents },
      workflow_run: getIntent,
    }),
  );
  expect(delivery).toBe('owner');
  expect(webhooksArea.operations.getWebhookDelivery.auth).toEqual(['key']);
});

test('each kind of record has the scope of the operation that reads one', () => {
  expect(scopeOfKind).toEqual(
    scopesOf({
      ...{ intent: getIntent, checkout: confirmCheckout, mppPayment: getMppPayment, mppCredential: getMppCredential },
      ...{ protectRule: protectRulesArea.operations.listProtectRules, transaction: getTransaction },
      ...{ journal: getLedgerEntry, entry: getLedgerEntry, transfer: getTransfer, transferSplit: getTransferSplit },
      ...{ beneficiary: beneficiariesArea.operations.getBeneficiary, evidence: getEvidence },
      ...{ accessEvent: getAccessEvent, card: cardsArea.operations.getCard },
      ...{ cardRequest: cardRequestsArea.operations.getCardRequest, agent: agentsArea.operations.getAgent },
      ...{ wallet: walletsArea.operations.getWallet, event: listEvents },
    }),
  );
});

test('the story of a record is that of the record which its row names', () => {
  const ofIntent = ['checkout', 'mppPayment', 'mppCredential', 'transaction', 'evidence', 'accessEvent'];
  expect(pointerOfKind).toEqual({
    ...Object.fromEntries(ofIntent.map((kind) => [kind, 'intentId'])),
    ...{ transfer: 'splitId', entry: 'referenceId', journal: 'referenceId', event: 'subjectId', delivery: 'eventId' },
  });
});

test('of one instant the declaration comes before the decision, and a run last', () => {
  expect(rankOf('declaration')).toBe(0);
  expect(rankOf('decision')).toBe(1);
  expect(rankOf('workflow_run')).toBe(traceParts.length - 1);
});

test('a part says why it is missing, and has so many rows', () => {
  expect(omissions).toEqual(['scope', 'owner_only', 'too_many']);
  expect([mostOfPart, mostEvents]).toEqual([50, 200]);
});
