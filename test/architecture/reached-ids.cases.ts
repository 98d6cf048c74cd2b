/** Goal: a write that a caller names by id takes only an id that the edge has checked. Method: compiled, never run. @module */
import type { Tx } from '../../src/db/tx.ts';
import { revokeCardRequest } from '../../src/domains/cards/card-requests/card-request.service.ts';
import { changeCardDetails, changeCardLimits } from '../../src/domains/cards/cards/card.change.service.ts';
import { prepareFurtherCard } from '../../src/domains/cards/cards/card.further.service.ts';
import { movePrimaryCard, preparePrimaryRotation } from '../../src/domains/cards/cards/card.primary.service.ts';
import { prepareRotation } from '../../src/domains/cards/cards/card.rotate.service.ts';
import { moveNamedCard } from '../../src/domains/cards/cards/card.service.ts';
import { deleteWebhook } from '../../src/domains/delivery/webhooks/webhook.service.ts';
import { revokeAgentToken } from '../../src/domains/identity/agent-tokens/agent-token.service.ts';
import { changeAgent, moveAgentRow } from '../../src/domains/parties/agents/agent.service.ts';
import { updateCustomer } from '../../src/domains/parties/customers/customer.service.ts';
import { noteOn } from '../../src/domains/payments/transactions/transaction.service.ts';
import { revokeIntent } from '../../src/domains/spending/intents/intent.service.ts';
import { applyRules, changePolicy, deleteTemplate } from '../../src/domains/spending/policies/policy.service.ts';
import { closeWallet } from '../../src/domains/treasury/wallets/wallet.service.ts';
import { newId } from '../../src/kernel/ids.ts';
import type { Cause } from '../../src/platform/cause.ts';

export function uncheckedIds(tx: Tx, cause: Cause): Promise<unknown>[] {
  const ownerId = newId('owner');
  const cancel = { kind: 'cancel' } as const;
  const freeze = { kind: 'freeze', by: 'card' } as const;
  return [
    // @ts-expect-error An id that no edge has checked.
    revokeCardRequest(tx, { id: newId('cardRequest'), ownerId }, cancel, cause),
    // @ts-expect-error An id that no edge has checked.
    changeCardDetails(tx, cause, { cardId: newId('card'), ownerId }, {}),
    // @ts-expect-error An id that no edge has checked.
    deleteWebhook(tx, { id: newId('webhook'), ownerId }, cause),
    // @ts-expect-error An id that no edge has checked.
    revokeAgentToken(tx, { ownerId, agentId: newId('agent'), tokenId: newId('token') }, cause),
    // @ts-expect-error An id that no edge has checked.
    updateCustomer(tx, 'sandbox', { id: newId('customer'), ownerId }, cause),
    // @ts-expect-error An id that no edge has checked.
    noteOn(tx, { id: newId('transaction'), ownerId }, null, cause),
    // @ts-expect-error An id that no edge has checked.
    revokeIntent(tx, { id: newId('intent'), ownerId }, cancel, cause),
    // @ts-expect-error An id that no edge has checked.
    deleteTemplate(tx, cause, { id: newId('policy'), ownerId }),
    // @ts-expect-error An id that no edge has checked.
    closeWallet(tx, cause, { ownerId, walletId: newId('wallet') }),
    // @ts-expect-error An id that no edge has checked.
    changeCardLimits(tx, cause, { cardId: newId('card'), ownerId }, {}),
    // @ts-expect-error An id that no edge has checked.
    moveNamedCard(tx, { cardId: newId('card'), ownerId }, freeze, cause),
    // @ts-expect-error An id that no edge has checked.
    movePrimaryCard(tx, { agentId: newId('agent'), ownerId }, freeze, cause),
    // @ts-expect-error An id that no edge has checked.
    prepareRotation(tx, cause, { newId: newId('card'), cardId: newId('card'), ownerId }),
    // @ts-expect-error An id that no edge has checked.
    preparePrimaryRotation(tx, cause, { newId: newId('card'), agentId: newId('agent'), ownerId }),
    // @ts-expect-error An id that no edge has checked.
    prepareFurtherCard(tx, cause, { cardId: newId('card'), ownerId, agentId: newId('agent'), usage: 'multi' }),
    // @ts-expect-error An id that no edge has checked.
    changePolicy(tx, cause, { agentId: newId('agent'), ownerId }, {}),
    // @ts-expect-error An id that no edge has checked.
    applyRules(tx, cause, { agentId: newId('agent'), ownerId }, { presetId: 'strict' }),
    // @ts-expect-error An id that no edge has checked.
    moveAgentRow(tx, cause, { agentId: newId('agent'), ownerId }, { command: 'freeze' }),
    // @ts-expect-error An id that no edge has checked.
    changeAgent(tx, cause, { agentId: newId('agent'), ownerId }, {}),
  ];
}
