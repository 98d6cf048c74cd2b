/** The facts of a payment's card for the spending rules. @module */
import { sql } from 'kysely';
import { type Db, type Given, query } from '../../db/db.ts';
import type { Tx } from '../../db/tx.ts';
import type { CardFacts } from '../../domains/spending/policies/policy.rules.ts';

export type CardName = { readonly cardId?: string | undefined; readonly cardName?: string | undefined };

/**
 * The named card of the agent, else its first active one. A name may have been used before: a card that is open is
 * meant before one that is closed.
 */
export const findCardOf = (tx: Tx, agentId: string, name: CardName = {}): Promise<Card | null> =>
  card.first(tx, { agentId, ...namedBy(name) });

/** The same, held as it is until the end of the transaction. */
export const lockAgentCardForShare = (tx: Tx, agentId: string, name: CardName = {}): Promise<Card | null> =>
  cardForShare.first(tx, { agentId, ...namedBy(name) });

/** The one that an intent is for, held as well. The agent is held already, so that no other takes its place meanwhile. */
export const lockIntentCardForShare = (tx: Tx, agentId: string, intentId: string): Promise<Card | null> =>
  cardForShare.first(tx, { agentId, ...namedBy({}), intentId });

type Named = { readonly cardId: string | null; readonly cardName: string | null; readonly intentId: string | null };

const namedBy = ({ cardId, cardName }: CardName): Named => ({
  cardId: cardId ?? null,
  cardName: cardName ?? null,
  intentId: null,
});

const cardOf = (from: Db, given: Given<Named & { agentId: string }>) =>
  from
    .selectFrom('cards')
    .select(['id', 'status', 'usage', 'isProvisioning', 'maxTransactionCents', 'dailyLimitCents', 'monthlyLimitCents'])
    .select(['expiryMonth', 'expiryYear', 'controls'])
    .where('agentId', '=', given('agentId'))
    .where('isProvisioning', '=', sql.lit(false))
    .where(sql<boolean>`(${given('cardId')}::text is null or id = ${given('cardId')})`)
    .where(sql<boolean>`(${given('cardName')}::text is null or name = ${given('cardName')})`)
    .where(
      sql<boolean>`(${given('intentId')}::text is null or id = (select card_id from intents where id = ${given('intentId')}))`,
    )
    .orderBy(sql`status = 'active'`, 'desc')
    .orderBy(sql`status = 'closed'`)
    .orderBy('createdAt')
    .orderBy('id')
    .limit(sql.lit(1));

const card = query(cardOf);
const cardForShare = query((from, given: Given<Named & { agentId: string }>) => cardOf(from, given).forShare());

export type Card = Awaited<ReturnType<typeof card.all>>[number];

export const cardFactsOf = (card: Card): CardFacts => ({
  status: card.status,
  usage: card.usage,
  isProvisioning: card.isProvisioning,
  expiryMonth: card.expiryMonth,
  expiryYear: card.expiryYear,
  limits: {
    maxTransactionCents: card.maxTransactionCents,
    dailyLimitCents: card.dailyLimitCents,
    monthlyLimitCents: card.monthlyLimitCents,
  },
  controls: card.controls,
});
