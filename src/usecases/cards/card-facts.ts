/** The facts of a payment's card for the spending rules. @module */
import { rows, type Tx } from '../../db/tx.ts';
import type { CardFacts } from '../../domains/spending/policies/index.ts';

export type Card = { readonly id: string } & Omit<CardFacts, 'limits'> & CardFacts['limits'];
export type CardName = { readonly cardId?: string | undefined; readonly cardName?: string | undefined };

/**
 * The named card of the agent, else its first active one. A name may have been used before: a card that is open is
 * meant before one that is closed.
 */
export const findCardOf = (tx: Tx, agentId: string, name: CardName = {}): Promise<Card | undefined> =>
  read(tx, '', agentId, name);

/** The same, held as it is until the end of the transaction. */
export const lockAgentCardForShare = (tx: Tx, agentId: string, name: CardName = {}): Promise<Card | undefined> =>
  read(tx, 'for share', agentId, name);

/** The one that an intent is for, held as well. The agent is held already, so that no other takes its place meanwhile. */
export const lockIntentCardForShare = (tx: Tx, agentId: string, intentId: string): Promise<Card | undefined> =>
  read(tx, 'for share', agentId, { intentId });

type Named = CardName & { readonly intentId?: string };

async function read(tx: Tx, lock: '' | 'for share', agentId: string, { cardId, cardName, intentId }: Named) {
  const [card] = await rows<Card>(
    tx,
    `select id, status, usage, is_provisioning as "isProvisioning", max_transaction_cents as "maxTransactionCents",
       daily_limit_cents as "dailyLimitCents", monthly_limit_cents as "monthlyLimitCents"
     from cards where agent_id = $1 and not is_provisioning
       and ($2::text is null or id = $2) and ($3::text is null or name = $3)
       and ($4::text is null or id = (select card_id from intents where id = $4))
     order by status = 'active' desc, status = 'closed', created_at, id limit 1 ${lock}`,
    [agentId, cardId ?? null, cardName ?? null, intentId ?? null],
  );
  return card;
}

export const cardFactsOf = (card: Card): CardFacts => ({
  status: card.status,
  usage: card.usage,
  isProvisioning: card.isProvisioning,
  limits: {
    maxTransactionCents: card.maxTransactionCents,
    dailyLimitCents: card.dailyLimitCents,
    monthlyLimitCents: card.monthlyLimitCents,
  },
});
