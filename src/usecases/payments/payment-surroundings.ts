/**
 * Reads in one statement what may stand in the way of a new payment of an intent: its open machine payment, its live
 * credential, its latest checkout, and the states of its agent and card; and whether the credential that is to be made
 * exists. Decides nothing.
 * @module
 */
import { sql } from 'kysely';
import { type Given, query } from '../../db/db.ts';
import type { Tx } from '../../db/tx.ts';
import type { CheckoutStatus } from '../../domains/payments/checkout/checkout.rules.ts';
import type { CredentialStatus } from '../../domains/payments/mpp-credentials/mpp-credential.rules.ts';
import {
  type MppPaymentStatus,
  openMppPaymentStatuses,
} from '../../domains/payments/mpp-payments/mpp-payment.rules.ts';
import { notFound } from '../../kernel/errors.ts';
import type { Holder } from '../spending/assert-active.ts';

const surroundings = query((from, given: Given<{ intentId: string; credentialId: string }>) =>
  from
    .selectFrom('intents as i')
    .leftJoin('agents as a', 'a.id', 'i.agentId')
    .leftJoin('cards as c', (on) => on.onRef('c.id', '=', 'i.cardId').onRef('c.agentId', '=', 'a.id'))
    // At most one of each is open.
    .leftJoin('mpp_payments as p', (on) =>
      on.onRef('p.intentId', '=', 'i.id').on('p.status', 'in', openMppPaymentStatuses),
    )
    .leftJoin('mpp_credentials as m', (on) =>
      on
        .onRef('m.intentId', '=', 'i.id')
        .on((eb) => eb('m.status', 'in', [eb.val<CredentialStatus>('requested'), eb.val<CredentialStatus>('minted')])),
    )
    .leftJoinLateral(
      (inner) =>
        inner
          .selectFrom('checkouts as newest')
          .select(['newest.id', 'newest.status'])
          .whereRef('newest.intentId', '=', 'i.id')
          .orderBy('newest.createdAt', 'desc')
          .orderBy('newest.id', 'desc')
          .limit(sql.lit(1))
          .as('k'),
      (on) => on.onTrue(),
    )
    .select(['a.status as agent', 'c.status as card', 'p.id as paymentId', 'p.status as paymentStatus'])
    .leftJoin('mpp_credentials as made', (on) => on.on('made.id', '=', given('credentialId')))
    .select(['m.id as credentialId', 'k.id as checkoutId', 'k.status as checkoutStatus', 'made.id as madeId'])
    .where('i.id', '=', given('intentId')),
);

export type Surroundings = {
  /** The one that is not settled. */
  readonly payment: { readonly id: string; readonly status: MppPaymentStatus } | null;
  /** Of the credential that is not final by its row, also past its expiry. */
  readonly credentialId: string | null;
  /** The newest; at most one is open. */
  readonly checkout: { readonly id: string; readonly status: CheckoutStatus } | null;
  readonly holder: Holder;
  /** The credential that the caller is about to make was made before. */
  readonly isMade: boolean;
};

/**
 * The caller has locked the intent, so that no payment of it begins or ends meanwhile. `making`: the credential that it is
 * about to make.
 */
export async function surroundingsOf(tx: Tx, intentId: string, making = ''): Promise<Surroundings> {
  const found = await surroundings.first(tx, { intentId, credentialId: making });
  if (found === null) throw notFound('intent', intentId);
  const { agent, card, paymentId, paymentStatus, credentialId, checkoutId, checkoutStatus, madeId } = found;
  return {
    payment: paymentId === null || paymentStatus === null ? null : { id: paymentId, status: paymentStatus },
    credentialId,
    checkout: checkoutId === null || checkoutStatus === null ? null : { id: checkoutId, status: checkoutStatus },
    holder: { agent, card },
    isMade: madeId !== null,
  };
}
