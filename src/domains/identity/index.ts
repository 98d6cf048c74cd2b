/** The public interface of identity: callers, keys, agent tokens, passkeys and approvals. @module */

export { mintSecret } from './credentials/secret.ts';
