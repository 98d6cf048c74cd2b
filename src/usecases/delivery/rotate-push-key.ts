/** Replaces the key that signs push messages. Devices keep theirs until they subscribe again. @module */
import type { Database } from '../../db/database.ts';
import { type PushKey, rotatePushKey as rotateIn } from '../../domains/delivery/push-subscriptions/push-key.service.ts';
import type { Cause } from '../../platform/cause.ts';
import type { Vault } from '../../vault/vault.ts';

type Deps = { readonly database: Database; readonly vault: Vault };

export const rotatePushKey =
  ({ database, vault }: Deps) =>
  (cause: Cause): Promise<PushKey> =>
    database.write((tx) => rotateIn(tx, vault, cause));
