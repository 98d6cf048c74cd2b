/** Goal: a write that a caller names by id takes only an id that the edge has checked. Method: compiled, never run. @module */
import type { Tx } from '../../src/db/tx.ts';
import { revokeCardRequest } from '../../src/domains/cards/card-requests/card-request.service.ts';
import { changeCardDetails } from '../../src/domains/cards/cards/card.change.service.ts';
import { deleteWebhook } from '../../src/domains/delivery/webhooks/webhook.service.ts';
import { revokeAgentToken } from '../../src/domains/identity/agent-tokens/agent-token.service.ts';
import { updateCustomer } from '../../src/domains/parties/customers/customer.service.ts';
import { noteOn } from '../../src/domains/payments/transactions/transaction.service.ts';
import { revokeIntent } from '../../src/domains/spending/intents/intent.service.ts';
import { deleteTemplate } from '../../src/domains/spending/policies/policy.service.ts';
import { closeWallet } from '../../src/domains/treasury/wallets/wallet.service.ts';
import { newId } from '../../src/kernel/ids.ts';
import type { Cause } from '../../src/platform/cause.ts';

export function uncheckedIds(tx: Tx, cause: Cause): Promise<unknown>[] {
  const ownerId = newId('owner');
  const cancel = { kind: 'cancel' } as const;
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
  ];
}
