/** The public face of cards: instruments that agents pay with, and the states they may be in. @module */
export { cardsArea } from './cards/card.contract.ts';
export { type CardOrigin, CardRow } from './cards/card.entity.ts';
export { noteTold, type OnActivated, storeIssuedCard } from './cards/card.issue.service.ts';
export { type CardView, cardProcessId, cardWorkflow, issueCard } from './cards/card.messages.ts';
export type { CardProcessor, CardUsage, IssuedCard } from './cards/card.port.ts';
export {
  type CardRecord,
  cardRefOf,
  findCard,
  listCards,
} from './cards/card.queries.ts';
export { prepareCard } from './cards/card.reserve.service.ts';
export { type CardDeps, cardHandlers } from './cards/card.routes.ts';
export { type CardCommand, type CardStatus, type FrozenBy, moveCard, nextCardStep } from './cards/card.rules.ts';
export {
  applyToCard,
  closeCardsOf,
  freezeCardsByPolicy,
  freezeCardsOf,
  lockCard,
  lockCardsOf,
  unfreezeCardsOf,
} from './cards/card.service.ts';
export { cardView, cardWire } from './cards/card.wire.ts';
export { isCoolingDown, narrowest, remaining } from './cards/card-policy.rules.ts';
export { type CardPolicyWire, type CardWire, cardOut } from './cards/card-shapes.contract.ts';
