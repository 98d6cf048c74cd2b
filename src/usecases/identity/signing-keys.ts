/** Makes, publishes, rotates and revokes the signing keys of the deployment, each in a separate transaction. @module */
import type { KeyObject } from 'node:crypto';
import type { Database } from '../../db/database.ts';
import {
  ensureServiceKey,
  publishCheckpointKey,
  type Rotated,
  rotateServiceKey,
} from '../../domains/identity/well-known/signing-key.service.ts';
import { type RevokedKey, revokeSigningKey } from '../../domains/identity/well-known/signing-key-end.service.ts';
import type { Cause } from '../../platform/cause.ts';
import type { Vault } from '../../vault/vault.ts';

export type SigningKeyDeps = { readonly database: Database; readonly vault: Vault };

/** For a process that signs or publishes: there is a key of receipts and tokens afterwards. */
export const ensureSigningKey =
  ({ database, vault }: SigningKeyDeps) =>
  (): Promise<void> =>
    database.write((tx) => ensureServiceKey(tx, vault));

export const rotateSigningKey =
  ({ database, vault }: SigningKeyDeps) =>
  (cause: Cause): Promise<Rotated> =>
    database.write((tx) => rotateServiceKey(tx, vault, cause));

/** Of any purpose. Throws for a key that does not exist, and for the one that signs checkpoints. */
export const revokeKey =
  ({ database, vault }: SigningKeyDeps) =>
  (kid: string, cause: Cause): Promise<RevokedKey> =>
    database.write((tx) => revokeSigningKey(tx, vault, kid, { cause, now: new Date() }));

/** Before the sealer signs with it. */
export const publishSealersKey =
  ({ database }: Pick<SigningKeyDeps, 'database'>) =>
  (key: KeyObject): Promise<void> =>
    database.write((tx) => publishCheckpointKey(tx, key));
