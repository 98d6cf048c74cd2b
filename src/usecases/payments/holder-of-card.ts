/** The holder of a card that the network names: whose money a message moves that no payment is known for. @module */
import { sql } from 'kysely';
import { type Given, query } from '../../db/db.ts';

export const holderOf = query((from, given: Given<{ cardRef: string }>) =>
  from
    .selectFrom('cards as c')
    .innerJoin('agents as a', 'a.id', 'c.agentId')
    .select(['c.ownerId', 'c.agentId', 'c.id as cardId', 'a.walletId'])
    .select(sql<string>`funding_source_of(a)`.as('fundingSource'))
    .where('c.cardRef', '=', given('cardRef')),
);
