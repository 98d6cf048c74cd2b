/**
 * With what the requests to merchants are signed for an agent: nothing, or the agent's own key. Read for each request,
 * so that an owner's change holds at once. The key is opened here and never returned.
 * @module
 */
import type { Database } from '../../db/database.ts';
import {
  agentSigningKey,
  openAgentKey,
  type SigningAgent,
  type SigningKey,
  signBytes,
} from '../../domains/identity/well-known/signing-key.service.ts';
import { signingAgent } from '../../domains/parties/agents/agent.queries.ts';
import { profilesOf } from '../../domains/parties/agents/agent.rules.ts';
import { newId } from '../../kernel/ids.ts';
import { createRequestSigner, type RequestSigner } from '../../outbound/request-signer.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Vault } from '../../vault/vault.ts';

type Deps = {
  readonly database: Database;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly publicUrl: string;
};

/** Undefined where the requests of the agent are not signed. */
export type SignerOfAgent = (agentId: string) => Promise<RequestSigner | undefined>;

export const signerOfAgent =
  (deps: Deps): SignerOfAgent =>
  async (agentId) => {
    const { database, vault, publicUrl } = deps;
    const agent = await signingAgent(database.read(), agentId);
    const profiles = profilesOf(agent?.requestSignatures ?? 'none');
    if (agent === null || profiles.length === 0) return undefined;
    const key = (await openAgentKey(database.read(), vault, agentId)) ?? (await madeKey(deps, { ...agent, agentId }));
    const keySetUrl = `${publicUrl}/.well-known/agents/${agentId}/jwks.json`;
    return createRequestSigner({ profiles, keySetUrl, keyid: key.kid, sign: (bytes) => signBytes(key, bytes) });
  };

/** Committed before the first signature leaves: a merchant that reads the set finds the key. */
async function madeKey({ database, clock, vault }: Deps, { ownerId, agentId }: SigningAgent): Promise<SigningKey> {
  const id = newId('audit');
  const cause = {
    causeId: `agent-key:${id}`,
    requestId: id,
    actor: { kind: 'system' },
    at: await clock.now(),
  } as const;
  return database.write((tx) => agentSigningKey(tx, vault, { ownerId, agentId }, cause));
}
