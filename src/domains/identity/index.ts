/** The public face of identity: who is calling, and how keys and agent tokens come and go. @module */
import { AgentTokenRow } from './agent-tokens/agent-token.entity.ts';
import { KeyRow } from './keys/key.entity.ts';

export { agentTokensArea } from './agent-tokens/agent-token.contract.ts';
export { type AgentTokenDeps, agentTokenHandlers } from './agent-tokens/agent-token.routes.ts';
export { createAgentToken, type LockAgent, revokeTokensOf } from './agent-tokens/agent-token.service.ts';
export { type OpenCredentials, openCredentials } from './credentials/credentials.ts';
export { readDashboardSecrets } from './credentials/dashboard-secret.ts';
export { recordDashboardUse } from './credentials/dashboard-use.service.ts';
export { keysArea } from './keys/key.contract.ts';
export { type KeyDeps, keyHandlers } from './keys/key.routes.ts';
export { createKey, type EnsuredKey, ensureKey } from './keys/key.service.ts';
export { type Asserted, withAssertion } from './passkeys/assertion.service.ts';
export { ceremony, type Effect, type Matter, makeChallenge } from './passkeys/challenge.service.ts';
export { passkeysArea } from './passkeys/passkey.contract.ts';
export { enrolledPasskeys, lastGoneAt, type Passkey } from './passkeys/passkey.queries.ts';
export { type PasskeyDeps, passkeyHandlers } from './passkeys/passkey.routes.ts';
export { approvesFrom, mayAttest } from './passkeys/passkey.rules.ts';
export { revokePasskey } from './passkeys/passkey.service.ts';
export { requestChallenge } from './passkeys/passkey.wire.ts';
export { type RelyingParty, relyingPartyOf } from './passkeys/relying-party.ts';
export { AgentTokenRow, KeyRow };

export const identityEntities = [KeyRow, AgentTokenRow] as const;
