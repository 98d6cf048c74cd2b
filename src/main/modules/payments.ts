/** Checkouts, transactions, the card network's messages, and simulated charges. @module */

import { checkoutActivities } from '../../../activities/payments/checkout.activities.ts';
import { mppCredentialActivities } from '../../../activities/payments/mpp-credential.activities.ts';
import { mppPaymentActivities } from '../../../activities/payments/mpp-payment.activities.ts';
import { simulationActivities } from '../../../activities/payments/simulation.activities.ts';
import { checkoutArea } from '../../domains/payments/checkout/checkout.contract.ts';
import { CheckoutRow } from '../../domains/payments/checkout/checkout.entity.ts';
import { checkoutWorkflow } from '../../domains/payments/checkout/checkout.messages.ts';
import { checkoutHandlers } from '../../domains/payments/checkout/checkout.routes.ts';
import { mppChallengesArea } from '../../domains/payments/mpp-challenges/mpp-challenge.contract.ts';
import { mppChallengeHandlers } from '../../domains/payments/mpp-challenges/mpp-challenge.routes.ts';
import { mppCredentialsArea } from '../../domains/payments/mpp-credentials/mpp-credential.contract.ts';
import { MppCredentialRow } from '../../domains/payments/mpp-credentials/mpp-credential.entity.ts';
import { mppCredentialWorkflow } from '../../domains/payments/mpp-credentials/mpp-credential.messages.ts';
import { findMppCredential } from '../../domains/payments/mpp-credentials/mpp-credential.queries.ts';
import { mppCredentialHandlers } from '../../domains/payments/mpp-credentials/mpp-credential.routes.ts';
import { purgeMppBodies } from '../../domains/payments/mpp-payments/mpp-body.purge.ts';
import { mppPaymentsArea } from '../../domains/payments/mpp-payments/mpp-payment.contract.ts';
import { MppBodyRow, MppPaymentRow } from '../../domains/payments/mpp-payments/mpp-payment.entity.ts';
import { mppPaymentWorkflow } from '../../domains/payments/mpp-payments/mpp-payment.messages.ts';
import { findMppPayment } from '../../domains/payments/mpp-payments/mpp-payment.queries.ts';
import { mppPaymentHandlers } from '../../domains/payments/mpp-payments/mpp-payment.routes.ts';
import { networkArea } from '../../domains/payments/network/network.contract.ts';
import { networkHandlers } from '../../domains/payments/network/network.routes.ts';
import { SimulationRow } from '../../domains/payments/simulations/simulation.entity.ts';
import { simulationWorkflow } from '../../domains/payments/simulations/simulation.messages.ts';
import { transactionsArea } from '../../domains/payments/transactions/transaction.contract.ts';
import { TransactionRow } from '../../domains/payments/transactions/transaction.entity.ts';
import { readTransaction } from '../../domains/payments/transactions/transaction.queries.ts';
import { transactionHandlers } from '../../domains/payments/transactions/transaction.routes.ts';
import { minute } from '../../kernel/instant.ts';
import { checkUrl } from '../../outbound/address-rules.ts';
import { startLoop } from '../../platform/loop.ts';
import { allowOnce } from '../../usecases/payments/allow-once.ts';
import { authorizeCard } from '../../usecases/payments/authorize-card.ts';
import { bookAdvice } from '../../usecases/payments/book-advice.ts';
import { clearAuthorization } from '../../usecases/payments/clear-authorization.ts';
import { confirmCheckout } from '../../usecases/payments/confirm-checkout.ts';
import { consumeCredential } from '../../usecases/payments/consume-credential.ts';
import { evaluateCharge } from '../../usecases/payments/evaluate-charge.ts';
import { executeCheckout } from '../../usecases/payments/execute-checkout.ts';
import { expireHolds } from '../../usecases/payments/expire-holds.ts';
import { handlePaymentChallenge } from '../../usecases/payments/handle-payment-challenge.ts';
import { incrementAuthorization } from '../../usecases/payments/increment-authorization.ts';
import { payAtMerchantOnce } from '../../usecases/payments/pay-at-merchant.ts';
import { checkoutReconciliation } from '../../usecases/payments/reconcile-checkouts.ts';
import { credentialReconciliation } from '../../usecases/payments/reconcile-credentials.ts';
import { mppPaymentReconciliation } from '../../usecases/payments/reconcile-mpp-payments.ts';
import { paymentReconciliation } from '../../usecases/payments/reconcile-payments.ts';
import { refundCardPayment } from '../../usecases/payments/refund-card-payment.ts';
import { requestCredential } from '../../usecases/payments/request-credential.ts';
import { signerOfAgent } from '../../usecases/payments/request-signer.ts';
import { resolveMppPayment } from '../../usecases/payments/resolve-mpp-payment.ts';
import { reverseAuthorization } from '../../usecases/payments/reverse-authorization.ts';
import { simulateCardCharge } from '../../usecases/payments/simulate-card-charge.ts';
import { declareIntent } from '../../usecases/spending/declare-intent.ts';
import { requestApproval } from '../../usecases/spending/request-approval.ts';
import { type Config, urlRulesOf } from '../config.ts';
import { signerOfMessages } from '../message-signer.ts';
import {
  type ApiProcess,
  defineModule,
  internalArea,
  type LoopRegistration,
  servedArea,
  type WorkerProcess,
} from './module.ts';

const refusalOfUrl =
  (config: Config) =>
  (url: string): string | undefined => {
    const evaluated = checkUrl(url, { ...urlRulesOf(config), requireHttps: true });
    return 'refused' in evaluated ? evaluated.refused : undefined;
  };

const signingOf = ({ database, clock, vault, config: { publicUrl } }: WorkerProcess) => ({
  ...{ database, clock, vault },
  publicUrl,
});

function networkOf({ database, config, log, links, risk }: ApiProcess) {
  const deciding = { database, log, requestApproval: requestApproval(links), risk };
  const authorize = authorizeCard({ ...deciding, mostWaitMs: config.BURSAR_DECISION_WAIT_MS });
  return networkHandlers({
    ...signerOfMessages({ database, config, log }, 'the card network'),
    authorize,
    admit: authorize.admit,
    advise: bookAdvice({ ...deciding, mostWaitMs: config.BURSAR_DECISION_WAIT_MS }),
    increment: incrementAuthorization({ database, risk, mostWaitMs: config.BURSAR_DECISION_WAIT_MS }),
    clear: clearAuthorization({ database, log }),
    reverse: reverseAuthorization({ database, log }),
    refund: refundCardPayment({ database, log }),
  });
}

/** Expires holds, confirmed payments and clearings that no message followed, by business time. */
const ageing: LoopRegistration = {
  group: 'relay',
  wokenBy: 'bursar_clock',
  start: ({ database, clock, log }) =>
    startLoop({
      name: 'ageing',
      everyMs: minute,
      log,
      pass: async () => expireHolds({ database })(await clock.now()),
    }),
};

/** Merchants' answers are kept for a day. */
const purgeOfBodies: LoopRegistration = {
  group: 'purge',
  start: ({ database, log }) =>
    startLoop({ name: 'merchant-answers', everyMs: minute, log, pass: () => purgeMppBodies(database, new Date()) }),
};

export const payments = defineModule('payments', [
  servedArea('checkout', {
    contract: checkoutArea,
    position: 320,
    handlers: ({ database, gateway, mppOutcomes, config }) =>
      checkoutHandlers({
        execute: executeCheckout({ database, gateway, mppOutcomes, refusalOfUrl: refusalOfUrl(config) }),
        confirm: confirmCheckout({ database }),
      }),
    entities: [CheckoutRow],
    tables: ['checkouts'],
    reconciliation: checkoutReconciliation,
    activities: (worker) =>
      checkoutActivities({
        ...worker.ports,
        database: worker.database,
        clock: worker.clock,
        evaluate: evaluateCharge({ risk: worker.risk }),
        signerOf: signerOfAgent(signingOf(worker)),
      }),
    workflows: [
      {
        type: checkoutWorkflow,
        idPrefix: 'checkout',
        queue: 'main',
        summary: ({ subjectId, ofAgent }) => `Checkout ${subjectId}${ofAgent}: paid at the shop, or known not to be`,
      },
    ],
  }),
  servedArea('transactions', {
    contract: transactionsArea,
    position: 330,
    lookups: ({ database }) => ({ transaction: (id) => readTransaction(database.read(), id) }),
    handlers: ({ database, gateway, links, risk }) =>
      transactionHandlers({
        ...{ database, links },
        simulate: simulateCardCharge({ database, gateway }),
        allow: allowOnce({ database, gateway, risk, links }),
      }),
    entities: [TransactionRow],
    tables: ['transactions', 'transaction_events'],
    reconciliation: paymentReconciliation,
    loops: [ageing],
  }),
  servedArea('network', {
    contract: networkArea,
    position: 980,
    handlers: networkOf,
    tables: ['network_messages', 'network_clocks', 'decisions'],
  }),
  servedArea('mpp-challenges', {
    contract: mppChallengesArea,
    position: 335,
    handlers: ({ database, gateway, links, risk, config }) =>
      mppChallengeHandlers({
        handle: handlePaymentChallenge({
          database,
          gateway,
          links,
          declare: declareIntent({ database, risk, links }),
          refusalOfUrl: refusalOfUrl(config),
        }),
      }),
    tables: [],
  }),
  servedArea('mpp-credentials', {
    contract: mppCredentialsArea,
    position: 340,
    lookups: ({ database }) => ({ mppCredential: (id) => findMppCredential(database.read(), id) }),
    handlers: ({ database, gateway, vault, risk, config }) =>
      mppCredentialHandlers({
        database,
        mint: requestCredential({ database, gateway, vault, evaluate: evaluateCharge({ risk }) }),
        consume: consumeCredential({ database, vault, issuer: config.publicUrl }),
      }),
    entities: [MppCredentialRow],
    tables: ['mpp_credentials'],
    reconciliation: credentialReconciliation,
    activities: ({ database, clock, ports, risk, vault }) =>
      mppCredentialActivities({ ...ports, database, clock, vault, evaluate: evaluateCharge({ risk }) }),
    workflows: [
      {
        type: mppCredentialWorkflow,
        idPrefix: 'mpp-credential',
        queue: 'main',
        summary: ({ subjectId, ofAgent }) =>
          `MPP credential ${subjectId}${ofAgent}: minted for a merchant, and used once or expired`,
      },
    ],
  }),
  servedArea('mpp-payments', {
    contract: mppPaymentsArea,
    position: 325,
    lookups: ({ database }) => ({ mppPayment: (id) => findMppPayment(database.read(), id) }),
    handlers: ({ database, gateway, mppOutcomes, config, vault }) =>
      mppPaymentHandlers({
        database,
        vault,
        pay: payAtMerchantOnce({ database, gateway, mppOutcomes, vault, refusalOfUrl: refusalOfUrl(config) }),
        resolve: resolveMppPayment,
      }),
    entities: [MppPaymentRow, MppBodyRow],
    tables: ['mpp_payments', 'mpp_bodies'],
    activities: (worker) =>
      mppPaymentActivities({
        ...worker.ports,
        database: worker.database,
        clock: worker.clock,
        vault: worker.vault,
        evaluate: evaluateCharge({ risk: worker.risk }),
        signalsMayApprove: worker.config.signalsMayApprove,
        signerOf: signerOfAgent(signingOf(worker)),
      }),
    workflows: [
      {
        type: mppPaymentWorkflow,
        idPrefix: 'mpp-payment',
        queue: 'main',
        summary: ({ subjectId, ofAgent }) =>
          `Machine payment ${subjectId}${ofAgent}: paid once by credential, or known not to be`,
      },
    ],
    reconciliation: mppPaymentReconciliation,
    loops: [purgeOfBodies],
  }),
  internalArea('simulations', {
    entities: [SimulationRow],
    tables: ['simulations'],
    activities: ({ database, clock, ports }) =>
      simulationActivities({ database, clock, simulator: ports.networkSimulator }),
    workflows: [
      {
        type: simulationWorkflow,
        idPrefix: 'simulation',
        queue: 'main',
        summary: ({ subjectId, ofAgent }) =>
          `Simulation ${subjectId}${ofAgent}: a card charged by the simulated network`,
      },
    ],
  }),
]);
