/** Answers the API key operations: ask the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Call, Own } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Mode } from '../../../platform/mode.ts';
import type { keysArea } from './key.contract.ts';
import { liveKeysOf } from './key.queries.ts';
import { assertOwnerNamed, createKey, keyOfCaller, ownerOfKeys, revokeKey } from './key.service.ts';

export type KeyDeps = {
  readonly database: Database;
  readonly mode: Mode;
  /** After a revocation: this process forgets at once, the others hear of it. */
  readonly clearCredentialCache: () => void;
};

export const keyHandlers = (deps: KeyDeps): Handlers<typeof keysArea> => {
  const { database, mode, clearCredentialCache } = deps;
  const revoke = async ({ params, own }: { params: { id: Id<'key'> }; own: Own }, call: Call) => {
    await inTransaction(deps, call, (tx, cause) => revokeKey(tx, own.ownerId, params.id, cause));
    clearCredentialCache();
    return { id: params.id, revoked: true } as const;
  };
  return {
    createKey: async ({ body }, call) => {
      const keyId = call.newId('key');
      const ownerId = ownerOfKeys(call.caller, body.ownerId) ?? call.newId('owner');
      const wanted = { keyId, ownerId, label: body.label, mode };
      const { row, secret } = await inTransaction(deps, call, (tx, cause) => createKey(tx, wanted, cause));
      return { id: row.id, key: secret, ownerId, label: row.label ?? null, hint: row.hint };
    },
    listKeys: async ({ query }, call) => {
      const ownerId = assertOwnerNamed(ownerOfKeys(call.caller, query.ownerId));
      const current = keyOfCaller(call.caller);
      const keys = await liveKeysOf(database.read(), ownerId);
      return keys.map((key) => ({
        id: key.id,
        label: key.label,
        createdAt: key.createdAt.toISOString(),
        hint: key.hint,
        isCurrent: key.id === current,
      }));
    },
    revokeKeyByDelete: revoke,
    revokeKey: revoke,
  };
};
