/** Checkouts, transactions, the card network's messages, and simulated charges. @module */

import { checkoutActivities } from '../../../activities/payments/checkout.activities.ts';
import { simulationActivities } from '../../../activities/payments/simulation.activities.ts';
import { checkoutArea } from '../../domains/payments/checkout/checkout.contract.ts';
import { CheckoutRow } from '../../domains/payments/checkout/checkout.entity.ts';
import { checkoutWorkflow } from '../../domains/payments/checkout/checkout.messages.ts';
import { checkoutHandlers } from '../../domains/payments/checkout/checkout.routes.ts';
import { createMessageCeiling, messagesPerSecond } from '../../domains/payments/network/network.ceiling.ts';
import { networkArea } from '../../domains/payments/network/network.contract.ts';
import { networkHandlers } from '../../domains/payments/network/network.routes.ts';
import { SimulationRow } from '../../domains/payments/simulations/simulation.entity.ts';
import { simulationWorkflow } from '../../domains/payments/simulations/simulation.messages.ts';
import { transactionsArea } from '../../domains/payments/transactions/transaction.contract.ts';
import { TransactionRow } from '../../domains/payments/transactions/transaction.entity.ts';
import { readTransaction } from '../../domains/payments/transactions/transaction.queries.ts';
import { transactionHandlers } from '../../domains/payments/transactions/transaction.routes.ts';
import { createFailureLimit } from '../../http/failure-limit.ts';
import { minute } from '../../kernel/instant.ts';
import { checkUrl } from '../../outbound/address-rules.ts';
import { startLoop } from '../../relay/loop.ts';
import { authorizeCard } from '../../usecases/payments/authorize-card.ts';
import { clearAuthorization } from '../../usecases/payments/clear-authorization.ts';
import { confirmCheckout } from '../../usecases/payments/confirm-checkout.ts';
import { evaluateCharge } from '../../usecases/payments/evaluate-charge.ts';
import { executeCheckout } from '../../usecases/payments/execute-checkout.ts';
import { expireHolds } from '../../usecases/payments/expire-holds.ts';
import { paymentReconciliation } from '../../usecases/payments/reconcile-payments.ts';
import { reverseAuthorization } from '../../usecases/payments/reverse-authorization.ts';
import { simulateCardCharge } from '../../usecases/payments/simulate-card-charge.ts';
import { requestApproval } from '../../usecases/spending/request-approval.ts';
import { type Config, urlRulesOf } from '../config.ts';
import { type ApiProcess, defineModule, internalArea, type LoopRegistration, servedArea } from './module.ts';

const refusalOfUrl =
  (config: Config) =>
  (url: string): string | undefined => {
    const evaluated = checkUrl(url, { ...urlRulesOf(config), requireHttps: true });
    return 'refused' in evaluated ? evaluated.refused : undefined;
  };

/** In live the simulated network moves no money, also where simulators are allowed for tests. */
function networkKeysOf({ BURSAR_NETWORK_KEY: sandbox, BURSAR_MODE: mode }: Config): { readonly sandbox?: string } {
  return sandbox === undefined || mode !== 'sandbox' ? {} : { sandbox };
}

const networkOf = ({ database, config, log, links, risk }: ApiProcess) =>
  networkHandlers({
    networkKeys: networkKeysOf(config),
    countMessage: createMessageCeiling(Math.max(1, Math.floor(messagesPerSecond / config.BURSAR_INSTANCES))),
    countBadSignature: createFailureLimit('bad network signatures'),
    authorize: authorizeCard({
      database,
      log,
      requestApproval: requestApproval(links),
      risk,
    }),
    clear: clearAuthorization({ database, log }),
    reverse: reverseAuthorization({ database, log }),
  });

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

export const payments = defineModule('payments', [
  servedArea('checkout', {
    contract: checkoutArea,
    position: 320,
    handlers: ({ database, gateway, config }) =>
      checkoutHandlers({
        execute: executeCheckout({ database, gateway, refusalOfUrl: refusalOfUrl(config) }),
        confirm: confirmCheckout({ database }),
      }),
    entities: [CheckoutRow],
    tables: ['checkouts'],
    activities: ({ database, clock, ports, risk }) =>
      checkoutActivities({ ...ports, database, clock, evaluate: evaluateCharge({ risk }) }),
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
    handlers: ({ database, gateway }) =>
      transactionHandlers({ database, simulate: simulateCardCharge({ database, gateway }) }),
    entities: [TransactionRow],
    tables: ['transactions', 'transaction_events'],
    reconciliation: paymentReconciliation,
    loops: [ageing],
  }),
  servedArea('network', {
    contract: networkArea,
    position: 980,
    handlers: networkOf,
    tables: ['network_messages', 'decisions'],
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
