/** The public interface of identity: callers, keys, agent tokens, passkeys and approvals. @module */

export { agentTokensArea } from './agent-tokens/agent-token.contract.ts';
export { revokeTokensOf } from './agent-tokens/agent-token.service.ts';
export { purgeAuditAddresses, recordDashboardUse, recordRefusedAccess } from './credentials/access-audit.service.ts';
export { type OpenCredentials, openCredentials } from './credentials/credentials.ts';
export { keysArea } from './keys/key.contract.ts';
export type { Matter } from './passkeys/challenge.service.ts';
export { passkeysArea } from './passkeys/passkey.contract.ts';
export { enrolledPasskeys, lastGoneAt, type Passkey } from './passkeys/passkey.queries.ts';
export { approvesFrom } from './passkeys/passkey.rules.ts';
export { type RelyingParty, relyingPartyOf } from './passkeys/relying-party.ts';
