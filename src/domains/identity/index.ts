/** The public face of identity: who is calling, and how keys and agent tokens come and go. @module */
import { AgentTokenRow } from './agent-tokens/agent-token.entity.ts';
import { KeyRow } from './keys/key.entity.ts';

export { agentTokensArea } from './agent-tokens/agent-token.contract.ts';
export { agentTokenHandlers } from './agent-tokens/agent-token.routes.ts';
export { revokeTokensOf } from './agent-tokens/agent-token.service.ts';
export { purgeAuditAddresses, recordDashboardUse, recordRefusedAccess } from './credentials/access-audit.service.ts';
export { type OpenCredentials, openCredentials } from './credentials/credentials.ts';
export { keysArea } from './keys/key.contract.ts';
export { keyHandlers } from './keys/key.routes.ts';
export { ensureKey } from './keys/key.service.ts';
export { withAssertion } from './passkeys/assertion.service.ts';
export { type AskedBy, ceremony, type Matter, makeChallenge } from './passkeys/challenge.service.ts';
export { passkeysArea } from './passkeys/passkey.contract.ts';
export { enrolledPasskeys, lastGoneAt, type Passkey } from './passkeys/passkey.queries.ts';
export { passkeyHandlers } from './passkeys/passkey.routes.ts';
export { approvesFrom, mayAttest } from './passkeys/passkey.rules.ts';
export { requestChallenge } from './passkeys/passkey.wire.ts';
export { type RelyingParty, relyingPartyOf } from './passkeys/relying-party.ts';

export const identityEntities = [KeyRow, AgentTokenRow] as const;
