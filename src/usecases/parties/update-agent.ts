/**
 * Changes descriptive fields of an agent and, in the same transaction, its status (as freeze, unfreeze or close do) and
 * the rules of its policy.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { type AgentDeps, type AgentName, changeAgent, commandFor, ownedRow } from '../../domains/parties/index.ts';
import { replaceRules } from '../../domains/spending/policies/index.ts';
import type { Cause } from '../../platform/cause.ts';
import { closeAgentIn } from './close-agent.ts';
import { freezeAgentIn } from './freeze-agent.ts';
import { unfreezeAgentIn } from './unfreeze-agent.ts';

type Deps = { readonly database: Database; readonly clearCredentialCache: () => void };

type Change = Parameters<AgentDeps['updateAgent']>[1];

export const updateAgent =
  ({ database, clearCredentialCache }: Deps) =>
  async (name: AgentName, { status, policyId, ...change }: Change, cause: Cause): Promise<void> => {
    await database.write(async (tx) => {
      await changeAgent(tx, cause, name, change);
      const { status: from } = await ownedRow(tx, name.ownerId, name.agentId);
      const command = status === undefined ? undefined : commandFor(from, status);
      if (command === 'freeze') await freezeAgentIn(tx, cause, name);
      if (command === 'unfreeze') await unfreezeAgentIn(tx, cause, name);
      if (command === 'close') await closeAgentIn(tx, cause, name);
      // Last, because cards are locked before the policy.
      if (policyId !== undefined) await replaceRules(tx, cause, { ...name, policyId });
    });
    if (status === 'closed') clearCredentialCache();
  };
