/** Reads of machine payments: one, pages, the open one of an intent, and a merchant's answer. No decision is made here. @module */
import { type Given, query } from '../../../db/db.ts';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { type MppPaymentRow, MppPaymentSchema } from './mpp-payment.entity.ts';
import { type MppPaymentStatus, openMppPaymentStatuses } from './mpp-payment.rules.ts';

const one = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('mpp_payments').select(columnsOf(MppPaymentSchema)).where('id', '=', given('id')),
);

/** To be read: lock the row before changing it. */
export const findMppPayment = (tx: Tx, id: string): Promise<Readonly<MppPaymentRow> | null> => one.first(tx, { id });

export async function mppPaymentOf(tx: Tx, id: string): Promise<Readonly<MppPaymentRow>> {
  const row = await findMppPayment(tx, id);
  if (row === null) throw notFound('mpp payment', id);
  return row;
}

const answered = query((from, given: Given<{ id: string; now: Date }>) =>
  from
    .selectFrom('mpp_payments as p')
    .leftJoin('mpp_bodies as b', (on) => on.onRef('b.paymentId', '=', 'p.id').on('b.keptUntil', '>', given('now')))
    .select(columnsOf(MppPaymentSchema).map((column) => `p.${column}` as const))
    .select('b.sealedBody')
    .where('p.id', '=', given('id')),
);

/** With what the merchant answered, as far as it is kept; `now` is real time. */
export type AnsweredRow = Readonly<MppPaymentRow> & { readonly sealedBody: string | null };

export async function answeredMppPaymentOf(tx: Tx, id: string, now: Date): Promise<AnsweredRow> {
  const row = await answered.first(tx, { id, now });
  if (row === null) throw notFound('mpp payment', id);
  return row;
}

const oneLocked = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('mpp_payments').select(columnsOf(MppPaymentSchema)).where('id', '=', given('id')).forUpdate(),
);

/** Locked until the transaction ends. */
export async function lockedMppPayment(tx: Tx, id: string): Promise<Readonly<MppPaymentRow>> {
  const row = await oneLocked.first(tx, { id });
  if (row === null) throw notFound('mpp payment', id);
  return row;
}

const openOne = query((from, given: Given<{ intentId: string }>) =>
  from
    .selectFrom('mpp_payments')
    .select(['id', 'status'])
    .where('intentId', '=', given('intentId'))
    .where('status', 'in', openMppPaymentStatuses),
);

/** The payment of an intent that is not settled. At most one exists. */
export const openMppPaymentOf = (
  tx: Tx,
  intentId: string,
): Promise<{ readonly id: string; readonly status: MppPaymentStatus } | null> => openOne.first(tx, { intentId });

const body = query((from, given: Given<{ paymentId: string; now: Date }>) =>
  from
    .selectFrom('mpp_bodies')
    .select('sealedBody')
    .where('paymentId', '=', given('paymentId'))
    .where('keptUntil', '>', given('now')),
);

/** Null where the merchant gave no answer, or where it is not kept any more. `now` is real time. */
export const sealedBodyOf = async (tx: Tx, paymentId: string, now: Date): Promise<string | null> =>
  (await body.first(tx, { paymentId, now }))?.sealedBody ?? null;

export type MppPaymentFilter = {
  readonly ownerId: string;
  readonly agentId?: string | undefined;
  readonly intentId?: string | undefined;
  readonly status?: MppPaymentStatus | undefined;
};

const payments = list((from, given: Filters<MppPaymentFilter>) => {
  let wanted = from
    .selectFrom('mpp_payments')
    .select(columnsOf(MppPaymentSchema))
    .where('ownerId', '=', given('ownerId'));
  if (given.has('agentId')) wanted = wanted.where('agentId', '=', given('agentId'));
  if (given.has('intentId')) wanted = wanted.where('intentId', '=', given('intentId'));
  if (given.has('status')) wanted = wanted.where('status', '=', given('status'));
  return wanted;
}, newestFirst('mpp_payments'));

/** Newest first. */
export const listMppPayments = (
  tx: Tx,
  filter: MppPaymentFilter,
  pageQuery: PageQuery,
): Promise<Page<Readonly<MppPaymentRow>>> => page(tx, payments, filter, pageQuery);

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly mppPayment: Readonly<MppPaymentRow>;
  }
}
