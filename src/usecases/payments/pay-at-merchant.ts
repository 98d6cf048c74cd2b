/**
 * Pays for a resource that a merchant sells by HTTP 402. One transaction writes the payment and its workflow run, the
 * workflow makes the outbound calls, and the answer is the state of the row as soon as it says the outcome.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Notices } from '../../db/notices.ts';
import type { Tx } from '../../db/tx.ts';
import { isFinalCheckout } from '../../domains/payments/checkout/checkout.rules.ts';
import type { MppPaymentRow } from '../../domains/payments/mpp-payments/mpp-payment.entity.ts';
import { mppPaymentWorkflowId } from '../../domains/payments/mpp-payments/mpp-payment.messages.ts';
import { payResult } from '../../domains/payments/mpp-payments/mpp-payment.outcome.rules.ts';
import { answeredMppPaymentOf, findMppPayment } from '../../domains/payments/mpp-payments/mpp-payment.queries.ts';
import { isFinalMppPayment } from '../../domains/payments/mpp-payments/mpp-payment.rules.ts';
import {
  openedRunOf,
  openMppPayment,
  type SealedTool,
} from '../../domains/payments/mpp-payments/mpp-payment.service.ts';
import { outcomeOf, progressOf } from '../../domains/payments/mpp-payments/mpp-payment.state.ts';
import { sealTool } from '../../domains/payments/mpp-payments/mpp-payment.tool.ts';
import type { ToolCall } from '../../domains/payments/mpp-payments/paid-resource.port.ts';
import { lockIntentForPayment } from '../../domains/payments/transactions/payment-lock.service.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { refuseUnpayable } from '../../domains/spending/intents/intent.state.service.ts';
import { refuseClosedWindow } from '../../domains/spending/intents/windows/window.now.service.ts';
import { policyOfAgent } from '../../domains/spending/policies/policy.queries.ts';
import { type Call, mayReach, ownOf } from '../../http/caller.ts';
import type { ReachedId } from '../../http/reaches.ts';
import { DomainError, type RefusedBy, unavailable } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { second } from '../../kernel/instant.ts';
import { inRunOf } from '../../platform/cause.ts';
import type { WorkflowRun } from '../../platform/workflow-runs.ts';
import type { WorkflowGateway } from '../../temporal/gateway.ts';
import type { Vault } from '../../vault/vault.ts';
import { assertActive } from '../spending/assert-active.ts';
import { refuseUnattestedPayment } from '../spending/refuse-unattested.ts';
import { surroundingsOf } from './payment-surroundings.ts';
import { refuseOpen } from './refuse-open-payment.ts';

export type AnswerDeps = {
  readonly database: Database;
  readonly gateway: Pick<WorkflowGateway, 'startFor'>;
  /** Of payments that have an outcome (`write-mpp-payment.sql`). */
  readonly mppOutcomes: Pick<Notices, 'watch'>;
};

export type PayAtMerchantDeps = AnswerDeps & {
  readonly vault: Pick<Vault, 'seal'>;
  /** Why an address is not dialled, as far as its text tells; undefined for one that may be. */
  readonly refusalOfUrl: (url: string) => string | undefined;
};

export type PayOrder = {
  readonly url: string;
  readonly intentId: ReachedId<'intent'>;
  readonly cardId: string;
  readonly tool?: ToolCall | undefined;
};

/** Every caller is answered before 30 s are over. */
export const waitForMs = 24 * second;

export const payAtMerchantOnce =
  (deps: PayAtMerchantDeps) =>
  async (order: PayOrder, call: Call): Promise<Readonly<MppPaymentRow>> => {
    const why = deps.refusalOfUrl(order.url);
    if (why !== undefined) throw new DomainError('invalid_request', `body.url: ${why}`);
    const ids = { id: call.newId('mppPayment'), credentialId: call.newId('mppCredential') };
    const tool = order.tool === undefined ? undefined : await sealTool(deps.vault, ids.id, order.tool);
    const { row, run } = await deps.database.write((tx) => begin(tx, ids, { ...order, tool }, call));
    return answeredPayment(deps, row, { until: Date.now() + waitForMs, run });
  };

type Waiting = {
  /** How long the caller may be kept waiting, in real time. */
  readonly until: number;
  /** Where this call has opened it. */
  readonly run?: WorkflowRun | undefined;
};

/** The payment with an answer for its caller. Refuses where nothing was spent, and while the outcome is not known. */
export async function answeredPayment(
  deps: AnswerDeps,
  opened: Readonly<MppPaymentRow>,
  waiting: Waiting,
): Promise<Readonly<MppPaymentRow>> {
  const row = hasOutcome(opened) ? opened : await settled(deps, opened, waiting);
  const result = payResult(outcomeOf(row));
  if (result.kind === 'answered') return row;
  if (result.kind === 'refused') throw new DomainError(result.code, result.why, { refusedBy: ruleOf(row) });
  throw unknownOutcome(row.id);
}

/** The row keeps the code of the rule that refused, and no figures. */
export const ruleOf = ({ outcomeCode }: { readonly outcomeCode?: string | null | undefined }): RefusedBy | undefined =>
  outcomeCode == null ? undefined : { rule: outcomeCode };

const hasOutcome = (row: Readonly<MppPaymentRow>): boolean => payResult(outcomeOf(row)).kind !== 'unknown';

/**
 * Makes sure that the workflow runs, and waits for the row. The row has the outcome before the run has ended, so the
 * workflow is not asked for it: that would cost two events, a timer and the last workflow task.
 */
async function settled(
  { database, gateway, mppOutcomes }: AnswerDeps,
  { id }: Readonly<MppPaymentRow>,
  { until, run }: Waiting,
): Promise<Readonly<MppPaymentRow>> {
  const watch = mppOutcomes.watch(id);
  try {
    const wait = async (): Promise<Readonly<MppPaymentRow>> => {
      for (;;) {
        await watch.next(until - Date.now());
        const row = await answeredMppPaymentOf(database.read(), id, new Date());
        if (hasOutcome(row) || Date.now() >= until) return row;
      }
    };
    return await gateway.startFor(run ?? mppPaymentWorkflowId(id), wait, (row) => isFinalMppPayment(progressOf(row)));
  } catch (error) {
    const found = await findMppPayment(database.read(), id);
    if (found !== null && hasOutcome(found)) return found; // It was started before, by another call.
    // The row says what is known, whatever keeps the run from being started.
    if (found?.status === 'unknown' && isUnavailable(error)) throw unknownOutcome(id, error);
    throw withPaymentId(error, id);
  } finally {
    watch.end();
  }
}

const header = (id: string) => ({ 'X-Service-Payment-Id': id });

const isUnavailable = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.code === 'unavailable';

const unknownOutcome = (id: string, cause?: unknown): DomainError => {
  const { message, code } = unavailable(`the outcome of payment ${id} is not known yet; it is never paid again`);
  return new DomainError(code, message, { retryAfterSeconds: 5, headers: header(id), cause });
};

function withPaymentId(error: unknown, id: string): unknown {
  if (!isUnavailable(error)) return error;
  const { message, code, retryAfterSeconds = 5 } = error;
  return new DomainError(code, message, { retryAfterSeconds, headers: header(id), cause: error });
}

type Ids = { readonly id: Id<'mppPayment'>; readonly credentialId: Id<'mppCredential'> };

async function begin(
  tx: Tx,
  ids: Ids,
  { url, intentId, cardId, tool }: Omit<PayOrder, 'tool'> & { readonly tool: SealedTool | undefined },
  call: Call,
): Promise<{ readonly row: Readonly<MppPaymentRow>; readonly run?: WorkflowRun }> {
  const known = call.idempotencyKey === undefined ? null : await findMppPayment(tx, ids.id);
  if (known !== null) return { row: known }; // This very request began it.
  const intent = mayReach(ownOf(call), 'intent', intentId, await lockIntentForPayment(tx, intentId));
  await refuse(tx, intent, cardId, call.cause.at);
  const row = await openMppPayment(tx, { ...ids, intent, url, tool }, inRunOf(call.cause, intent));
  return { row, run: openedRunOf(row, intent) };
}

async function refuse(tx: Tx, intent: Readonly<IntentRow>, cardId: string, at: Date): Promise<void> {
  const { payment, checkout, holder } = await surroundingsOf(tx, intent.id);
  refuseOpen(payment);
  refuseUnpayable(intent, at);
  if (intent.cardId !== cardId)
    throw new DomainError('invalid_state', `intent ${intent.id} is for card ${intent.cardId}, not for ${cardId}`);
  await refuseClosedWindow(tx, intent, at);
  assertActive(intent, holder);
  refuseUnattestedPayment(await policyOfAgent(tx, intent.agentId), intent, at);
  if (checkout !== null && !isFinalCheckout(checkout.status))
    throw new DomainError('invalid_state', `checkout ${checkout.id} of this intent is under way`);
}
