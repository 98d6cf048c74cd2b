/** The holder of a card: whose money a message of the network moves that no payment is known for. @module */
import { sql } from 'kysely';
import { type Db, type Given, query } from '../../db/db.ts';

const holders = (from: Db) =>
  from
    .selectFrom('cards as c')
    .innerJoin('agents as a', 'a.id', 'c.agentId')
    .select(['c.ownerId', 'c.agentId', 'c.id as cardId', 'a.walletId'])
    .select(sql<string>`funding_source_of(a)`.as('fundingSource'));

/** Of the card that the network names. */
export const holderOf = query((from, given: Given<{ cardRef: string }>) =>
  holders(from).where('c.cardRef', '=', given('cardRef')),
);

/** Of a card that an operator names. */
export const holderOfCard = query((from, given: Given<{ cardId: string }>) =>
  holders(from).where('c.id', '=', given('cardId')).where('c.isProvisioning', '=', sql.lit(false)),
);
