/**
 * Closes an agent for good in one transaction: tokens revoked, open intents and pending card requests
 * cancelled, cards closed, policy removed, its available money returned to the wallet that it came from, or to the default one where that is closed. Held money
 * is returned when its hold ends.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import {
  cancelCardRequestsOf,
  lockPendingCardRequestsOf,
} from '../../domains/cards/card-requests/card-request.cancel.service.ts';
import { closeCardsOf } from '../../domains/cards/cards/card.service.ts';
import { revokeTokensOf } from '../../domains/identity/agent-tokens/agent-token.service.ts';
import type { AgentRow } from '../../domains/parties/agents/agent.entity.ts';
import type { ReachedAgent } from '../../domains/parties/agents/agent.routes.ts';
import type { AgentStatus } from '../../domains/parties/agents/agent.rules.ts';
import { moveAgentRow } from '../../domains/parties/agents/agent.service.ts';
import { revokeCredentialsOf } from '../../domains/payments/mpp-credentials/mpp-credential.service.ts';
import { cancelIntentsOf } from '../../domains/spending/intents/intent.cancel.service.ts';
import { removePolicyOf } from '../../domains/spending/policies/policy.service.ts';
import { agentBudget, available, wallet } from '../../domains/treasury/ledger/account.rules.ts';
import { agentReturn } from '../../domains/treasury/ledger/ledger.rules.ts';
import { lockAccounts, postNew } from '../../domains/treasury/ledger/ledger.service.ts';
import { walletToReturnTo } from '../../domains/treasury/wallets/wallet.service.ts';
import { newId } from '../../kernel/ids.ts';
import type { Cause } from '../../platform/cause.ts';

type Deps = {
  readonly database: Database;
  /** This process drops the tokens from its cache at once; the other processes are notified. */
  readonly clearCredentialCache: () => void;
};

export const closeAgent =
  ({ database, clearCredentialCache }: Deps) =>
  async (name: ReachedAgent, cause: Cause): Promise<AgentStatus> => {
    const status = await database.write((tx) => closeAgentIn(tx, cause, name));
    clearCredentialCache();
    return status;
  };

/** Use when the close is a part of another transaction. */
export async function closeAgentIn(tx: Tx, cause: Cause, name: ReachedAgent): Promise<AgentStatus> {
  await lockPendingCardRequestsOf(tx, name);
  const { row, outcome } = await moveAgentRow(tx, cause, name, { command: 'close' });
  if (outcome === 'already') return row.status;
  await revokeTokensOf(tx, cause, name.agentId);
  await closeCardsOf(tx, cause, name.agentId);
  await removePolicyOf(tx, cause, name.agentId);
  await revokeCredentialsOf(tx, await cancelIntentsOf(tx, cause, name.agentId), cause);
  await cancelCardRequestsOf(tx, cause, name);
  await returnAgentMoney(tx, cause, row);
  return row.status;
}

async function returnAgentMoney(tx: Tx, cause: Cause, { ownerId, id: agentId, ...agent }: AgentRow): Promise<void> {
  const walletId = await walletToReturnTo(tx, ownerId, agent.walletId);
  const budget = available(agentBudget(agentId));
  const locked = await lockAccounts(tx, cause, ownerId, [budget, available(wallet(walletId))]);
  const amountCents = locked[budget] ?? 0;
  if (amountCents === 0) return;
  await postNew(tx, cause, [
    {
      id: newId('journal'),
      ownerId,
      agentId,
      kind: 'agent_return',
      referenceType: 'fund',
      referenceId: agentId,
      cause: `agent-return:${agentId}`,
      postings: agentReturn({ walletId, agentId, amountCents }),
    },
  ]);
}
