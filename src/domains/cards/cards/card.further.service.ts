/** Whether an agent may have one more card, and its reservation: in one transaction, under the agent's lock. @module */
import { type Given, query } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { lockAgent, lockPlan, whyFull } from '../../parties/index.ts';
import { CardRow } from './card.entity.ts';
import { cardsInPlan } from './card.queries.ts';
import { type NewCard, type PreparedCard, prepareCard } from './card.reserve.service.ts';

/** Without a name it gets the next free `card N`. */
export type FurtherCard = Omit<NewCard, 'name'> & { readonly name?: string | undefined };

type NamedAgent = { readonly agentId: ReachedId<'agent'> };

/** For an agent that the caller named. */
export const prepareFurtherCard = (tx: Tx, cause: Cause, wish: FurtherCard & NamedAgent): Promise<PreparedCard> =>
  prepareGrantedCard(tx, cause, wish);

/** For the agent of a request that the caller has locked. */
export async function prepareGrantedCard(tx: Tx, cause: Cause, wish: FurtherCard): Promise<PreparedCard> {
  const known = await tx.findOne(CardRow, { id: wish.cardId, ownerId: wish.ownerId });
  if (known !== null) return prepareCard(tx, cause, { ...wish, name: known.name });
  await refuseAboveCeiling(tx, wish.ownerId);
  await refuseUnlessActive(tx, wish);
  const counted = { ownerId: wish.ownerId, subject: wish.agentId, at: cause.at };
  await assertBelowLimit(tx, 'cards', counted, { isLocked: true }); // By the customer's row.
  return prepareCard(tx, cause, { ...wish, name: wish.name ?? (await freeName(tx, wish.agentId)) });
}

async function refuseUnlessActive(tx: Tx, { ownerId, agentId }: FurtherCard): Promise<void> {
  const agent = await lockAgent(tx, ownerId, agentId);
  if (agent === undefined) throw notFound('agent', agentId);
  if (agent.status !== 'active') {
    throw new DomainError('invalid_state', `agent ${agentId} is ${agent.status}: it gets no card`);
  }
}

/** The customer's row is held, so that two issues at once cannot both take the last place, nor one name. */
async function refuseAboveCeiling(tx: Tx, ownerId: string): Promise<void> {
  const plan = await lockPlan(tx, ownerId);
  const why = whyFull(plan, 'cards', await cardsInPlan(tx, ownerId));
  if (why !== undefined) throw new DomainError('plan_limit_exceeded', why);
}

const names = query((from, given: Given<{ agentId: string }>) =>
  from.selectFrom('cards').select('name').where('agentId', '=', given('agentId')),
);

async function freeName(tx: Tx, agentId: string): Promise<string> {
  const cards = await names.all(tx, { agentId });
  const taken = new Set(cards.map(({ name }) => name));
  let number = cards.length + 1;
  while (taken.has(`card ${number}`)) number += 1;
  return `card ${number}`;
}
