/**
 * Closes an agent for good in one transaction: tokens revoked, open intents cancelled, cards closed, policy removed,
 * its available money back in the wallet that it was given from, or in the default one where that is closed. What is held
 * goes back as its holds end.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { revokeTokensOf } from '../../domains/identity/index.ts';
import { type AgentName, type AgentRow, type AgentStatus, moveAgentRow } from '../../domains/parties/index.ts';
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
import type { AgentCascade } from './freeze-agent.ts';

export type CloseAgentCascade = {
  /** Its cards become closed. */
  readonly closeCardsOf: AgentCascade;
  /** Its open intents become cancelled; one that is matched runs its course. */
  readonly cancelIntentsOf: AgentCascade;
  /** Its own policy is removed. */
  readonly removePolicyOf: AgentCascade;
};

export type CloseAgentDeps = CloseAgentCascade & {
  readonly database: Database;
  /** This process forgets the tokens at once; the others hear of it. */
  readonly forgetCredentials: () => void;
};

export const createCloseAgent = (deps: CloseAgentDeps) => async (name: AgentName, cause: Cause) => {
  const status = await deps.database.write((tx) => closeAgentIn(tx, cause, deps, name));
  deps.forgetCredentials();
  return status;
};

export async function closeAgentIn(
  tx: Tx,
  cause: Cause,
  cascade: CloseAgentCascade,
  name: AgentName,
): Promise<AgentStatus> {
  const { row, outcome } = await moveAgentRow(tx, cause, name, { command: 'close' });
  if (outcome === 'already') return row.status;
  await revokeTokensOf(tx, cause, name.agentId);
  await cascade.closeCardsOf(tx, cause, name.agentId);
  await cascade.removePolicyOf(tx, cause, name.agentId);
  await cascade.cancelIntentsOf(tx, cause, name.agentId);
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
