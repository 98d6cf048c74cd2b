/** Answers the agent token operations: ask the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Tx } from '../../../db/tx.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import type { Mode } from '../../../platform/mode.ts';
import type { agentTokensArea } from './agent-token.contract.ts';
import { type ListedToken, tokensOfAgent, tokensOfOwner } from './agent-token.queries.ts';
import { createAgentToken, type LockAgent, revokeAgentToken } from './agent-token.service.ts';

export type AgentTokenDeps = {
  readonly database: Database;
  readonly mode: Mode;
  readonly lockAgent: LockAgent;
  /** Names of these agents, closed ones too; absent: the owner has no such agent. */
  readonly agentNames: (tx: Tx, ownerId: string, agentIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  readonly clearCredentialCache: () => void;
};

export const agentTokenHandlers = (deps: AgentTokenDeps): Handlers<typeof agentTokensArea> => {
  const { database, agentNames } = deps;
  return {
    createAgentToken: async ({ params, body, own: { ownerId } }, call) => {
      const order = { tokenId: call.newId('token'), ownerId, agentId: params.id, mode: deps.mode };
      const { label, scopes, expiresInDays } = body;
      const wanted = { ...order, label, scopes, expiresInDays };
      const { row, secret } = await inTransaction(deps, call, (tx, cause) =>
        createAgentToken(tx, deps.lockAgent, wanted, cause),
      );
      return {
        id: row.id,
        token: secret,
        agentId: row.agentId,
        label: row.label ?? null,
        scopes: row.scopes,
        expiresAt: row.expiresAt?.toISOString() ?? null,
        hint: row.hint,
      };
    },
    listAgentTokens: async ({ params, own }) =>
      (await tokensOfAgent(database.read(), own.ownerId, params.id)).map(wireOf),
    listAllAgentTokens: async ({ own }) => {
      const tokens = await tokensOfOwner(database.read(), own.ownerId);
      const agentIds = [...new Set(tokens.map(({ agentId }) => agentId))];
      const names = await agentNames(database.read(), own.ownerId, agentIds);
      return tokens.map((token) => ({ ...wireOf(token), agentName: names.get(token.agentId) ?? '' }));
    },
    revokeAgentToken: async ({ params, own: { ownerId } }, call) => {
      const name = { ownerId, agentId: params.id, tokenId: params.tokenId };
      await inTransaction(deps, call, (tx, cause) => revokeAgentToken(tx, name, cause));
      deps.clearCredentialCache();
      return { id: params.tokenId, revoked: true };
    },
  };
};

const wireOf = (token: ListedToken) => ({
  ...token,
  expiresAt: token.expiresAt?.toISOString() ?? null,
  createdAt: token.createdAt.toISOString(),
  lastUsedAt: token.lastUsedAt?.toISOString() ?? null,
  revokedAt: token.revokedAt?.toISOString() ?? null,
});
