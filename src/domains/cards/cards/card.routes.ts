/** Answers the card operations: ask the service or the workflow, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Call } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { Mode } from '../../../platform/mode.ts';
import type { WorkflowGateway } from '../../../temporal/gateway.ts';
import { changeCardDetails, changeCardLimits } from './card.change.service.ts';
import type { cardsArea } from './card.contract.ts';
import { prepareFurtherCard } from './card.further.service.ts';
import { issueCard } from './card.messages.ts';
import { type CardRecord, cardRecord, cardsOfAgent, findCard, listCards, primaryCardOf } from './card.queries.ts';
import type { PreparedCard } from './card.reserve.service.ts';
import { prepareRotation } from './card.rotate.service.ts';
import type { CardCommand } from './card.rules.ts';
import { applyToCard } from './card.service.ts';
import { cardWire } from './card.wire.ts';
import type { CardPolicyWire } from './card-shapes.contract.ts';

export type CardDeps = {
  readonly database: Database;
  readonly gateway: WorkflowGateway;
  readonly mode: Mode;
  /** What card and policy leave together, at that instant of business time. */
  readonly readPolicy: (card: CardRecord, at: Date) => Promise<CardPolicyWire>;
};

const freeze = { kind: 'freeze', by: 'card' } as const;
const unfreeze = { kind: 'unfreeze', by: 'card' } as const;
const close = { kind: 'close' } as const;

export const cardHandlers = (deps: CardDeps): Handlers<typeof cardsArea> => {
  const wire = (card: CardRecord) => cardWire(card, { showsCardRef: deps.mode === 'sandbox' });
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
      return wire(await issued(deps, prepared, call, `agent ${agentId} was closed while its card was issued`));
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

    rotateCard: async ({ params: { cardId } }, call) => {
      const { card, previousCardId } = await rotate(deps, call.newId('card'), cardId, call);
      return { card: wire(card), previousCardId };
    },

    rotatePrimaryCard: async ({ params: { agentId } }, call) => {
      const newId = call.newId('card');
      // By the time of a repeat the new card may be the primary one itself.
      const known = await findCard(deps.database.read(), newId);
      const cardId = known?.replacesCardId ?? (await primaryOf(deps, agentId)).cardId;
      const { card, previousCardId } = await rotate(deps, newId, cardId, call);
      return { card: wire(card), previousCardId };
    },

    freezeCard: async ({ params }, call) => move(deps, params.cardId, freeze, call),
    unfreezeCard: async ({ params }, call) => move(deps, params.cardId, unfreeze, call),
    closeCard: async ({ params }, call) => move(deps, params.cardId, close, call),
    freezePrimaryCard: async ({ params }, call) => movePrimary(deps, params.agentId, freeze, call),
    unfreezePrimaryCard: async ({ params }, call) => movePrimary(deps, params.agentId, unfreeze, call),
    closePrimaryCard: async ({ params }, call) => movePrimary(deps, params.agentId, close, call),
  };
};

async function changed({ database }: CardDeps, cardId: Id<'card'>): Promise<CardRecord> {
  const card = await cardRecord(database.read(), cardId);
  if (card === null) throw notFound('card', cardId);
  return card;
}

/** One transaction that works while Temporal is down; the card's workflow run is woken afterwards. */
async function move(deps: CardDeps, cardId: string, command: CardCommand, call: Call) {
  const row = await inTransaction(deps, call, (tx, cause) => applyToCard(tx, cardId, command, cause));
  return { cardId: row.id, status: row.status, last4: row.last4 ?? '' };
}

async function movePrimary(deps: CardDeps, agentId: string, command: CardCommand, call: Call) {
  return move(deps, (await primaryOf(deps, agentId)).cardId, command, call);
}

async function primaryOf({ database }: CardDeps, agentId: string) {
  const card = await primaryCardOf(database.read(), agentId);
  if (card === null) throw notFound('card of agent', agentId);
  return card;
}

async function rotate(deps: CardDeps, newId: Id<'card'>, cardId: string, call: Call) {
  const prepared = await inTransaction(deps, call, (tx, cause) => prepareRotation(tx, cause, { newId, cardId }));
  const card = await issued(deps, prepared, call, `card ${cardId} was closed while it was rotated`);
  return { card, previousCardId: cardId };
}

/** The stored answer names the reservation, so a repeat with the same key asks the same workflow run again. */
async function issued(
  { database, gateway }: CardDeps,
  { cardId, workflowId }: PreparedCard,
  call: Call,
  whyNot: string,
): Promise<CardRecord> {
  const before = await cardRecord(database.read(), cardId);
  if (before !== null) return before;
  await gateway.ask(workflowId, issueCard, {}, call.cause.causeId);
  const card = await cardRecord(database.read(), cardId);
  if (card === null) throw new DomainError('invalid_state', whyNot);
  return card;
}
