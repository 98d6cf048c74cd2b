/**
 * The network's messages after an approval on request of a caller: clearings in parts or above the hold, reversals, and
 * refunds.
 * @module
 */
import { Refusal } from '../answer.ts';
import type { Store } from '../store.ts';
import type { AuthorizationBody, AuthorizationRow, Authorizations } from './authorization.ts';
import { chargedAbroad } from './foreign-charge.ts';
import type { Outgoing } from './outgoing.ts';

export function createSettlement(store: Store, authorizations: Authorizations, outgoing: Outgoing) {
  const approved = (id: string): AuthorizationRow => {
    const row = authorizations.find(id);
    if (row.state === 'approved' || row.state === 'partial') return row;
    throw new Refusal(409, `authorization ${id} is ${row.state}: only an approved one can be cleared or reversed`);
  };

  return {
    /** Without an amount: what is neither cleared nor reversed yet. More than that is an over-clearing, and is sent. */
    clear(id: string, order: { amountCents?: number | undefined; final: boolean }): string {
      return store.inTransaction(() => {
        const row = approved(id);
        const rest = row.approved_cents - row.cleared_cents - row.reversed_cents;
        const amountCents = order.amountCents ?? rest;
        if (amountCents <= 0)
          throw new Refusal(409, `nothing is left to clear of ${id}: name amountCents to over-clear`);
        store.run('UPDATE authorizations SET cleared_cents = cleared_cents + ? WHERE id = ?', amountCents, id);
        const body = JSON.parse(row.body) as AuthorizationBody;
        const { cardRef, merchant } = body;
        const charged = chargedAbroad(body, amountCents);
        return outgoing.enqueue('clearings', id, { cardRef, amountCents, ...charged, final: order.final, merchant });
      });
    },

    /** Without an amount: what was cleared. */
    refund(id: string, order: { amountCents?: number | undefined }): string {
      return store.inTransaction(() => {
        const row = approved(id);
        const amountCents = order.amountCents ?? row.cleared_cents;
        if (amountCents <= 0) throw new Refusal(409, `nothing was cleared of ${id}: name amountCents`);
        const body = JSON.parse(row.body) as AuthorizationBody;
        const { cardRef, merchant } = body;
        return outgoing.enqueue('refunds', id, { cardRef, amountCents, ...chargedAbroad(body, amountCents), merchant });
      });
    },

    /** Without an amount: all of it, and a clearing that still waits for its day is withdrawn. */
    reverse(id: string, amountCents: number | undefined): string {
      return store.inTransaction(() => {
        const row = approved(id);
        const isWhole = amountCents === undefined;
        if (isWhole && outgoing.withdrawWaiting(id) > 0) {
          store.run('UPDATE authorizations SET cleared_cents = 0 WHERE id = ?', id);
        }
        store.run(
          'UPDATE authorizations SET reversed_cents = min(approved_cents, reversed_cents + ?) WHERE id = ?',
          amountCents ?? row.approved_cents,
          id,
        );
        const body = JSON.parse(row.body) as AuthorizationBody;
        const part = isWhole ? {} : { amountCents, ...chargedAbroad(body, amountCents) };
        return outgoing.enqueue('reversals', id, { cardRef: row.card_ref, ...part });
      });
    },
  };
}
export type Settlement = ReturnType<typeof createSettlement>;
