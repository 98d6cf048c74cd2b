/** The messages between the API, the worker and the card workflow: names, ids and JSON-safe shapes. @module */
import { type Message, message } from '../../../kernel/message.ts';
import type { CardStatus, FrozenBy } from './card.rules.ts';

export type CardView = {
  readonly cardId: string;
  readonly agentId: string;
  readonly status: CardStatus;
  readonly frozenBy: FrozenBy | null;
  /** Null until the processor has issued the card. */
  readonly syncedState: CardStatus | null;
};

export const cardWorkflowId = (cardId: string): string => `card/${cardId}`;
export const cardWorkflow = 'cardLifecycle';

/** Waits until the processor has issued the card. */
export const issueCard: Message<CardView, Record<string, never>> = message('issue');
