/** Answers the card operations: ask the service or the workflow, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { type Call, mayReach, ownerOf } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import { pageOf } from '../../../kernel/page.ts';
import type { Mode } from '../../../platform/mode.ts';
import type { WorkflowGateway } from '../../../temporal/gateway.ts';
import type { cardsArea } from './card.contract.ts';
import { issueCard } from './card.messages.ts';
import { type CardRecord, cardHolder, cardRecord, cardsOfAgent, listCards, primaryCardOf } from './card.queries.ts';
import type { CardCommand } from './card.rules.ts';
import { applyToCard } from './card.service.ts';
import { cardWire } from './card.wire.ts';
import { type FurtherCard, prepareFurtherCard } from './further-card.service.ts';

export type CardDeps = {
  readonly database: Database;
  readonly gateway: WorkflowGateway;
  readonly mode: Mode;
};

const freeze = { kind: 'freeze', by: 'card' } as const;
const unfreeze = { kind: 'unfreeze', by: 'card' } as const;
const close = { kind: 'close' } as const;

export const cardHandlers = (deps: CardDeps): Handlers<typeof cardsArea> => {
  const wire = (card: CardRecord) => cardWire(card, { showsCardRef: deps.mode === 'sandbox' });
  return {
    listCards: async ({ query }, call) => {
      const page = pageOfQuery(query);
      const filter = { ownerId: ownerOf(call), agentId: query.agentId, status: query.status };
      const found = await listCards(deps.database.read(), filter, page);
      return pageOf(found, page.limit, ({ createdAt, id }) => ({ createdAt: createdAt.toISOString(), id }), wire);
    },

    listAgentCards: async ({ params: { agentId } }, call) => {
      await reachAgent(deps, agentId, call);
      return (await cardsOfAgent(deps.database.read(), agentId)).map(wire);
    },

    issueAgentCard: async ({ params: { agentId }, body }, call) => {
      const { ownerId } = await reachAgent(deps, agentId, call);
      const { usage, purpose, name, displayName, maxTransactionEuros, dailyLimitEuros, monthlyLimitEuros } = body;
      const limits = {
        maxTransactionCents: maxTransactionEuros,
        dailyLimitCents: dailyLimitEuros,
        monthlyLimitCents: monthlyLimitEuros,
      };
      const wish = { cardId: call.newId('card'), ownerId, agentId, usage, purpose, name, displayName, limits };
      return wire(await issue(deps, wish, call));
    },

    getCard: async ({ params }, call) => wire(await reach(deps, params.cardId, call)),
    freezeCard: async ({ params }, call) => move(deps, params.cardId, freeze, call),
    unfreezeCard: async ({ params }, call) => move(deps, params.cardId, unfreeze, call),
    closeCard: async ({ params }, call) => move(deps, params.cardId, close, call),
    freezePrimaryCard: async ({ params }, call) => movePrimary(deps, params.agentId, freeze, call),
    unfreezePrimaryCard: async ({ params }, call) => movePrimary(deps, params.agentId, unfreeze, call),
    closePrimaryCard: async ({ params }, call) => movePrimary(deps, params.agentId, close, call),
  };
};

const reach = async ({ database }: CardDeps, cardId: string, call: Call): Promise<CardRecord> =>
  mayReach(call, 'card', cardId, await cardRecord(database.read(), cardId));

const reachAgent = async ({ database }: CardDeps, agentId: string, call: Call) =>
  mayReach(call, 'agent', agentId, await cardHolder(database.read(), agentId));

/** One transaction that works with Temporal down; the card's process hears of it afterwards. */
async function move(deps: CardDeps, cardId: string, command: CardCommand, call: Call) {
  await reach(deps, cardId, call);
  const row = await deps.database.write((tx) => applyToCard(tx, cardId, command, call.cause));
  return { cardId: row.id, status: row.status, last4: row.last4 ?? '' };
}

async function movePrimary(deps: CardDeps, agentId: string, command: CardCommand, call: Call) {
  await reachAgent(deps, agentId, call);
  const card = await primaryCardOf(deps.database.read(), agentId);
  if (card === null) throw notFound('card of agent', agentId);
  return move(deps, card.cardId, command, call);
}

/** The reservation stays where the answer does: a repeat with the same key asks the same process again. */
async function issue(deps: CardDeps, wish: FurtherCard, call: Call): Promise<CardRecord> {
  const { cardId, processId } = await deps.database.write((tx) => prepareFurtherCard(tx, call.cause, wish));
  await deps.gateway.ask(processId, issueCard, {}, call.cause.causeId);
  const card = await cardRecord(deps.database.read(), cardId);
  if (card === null)
    throw new DomainError('invalid_state', `agent ${wish.agentId} was closed while its card was issued`);
  return card;
}
