/**
 * Asks Bursar to hold more for an approved authorization. The stand-in grants nothing here, because no advice could report
 * it: without an answer the merchant is declined, and the same increment is asked about again before the next step of its
 * authorization. What Bursar turns out to have granted is then given back by a partial reversal.
 * @module
 */
import type { MerchantCharge } from '../../domains/payments/network/merchant-charge.rules.ts';
import { Refusal } from '../answer.ts';
import type { Store } from '../store.ts';
import { newReference } from '../wire.ts';
import { type AuthorizationBody, type Authorizations, readDecision } from './authorization.ts';
import type { BursarApi } from './bursar-api.ts';
import { chargedAbroad } from './foreign-charge.ts';
import type { Outgoing } from './outgoing.ts';
import { type StandIn, standInRule } from './stand-in.ts';

type IncrementBody = MerchantCharge & {
  readonly id: string;
  readonly authorizationId: string;
  readonly cardRef: string;
  readonly amountCents: number;
  readonly currency: 'EUR';
  readonly partialSupported: boolean;
  readonly sentAt: string;
};

export type IncrementRow = {
  id: string;
  authorization_id: string;
  body: string;
  state: 'sent' | 'approved' | 'partial' | 'declined';
  approved_cents: number;
  rule: string | null;
  reason: string | null;
};

type Order = { readonly amountCents: number; readonly partialSupported: boolean };
type Options = {
  readonly store: Store;
  readonly bursar: BursarApi;
  readonly authorizations: Authorizations;
  readonly outgoing: Outgoing;
  readonly standIn: StandIn;
  readonly decisionTimeoutMs: number;
};

export function createIncrements({ store, bursar, authorizations, outgoing, standIn, decisionTimeoutMs }: Options) {
  const find = (id: string): IncrementRow =>
    store.one<IncrementRow>('SELECT * FROM increments WHERE id = ?', id) as IncrementRow;

  function place(authorizationId: string, order: Order): string {
    const row = authorizations.find(authorizationId);
    if (row.state !== 'approved' && row.state !== 'partial') {
      throw new Refusal(409, `authorization ${row.id} is ${row.state}: only an approved one can grow`);
    }
    const id = newReference('inc');
    const sentAt = new Date().toISOString();
    const charged = chargedAbroad(JSON.parse(row.body) as AuthorizationBody, order.amountCents);
    const about = { id, authorizationId, cardRef: row.card_ref };
    const body: IncrementBody = { ...about, ...order, ...charged, currency: 'EUR', sentAt };
    store.run(
      `INSERT INTO increments (id, authorization_id, body, state) VALUES (?, ?, ?, 'sent')`,
      id,
      authorizationId,
      JSON.stringify(body),
    );
    return id;
  }

  /** True once Bursar has answered. `isLate`: the merchant was declined meanwhile. */
  async function ask(row: IncrementRow, { isLate }: { isLate: boolean }): Promise<boolean> {
    const body = JSON.parse(row.body) as IncrementBody;
    const patienceMs = standIn.patienceMs(decisionTimeoutMs);
    const decision = readDecision(await bursar.send('increments', row.body, patienceMs), body);
    if (decision === undefined) return false;
    store.inTransaction(() => {
      const granted = isLate ? 0 : decision.approvedCents;
      const concluded = store.run(
        `UPDATE increments SET state = ?, approved_cents = ?, rule = ?, reason = ? WHERE id = ? AND state = 'sent'`,
        granted === 0 ? 'declined' : decision.decision,
        granted,
        (isLate ? standInRule : decision.rule) ?? null,
        decision.reason ?? null,
        row.id,
      );
      if (concluded === 0) return;
      store.run(
        'UPDATE authorizations SET approved_cents = approved_cents + ? WHERE id = ?',
        granted,
        body.authorizationId,
      );
      if (!isLate || decision.approvedCents === 0) return;
      const { authorizationId, cardRef } = body;
      const { approvedCents: amountCents } = decision;
      const charged = chargedAbroad(
        JSON.parse(authorizations.find(authorizationId).body) as AuthorizationBody,
        amountCents,
      );
      outgoing.enqueue('reversals', authorizationId, { cardRef, amountCents, ...charged });
    });
    return true;
  }

  return {
    find,
    async increment(authorizationId: string, order: Order): Promise<IncrementRow> {
      await this.settle(authorizationId);
      const id = store.inTransaction(() => place(authorizationId, order));
      await ask(find(id), { isLate: false });
      return find(id);
    },
    /** To be called before anything else is said of the authorization: what was left open is known then. */
    async settle(authorizationId: string): Promise<void> {
      const open = store.all<IncrementRow>(
        `SELECT * FROM increments WHERE authorization_id = ? AND state = 'sent' ORDER BY rowid`,
        authorizationId,
      );
      for (const row of open) await ask(row, { isLate: true });
    },
  };
}
export type Increments = ReturnType<typeof createIncrements>;
