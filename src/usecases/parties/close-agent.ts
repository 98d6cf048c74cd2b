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
import { closeCardsOf } from '../../domains/cards/index.ts';
import { revokeTokensOf } from '../../domains/identity/index.ts';
import { type AgentName, type AgentRow, type AgentStatus, moveAgentRow } from '../../domains/parties/index.ts';
import { cancelIntentsOf } from '../../domains/spending/intents/index.ts';
import { removePolicyOf } from '../../domains/spending/policies/index.ts';
import {
  agentBudget,
  agentReturn,
  available,
  lockAccounts,
  postNew,
  wallet,
  walletToReturnTo,
} from '../../domains/treasury/index.ts';
import { newId } from '../../kernel/ids.ts';
import type { Cause } from '../../platform/cause.ts';

type Deps = {
  readonly database: Database;
  /** This process drops the tokens from its cache at once; the other processes are notified. */
  readonly clearCredentialCache: () => void;
};

export const closeAgent =
  ({ database, clearCredentialCache }: Deps) =>
  async (name: AgentName, cause: Cause): Promise<AgentStatus> => {
    const status = await database.write((tx) => closeAgentIn(tx, cause, name));
    clearCredentialCache();
    return status;
  };

/** Use when the close is a part of another transaction. */
export async function closeAgentIn(tx: Tx, cause: Cause, name: AgentName): Promise<AgentStatus> {
  await lockPendingCardRequestsOf(tx, name);
  const { row, outcome } = await moveAgentRow(tx, cause, name, { command: 'close' });
  if (outcome === 'already') return row.status;
  await revokeTokensOf(tx, cause, name.agentId);
  await closeCardsOf(tx, cause, name.agentId);
  await removePolicyOf(tx, cause, name.agentId);
  await cancelIntentsOf(tx, cause, name.agentId);
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
