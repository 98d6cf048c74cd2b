/** Answers the operations of machine payments: ask the use case, open what is sealed, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Call } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import type { Id } from '../../../kernel/ids.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Vault } from '../../../vault/vault.ts';
import { openAnswer } from './mpp-payment.answer.ts';
import type { mppPaymentsArea } from './mpp-payment.contract.ts';
import type { MppPaymentRow } from './mpp-payment.entity.ts';
import type { Resolution } from './mpp-payment.messages.ts';
import { listMppPayments } from './mpp-payment.queries.ts';
import { mppPaymentDetailWire, mppPaymentWire, payWire } from './mpp-payment.wire.ts';
import type { ToolCall } from './paid-resource.port.ts';

type Row = Readonly<MppPaymentRow>;

export type MppPaymentDeps = {
  readonly database: Database;
  readonly vault: Pick<Vault, 'open'>;
  /** Throws where nothing was sent, and while the outcome is not known. */
  readonly pay: (
    order: { url: string; intentId: ReachedId<'intent'>; cardId: string; tool?: ToolCall | undefined },
    call: Call,
  ) => Promise<Row>;
  readonly resolve: (
    tx: Tx,
    order: {
      readonly paymentId: string;
      readonly ownerId: string;
      readonly outcome: Resolution;
      readonly reason: string | undefined;
      readonly transactionId: Id<'transaction'>;
    },
    cause: Cause,
    real: Date,
  ) => Promise<Row>;
};

export const mppPaymentHandlers = (deps: MppPaymentDeps): Handlers<typeof mppPaymentsArea> => ({
  payAtMerchant: async ({ body }, call) => {
    const row = await deps.pay(body, call);
    return payWire(row, await openAnswer(deps, row));
  },

  listMppPayments: async ({ query, own }) => {
    const { status, intentId } = query;
    const { ownerId, agentId = query.agentId } = own;
    const found = await listMppPayments(
      deps.database.read(),
      { ownerId, agentId, intentId, status },
      pageOfQuery(query),
    );
    return mapPage(found, mppPaymentWire);
  },

  getMppPayment: async ({ records }) =>
    mppPaymentDetailWire(records.mppPayment, await openAnswer(deps, records.mppPayment)),

  resolveMppPayment: async ({ params, body: { outcome, reason }, own: { ownerId } }, call) => {
    const order = { paymentId: params.id, ownerId, outcome, reason, transactionId: call.newId('transaction') };
    return mppPaymentWire(await inTransaction(deps, call, (tx, cause) => deps.resolve(tx, order, cause, new Date())));
  },
});
