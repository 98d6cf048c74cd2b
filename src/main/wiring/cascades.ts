/** What a revoking command on an agent takes with it, as the domains offer it. @module */
import { closeCardsOf, freezeCardsOf, unfreezeCardsOf } from '../../domains/cards/index.ts';
import { cancelIntentsOf } from '../../domains/spending/intents/index.ts';
import { removePolicyOf } from '../../domains/spending/policies/index.ts';

export const cascades = { freezeCardsOf, unfreezeCardsOf, closeCardsOf, cancelIntentsOf, removePolicyOf };
