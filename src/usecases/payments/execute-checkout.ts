/**
 * Pays for an approved intent at a shop. One transaction writes the checkout and its workflow run, the workflow makes
 * the outbound calls, and the answer is the state of the row when the time limit ends. Where the target answered 402,
 * that is the row of the machine payment which the checkout became.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import type { CheckoutRow } from '../../domains/payments/checkout/checkout.entity.ts';
import { checkoutWorkflowId, payCheckout } from '../../domains/payments/checkout/checkout.messages.ts';
import { findCheckout, latestCheckout } from '../../domains/payments/checkout/checkout.queries.ts';
import { checkoutResult, isFinalCheckout } from '../../domains/payments/checkout/checkout.rules.ts';
import { openCheckout } from '../../domains/payments/checkout/checkout.service.ts';
import type { EndedCheckout } from '../../domains/payments/checkout/checkout.wire.ts';
import { whyCredentialLives } from '../../domains/payments/mpp-credentials/mpp-credential.queries.ts';
import { mppPaymentOf } from '../../domains/payments/mpp-payments/mpp-payment.queries.ts';
import { lockSpending } from '../../domains/payments/transactions/payment-lock.service.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { lockIntent } from '../../domains/spending/intents/intent.lock.service.ts';
import { findIntent } from '../../domains/spending/intents/intent.queries.ts';
import { refuseUnpayable } from '../../domains/spending/intents/intent.state.service.ts';
import { refuseClosedWindow } from '../../domains/spending/intents/windows/window.now.service.ts';
import { policyOfAgent } from '../../domains/spending/policies/policy.queries.ts';
import { type Call, mayReach, ownOf } from '../../http/caller.ts';
import type { ReachedId } from '../../http/reaches.ts';
import { DomainError, notFound, unavailable } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { inRunOf } from '../../platform/cause.ts';
import type { WorkflowGateway } from '../../temporal/gateway.ts';
import { assertAgentAndCardActive } from '../spending/assert-active.ts';
import { refuseUnattestedPayment } from '../spending/refuse-unattested.ts';
import { type AnswerDeps, answeredPayment, ruleOf, waitForMs } from './pay-at-merchant.ts';
import { refuseOpenPayment } from './refuse-open-payment.ts';

export type ExecuteCheckoutDeps = AnswerDeps & {
  readonly gateway: Pick<WorkflowGateway, 'ask'>;
  /** Why an address is not dialled, as far as its text tells; undefined for one that may be. */
  readonly refusalOfUrl: (url: string) => string | undefined;
};

type Order = { readonly intentId: ReachedId<'intent'>; readonly targetUrl: string };

export const executeCheckout = (deps: ExecuteCheckoutDeps) => {
  const perform = performCheckout(deps);
  return async (order: Order, call: Call): Promise<EndedCheckout> => {
    const until = Date.now() + waitForMs;
    const row = await perform(order, call);
    if (row.mppPaymentId == null) return endedOrRefused(row);
    const payment = await mppPaymentOf(deps.database.read(), row.mppPaymentId);
    return { row, payment: await answeredPayment(deps, payment, { until }) };
  };
};

function endedOrRefused(row: CheckoutRow): EndedCheckout {
  const { status, outcomeCode = null, outcomeReason = null } = row;
  const result = checkoutResult({ status, outcomeCode, outcomeReason });
  if (result.kind === 'ended') return { row, result, payment: null };
  if (result.kind === 'refused') throw new DomainError(result.code, result.why, { refusedBy: ruleOf(row) });
  throw unavailable(`the outcome of checkout ${row.id} is not known yet`);
}

const performCheckout =
  ({ database, gateway, refusalOfUrl }: ExecuteCheckoutDeps) =>
  async (order: Order, call: Call): Promise<CheckoutRow> => {
    const why = refusalOfUrl(order.targetUrl);
    if (why !== undefined) throw new DomainError('invalid_request', `targetUrl: ${why}`);
    const id = call.newId('checkout');
    const opened = await database.write((tx) => begin(tx, id, order, call));
    if (isFinalCheckout(opened.status)) return opened;
    try {
      // Another update id for each request: a repeat asks anew, and the row makes it harmless.
      await gateway.ask(checkoutWorkflowId(id), payCheckout, {}, `${id}/${call.requestId}`);
    } catch (error) {
      const row = await findCheckout(database.read(), id);
      if (row !== null && isFinalCheckout(row.status)) return row; // The network was faster than the workflow's answer.
      throw error;
    }
    const row = await findCheckout(database.read(), id);
    if (row === null) throw notFound('checkout', id);
    return row;
  };

async function begin(tx: Tx, id: Id<'checkout'>, { intentId, targetUrl }: Order, call: Call): Promise<CheckoutRow> {
  const known = await findCheckout(tx, id);
  if (known !== null) return known; // This very request began it.
  const found = mayReach(ownOf(call), 'intent', intentId, await findIntent(tx, intentId));
  await lockSpending(tx, found.agentId);
  const intent = await lockIntent(tx, intentId);
  await refuse(tx, intent, call.cause.at);
  return openCheckout(tx, { id, intent, targetUrl }, inRunOf(call.cause, intent));
}

async function refuse(tx: Tx, intent: IntentRow, at: Date): Promise<void> {
  await refuseOpenPayment(tx, intent.id);
  refuseUnpayable(intent, at);
  await refuseClosedWindow(tx, intent, at);
  await assertAgentAndCardActive(tx, intent);
  refuseUnattestedPayment(await policyOfAgent(tx, intent.agentId), intent, at);
  const credential = await whyCredentialLives(tx, intent.id, new Date());
  if (credential !== undefined) throw new DomainError('invalid_state', credential);
  const open = await latestCheckout(tx, intent.id);
  if (open !== null && !isFinalCheckout(open.status)) {
    throw new DomainError(
      'invalid_state',
      `checkout ${open.id} of this intent is under way; repeat the request that began it with its Idempotency-Key`,
    );
  }
}
