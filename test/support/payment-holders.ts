/**
 * The agents and cards of the model, and the commands of their owner: freeze, unfreeze, close, rotate, issue. Each
 * answers with the HTTP status that the product must give.
 * @module
 */
import type { Terms } from './payment-decisions.ts';

export type ModelAgent = { readonly terms: Terms; status: 'active' | 'frozen' };
export type ModelCard = {
  readonly agent: number;
  readonly usage: 'multi' | 'single';
  status: 'active' | 'frozen' | 'closed';
  frozenBy: 'card' | 'agent' | null;
  /** The card that has taken its place. */
  replacedBy: number | null;
  /** The cards whose place it has taken, the first one first. */
  readonly earlier: readonly number[];
};

/** A card for any number of payments for each agent. */
export const firstCards = (agents: readonly ModelAgent[]): ModelCard[] =>
  agents.map((_, agent) => aCard(agent, 'multi'));

const aCard = (agent: number, usage: ModelCard['usage']): ModelCard => ({
  ...{ agent, usage, status: 'active', frozenBy: null, replacedBy: null, earlier: [] },
});

/** The card that what was begun with this one is for now. */
export function lastOfLine(cards: readonly ModelCard[], card: number): number {
  const next = cards[card]?.replacedBy ?? null;
  return next === null ? card : lastOfLine(cards, next);
}

export function paymentHolders(agents: readonly ModelAgent[], cards: ModelCard[]) {
  const cardsOf = (agent: number): ModelCard[] => cards.filter((card) => card.agent === agent);
  const set = (card: ModelCard, status: ModelCard['status'], frozenBy: ModelCard['frozenBy'] = null): void => {
    Object.assign(card, { status, frozenBy });
  };
  const cardAt = (card: number): ModelCard => cards[card] as ModelCard;
  const agentAt = (agent: number): ModelAgent => agents[agent] as ModelAgent;
  return {
    cardAt,
    agentAt,
    /** The card of an intent that names none: an active one before a frozen one, and that before a closed one. */
    firstCardOf(agent: number): number {
      const own = [...cards.keys()].filter((card) => cardAt(card).agent === agent);
      const inState = (status: ModelCard['status']) => own.find((card) => cardAt(card).status === status);
      return inState('active') ?? inState('frozen') ?? inState('closed') ?? 0;
    },
    /** Its active cards freeze with it. */
    freezeAgent(agent: number): number {
      if (agentAt(agent).status === 'frozen') return 200;
      agentAt(agent).status = 'frozen';
      for (const card of cardsOf(agent)) if (card.status === 'active') set(card, 'frozen', 'agent');
      return 200;
    },
    /** A card that its owner froze stays so. */
    unfreezeAgent(agent: number): number {
      if (agentAt(agent).status === 'active') return 400;
      agentAt(agent).status = 'active';
      for (const card of cardsOf(agent)) if (card.frozenBy === 'agent') set(card, 'active');
      return 200;
    },
    /** On a frozen card too: from then on it is the owner's own freeze. */
    freezeCard(card: number): number {
      if (cardAt(card).status === 'closed') return 400;
      set(cardAt(card), 'frozen', 'card');
      return 200;
    },
    unfreezeCard(card: number): number {
      const { status, agent } = cardAt(card);
      if (status !== 'frozen' || agentAt(agent).status !== 'active') return 400;
      set(cardAt(card), 'active');
      return 200;
    },
    closeCard(card: number): number {
      set(cardAt(card), 'closed');
      return 200;
    },
    /** The old card closes; the new one is what the old one was. The intents are the caller's. */
    rotateCard(card: number): number {
      const old = cardAt(card);
      if (old.status === 'closed') return 400;
      cards.push({ ...old, earlier: [...old.earlier, card] });
      set(old, 'closed');
      old.replacedBy = cards.length - 1;
      return 200;
    },
    issueCard(agent: number, usage: ModelCard['usage']): number {
      if (agentAt(agent).status !== 'active') return 400;
      cards.push(aCard(agent, usage));
      return 201;
    },
    /** A payment of this card has completed. Answers whether that closes it, or the one in its place. */
    cardWasUsed(card: number): boolean {
      const used = cardAt(lastOfLine(cards, card));
      if (used.usage !== 'single' || used.status === 'closed') return false;
      set(used, 'closed');
      return true;
    },
  };
}
