/**
 * Changes what describes an agent and, in the same transaction, moves it as freeze, unfreeze or close would and gives
 * it another policy's rules.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { type AgentDeps, type AgentName, changeAgent, commandFor, ownedRow } from '../../domains/parties/index.ts';
import type { Cause } from '../../platform/cause.ts';
import { type CloseAgentCascade, closeAgentIn } from './close-agent.ts';
import { type FreezeAgentDeps, freezeAgentIn } from './freeze-agent.ts';
import { type UnfreezeAgentDeps, unfreezeAgentIn } from './unfreeze-agent.ts';

export type UpdateAgentDeps = CloseAgentCascade &
  FreezeAgentDeps &
  UnfreezeAgentDeps & {
    readonly database: Database;
    readonly forgetCredentials: () => void;
    /** Overwrites the agent's rules with those of the owner's policy; an unknown one is 400, its own no change. */
    readonly replaceRules: (tx: Tx, cause: Cause, to: AgentName & { readonly policyId: string }) => Promise<unknown>;
  };

type Change = Parameters<AgentDeps['updateAgent']>[1];

export const createUpdateAgent =
  (deps: UpdateAgentDeps) =>
  async (name: AgentName, { status, policyId, ...change }: Change, cause: Cause): Promise<void> => {
    await deps.database.write(async (tx) => {
      await changeAgent(tx, cause, name, change);
      const { status: from } = await ownedRow(tx, name.ownerId, name.agentId);
      const command = status === undefined ? undefined : commandFor(from, status);
      if (command === 'freeze') await freezeAgentIn(tx, cause, deps, name);
      if (command === 'unfreeze') await unfreezeAgentIn(tx, cause, deps, name);
      if (command === 'close') await closeAgentIn(tx, cause, deps, name);
      // Last, because cards are locked before the policy.
      if (policyId !== undefined) await deps.replaceRules(tx, cause, { ...name, policyId });
    });
    if (status === 'closed') deps.forgetCredentials();
  };
