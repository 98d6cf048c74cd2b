/**
 * A deployment without a card processor: like one whose processor is away, so cards wait until there is one, and an
 * operator reads why.
 * @module
 */
import type { CardProcessor } from '../../domains/cards/cards/card.port.ts';
import { DomainError } from '../../kernel/errors.ts';

const none = async (): Promise<never> => {
  throw new DomainError('unavailable', 'this deployment has no card processor');
};

export const noCardProcessor: CardProcessor = { issueCard: none, setCardState: none, mintPaymentToken: none };
