/** Answers the card operations: ask the service or the workflow, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Call } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers, Input } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { Cause } from '../../../platform/cause.ts';
import { changeCardDetails, changeCardLimits } from './card.change.service.ts';
import type { cardsArea } from './card.contract.ts';
import type { CardRow } from './card.entity.ts';
import { prepareFurtherCard } from './card.further.service.ts';
import { movePrimaryCard, preparePrimaryRotation } from './card.primary.service.ts';
import { type CardRecord, cardRecord, cardsOfAgent, listCards } from './card.queries.ts';
import type { PreparedCard } from './card.reserve.service.ts';
import { type PreparedRotation, prepareRotation } from './card.rotate.service.ts';
import type { CardCommand } from './card.rules.ts';
import { moveNamedCard } from './card.service.ts';
import { cardWire } from './card.wire.ts';
import type { CardPolicyWire } from './card-shapes.contract.ts';

export type CardDeps = {
  readonly database: Database;
  /** In a sandbox, for the caller that drives the simulated network. */
  readonly showsCardRef: boolean;
  /** Waits for the processor; 503 while Temporal is unavailable. */
  readonly issue: (card: PreparedCard, whyNot: string, cause: Cause) => Promise<CardRecord>;
  /** What card and policy leave together, at that instant of business time. */
  readonly readPolicy: (card: CardRecord, at: Date) => Promise<CardPolicyWire>;
};

const freeze = { kind: 'freeze', by: 'card' } as const;
const unfreeze = { kind: 'unfreeze', by: 'card' } as const;
const close = { kind: 'close' } as const;

export const cardHandlers = (deps: CardDeps): Handlers<typeof cardsArea> => {
  const wire = (card: CardRecord) => cardWire(card, deps);
  const rotated = async ({ previousCardId, ...prepared }: PreparedRotation, { cause }: Call) => {
    const card = await deps.issue(prepared, `card ${previousCardId} was closed while it was rotated`, cause);
    return { card: wire(card), previousCardId };
  };
  return {
    listCards: async ({ query, own: { ownerId } }) => {
      const filter = { ownerId, agentId: query.agentId, status: query.status };
      return mapPage(await listCards(deps.database.read(), filter, pageOfQuery(query)), wire);
    },

    listAgentCards: async ({ params: { agentId } }) => (await cardsOfAgent(deps.database.read(), agentId)).map(wire),

    issueAgentCard: async ({ params: { agentId }, body, own: { ownerId } }, call) => {
      const { usage, purpose, name, displayName, ...limits } = body;
      const wish = { cardId: call.newId('card'), ownerId, agentId, usage, purpose, name, displayName, limits };
      const prepared = await inTransaction(deps, call, (tx, cause) => prepareFurtherCard(tx, cause, wish));
      return wire(await deps.issue(prepared, `agent ${agentId} was closed while its card was issued`, call.cause));
    },

    getCard: async ({ records }) => wire(records.card),
    getCardPolicy: async ({ records }, call) => deps.readPolicy(records.card, await call.now()),

    updateCard: async ({ params: { cardId }, body, own: { ownerId } }, call) => {
      await inTransaction(deps, call, (tx, cause) => changeCardDetails(tx, cause, { cardId, ownerId }, body));
      return wire(await changed(deps, cardId));
    },

    updateCardLimits: async ({ params: { cardId }, body, own: { ownerId } }, call) => {
      const { maxAmountPerTransactionCents: maxTransactionCents, ...others } = body;
      const limits = { maxTransactionCents, ...others };
      await inTransaction(deps, call, (tx, cause) => changeCardLimits(tx, cause, { cardId, ownerId }, limits));
      return wire(await changed(deps, cardId));
    },

    rotateCard: async ({ params: { cardId }, own: { ownerId } }, call) => {
      const order = { newId: call.newId('card'), cardId, ownerId };
      const prepared = await inTransaction(deps, call, (tx, cause) => prepareRotation(tx, cause, order));
      return rotated(prepared, call);
    },

    rotatePrimaryCard: async ({ params: { agentId }, own: { ownerId } }, call) => {
      const order = { newId: call.newId('card'), agentId, ownerId };
      const prepared = await inTransaction(deps, call, (tx, cause) => preparePrimaryRotation(tx, cause, order));
      return rotated(prepared, call);
    },

    freezeCard: (input, call) => move(deps, input, freeze, call),
    unfreezeCard: (input, call) => move(deps, input, unfreeze, call),
    closeCard: (input, call) => move(deps, input, close, call),
    freezePrimaryCard: (input, call) => movePrimary(deps, input, freeze, call),
    unfreezePrimaryCard: (input, call) => movePrimary(deps, input, unfreeze, call),
    closePrimaryCard: (input, call) => movePrimary(deps, input, close, call),
  };
};

async function changed({ database }: CardDeps, cardId: Id<'card'>): Promise<CardRecord> {
  const card = await cardRecord(database.read(), cardId);
  if (card === null) throw notFound('card', cardId);
  return card;
}

type OfCard = Pick<Input<Operations['freezeCard']>, 'params' | 'own'>;
type OfPrimary = Pick<Input<Operations['freezePrimaryCard']>, 'params' | 'own'>;
type Operations = (typeof cardsArea)['operations'];

/** One transaction that works while Temporal is down; the card's workflow run is woken afterwards. */
async function move(
  deps: CardDeps,
  { params: { cardId }, own: { ownerId } }: OfCard,
  command: CardCommand,
  call: Call,
) {
  const card = { cardId, ownerId };
  return stateOf(await inTransaction(deps, call, (tx, cause) => moveNamedCard(tx, card, command, cause)));
}

async function movePrimary(
  deps: CardDeps,
  { params: { agentId }, own: { ownerId } }: OfPrimary,
  command: CardCommand,
  call: Call,
) {
  const holder = { agentId, ownerId };
  return stateOf(await inTransaction(deps, call, (tx, cause) => movePrimaryCard(tx, holder, command, cause)));
}

const stateOf = ({ id, status, last4 }: CardRow) => ({ cardId: id, status, last4: last4 ?? '' });
