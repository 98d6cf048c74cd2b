/** The public interface of payments: network messages, transactions and checkouts. @module */
export { checkoutArea } from './checkout/checkout.contract.ts';
export { CheckoutRow } from './checkout/checkout.entity.ts';
export { checkoutWorkflowId, payCheckout } from './checkout/checkout.messages.ts';
export type { CheckoutOffer, MerchantCheckout, PayOutcome } from './checkout/checkout.port.ts';
export { checkoutState, findCheckout, latestCheckout } from './checkout/checkout.queries.ts';
export {
  evaluateOffer,
  isFinalCheckout,
  isGivenUp,
  noOfferInWords,
  payGapMs,
  tokenLivesMs,
} from './checkout/checkout.rules.ts';
export { changeCheckout, lockCheckout, openCheckout } from './checkout/checkout.service.ts';
export { type Decision, decideAuthorization } from './network/authorization.rules.ts';
export {
  type AuthorizationFacts,
  decisionFactsOf,
  type EarlyMessage,
  type Known,
  knownAnswer,
  loadAuthorizationFacts,
  waitingMessages,
} from './network/authorization-facts.ts';
export { writingOf } from './network/authorization-write.ts';
export {
  type AuthorizationAnswer,
  type AuthorizationMessage,
  type BookingAnswer,
  type ClearingMessage,
  clearingMessage,
  networkArea,
  type ReversalMessage,
  reversalMessage,
} from './network/network.contract.ts';
export { networkCauseId } from './network/network.routes.ts';
export {
  cardRefOfAuthorization,
  claimMessage,
  isCardKnown,
  keepMessage,
  keepMisfit,
  messageBooked,
  messageMisfits,
  misfitRefusal,
  missingAuthorization,
  sameAnswer,
  storeMissingAuthorization,
} from './network/network-message.service.ts';
export type { Misfit, Received } from './network/received-message.ts';
export { SimulationRow } from './simulations/simulation.entity.ts';
export { simulateCharge, simulationWorkflowId } from './simulations/simulation.messages.ts';
export type { ChargeOutcome, NetworkSimulator } from './simulations/simulation.port.ts';
export { findSimulation, simulationState } from './simulations/simulation.queries.ts';
export { chargeRefusalInWords, isFinalSimulation } from './simulations/simulation.rules.ts';
export { askAgain, endSimulation, type NewSimulation, openSimulation } from './simulations/simulation.service.ts';
export { blankTransaction } from './transactions/blank-transaction.ts';
export {
  bookClearing,
  bookCollected,
  bookExpiry,
  bookReversal,
  recordCreated,
} from './transactions/booking.service.ts';
export { failUnlinked, insertConfirmed, noteConfirmed, reassignConfirmed } from './transactions/confirm.service.ts';
export { fundingSourceOf } from './transactions/funding-source.rules.ts';
export { lockDecision, lockPayment, lockSpending } from './transactions/payment-lock.service.ts';
export { transactionsArea } from './transactions/transaction.contract.ts';
export { TransactionRow } from './transactions/transaction.entity.ts';
export {
  findByAuthorization,
  findConfirmedBy,
  findPayingFor,
  findTransaction,
  lockTransaction,
} from './transactions/transaction.queries.ts';
export type { SimulationOrder } from './transactions/transaction.routes.ts';
export { markVerified, transactionsPaidFor } from './transactions/verification.service.ts';
