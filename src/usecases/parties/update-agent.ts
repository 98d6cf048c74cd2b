/**
 * Changes descriptive fields of an agent and, in the same transaction, its status (as freeze, unfreeze or close do) and
 * the rules of its policy. The key of an agent that is to sign its requests is made here, so that merchants can read it
 * before the first signature.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { agentSigningKey } from '../../domains/identity/well-known/signing-key.service.ts';
import type { AgentDeps, ReachedAgent } from '../../domains/parties/agents/agent.routes.ts';
import { commandFor } from '../../domains/parties/agents/agent.rules.ts';
import { changeAgent, ownedRow } from '../../domains/parties/agents/agent.service.ts';
import { replaceRules } from '../../domains/spending/policies/policy.service.ts';
import type { Cause } from '../../platform/cause.ts';
import type { Vault } from '../../vault/vault.ts';
import { closeAgentIn } from './close-agent.ts';
import { freezeAgentIn } from './freeze-agent.ts';
import { unfreezeAgentIn } from './unfreeze-agent.ts';

type Deps = { readonly database: Database; readonly vault: Vault; readonly clearCredentialCache: () => void };

type Change = Parameters<AgentDeps['updateAgent']>[1];

export const updateAgent =
  ({ database, vault, clearCredentialCache }: Deps) =>
  async (name: ReachedAgent, { status, policyId, ...change }: Change, cause: Cause): Promise<void> => {
    await database.write(async (tx) => {
      await changeAgent(tx, cause, name, change);
      if (signs(change.requestSignatures)) await agentSigningKey(tx, vault, name, cause);
      const { status: from } = await ownedRow(tx, name);
      const command = status === undefined ? undefined : commandFor(from, status);
      if (command === 'freeze') await freezeAgentIn(tx, cause, name);
      if (command === 'unfreeze') await unfreezeAgentIn(tx, cause, name);
      if (command === 'close') await closeAgentIn(tx, cause, name);
      // Last, because cards are locked before the policy.
      if (policyId !== undefined) await replaceRules(tx, cause, { ...name, policyId });
    });
    if (status === 'closed') clearCredentialCache();
  };

const signs = (wanted: Change['requestSignatures']): boolean => wanted !== undefined && wanted !== 'none';
