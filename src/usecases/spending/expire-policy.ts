/**
 * Carries out the expiry of an agent's policy, once, in one transaction: freezes or closes its cards, or neither, and
 * notifies the owner. Does nothing when the policy was changed meanwhile. The rules refuse charges with or without
 * this.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { closeCardsOf, freezeCardsByPolicy, lockCardsOf } from '../../domains/cards/cards/card.service.ts';
import { agentStanding } from '../../domains/spending/policies/policy.queries.ts';
import type { ExpirationAction } from '../../domains/spending/policies/policy.rules.ts';
import { lockExpiredPolicy, markExpired } from '../../domains/spending/policies/policy-expiry.service.ts';
import type { Cause } from '../../platform/cause.ts';

export const expirePolicy =
  ({ database }: { readonly database: Database }) =>
  (agentId: string, at: Date): Promise<void> =>
    database.write(async (tx) => {
      if ((await agentStanding(tx, agentId)) === null) return;
      await lockCardsOf(tx, agentId);
      const policy = await lockExpiredPolicy(tx, agentId, at);
      if (policy === null) return;
      const causeId = `policy-expiry:${policy.id}:${policy.version}`;
      const cause: Cause = { causeId, requestId: causeId, actor: { kind: 'policy' }, at };
      const cards = await cardsAfter[policy.expirationAction](tx, cause, agentId);
      await markExpired(tx, cause, policy, cards.length);
    });

const cardsAfter: Record<ExpirationAction, (tx: Tx, cause: Cause, agentId: string) => Promise<readonly string[]>> = {
  freeze: freezeCardsByPolicy,
  close: closeCardsOf,
  notify: async () => [],
};
