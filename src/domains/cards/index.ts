/** The public interface of cards. @module */

export { changeCardLimits } from './cards/card.change.service.ts';
export { cardsArea } from './cards/card.contract.ts';
export { CardRow } from './cards/card.entity.ts';
export { prepareFurtherCard } from './cards/card.further.service.ts';
export { markSynced, type OnActivated, storeIssuedCard } from './cards/card.issue.service.ts';
export { type CardView, cardWorkflowId, issueCard } from './cards/card.messages.ts';
export type { CardProcessor } from './cards/card.port.ts';
export { type CardRecord, cardRefOf, cardsInPlan, findCard } from './cards/card.queries.ts';
export { prepareCard } from './cards/card.reserve.service.ts';
export { nextCardStep } from './cards/card.rules.ts';
export {
  applyToCard,
  closeCardsOf,
  freezeCardsByPolicy,
  freezeCardsOf,
  lockCardsOf,
  unfreezeCardsOf,
} from './cards/card.service.ts';
export { cardView } from './cards/card.wire.ts';
export { isCoolingDown, narrowest, remaining } from './cards/card-policy.rules.ts';
export type { CardPolicyWire } from './cards/card-shapes.contract.ts';
