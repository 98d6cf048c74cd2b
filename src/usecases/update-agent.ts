/** Changes what describes an agent and, in the same transaction, moves it as freeze, unfreeze or close would. @module */
import type { Database } from '../db/database.ts';
import {
  type AgentChange,
  type AgentName,
  type AgentStatus,
  changeAgent,
  commandFor,
  ownedRow,
} from '../domains/parties/index.ts';
import type { Cause } from '../platform/cause.ts';
import { type CloseAgentCascade, closeAgentIn } from './close-agent.ts';
import { type FreezeAgentDeps, freezeAgentIn } from './freeze-agent.ts';
import { type UnfreezeAgentDeps, unfreezeAgentIn } from './unfreeze-agent.ts';

export type UpdateAgentDeps = CloseAgentCascade &
  FreezeAgentDeps &
  UnfreezeAgentDeps & { readonly database: Database; readonly forgetCredentials: () => void };

type Change = AgentChange & { readonly status?: AgentStatus | undefined };

export const createUpdateAgent =
  (deps: UpdateAgentDeps) =>
  async (name: AgentName, { status, ...change }: Change, cause: Cause): Promise<void> => {
    await deps.database.write(async (tx) => {
      await changeAgent(tx, cause, name, change);
      const { status: from } = await ownedRow(tx, name.ownerId, name.agentId);
      const command = status === undefined ? undefined : commandFor(from, status);
      if (command === 'freeze') await freezeAgentIn(tx, cause, deps, name);
      if (command === 'unfreeze') await unfreezeAgentIn(tx, cause, deps, name);
      if (command === 'close') await closeAgentIn(tx, cause, deps, name);
    });
    if (status === 'closed') deps.forgetCredentials();
  };
