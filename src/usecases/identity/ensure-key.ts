/**
 * Registers a key that configuration names, at every start and from several processes at once. Its owner is the given
 * one, or a new one where the key is new. A key that was revoked stays revoked.
 * @module
 */
import { type Database, isUniqueViolation } from '../../db/database.ts';
import { whyUnfitKey } from '../../domains/identity/keys/key.rules.ts';
import { type EnsuredKey, insertKey, keyOf } from '../../domains/identity/keys/key.service.ts';
import { type Id, newId } from '../../kernel/ids.ts';
import type { Cause } from '../../platform/cause.ts';
import { credentialKind, type Mode } from '../../platform/mode.ts';
import { hashSecret, hintOf } from '../../vault/secret-hash.ts';

type Given = { readonly mode: Mode; readonly at: Date; readonly ownerId?: Id<'owner'> };

export const ensureKey =
  ({ database }: { readonly database: Database }) =>
  async (apiKey: string, { mode, at, ownerId = newId('owner') }: Given): Promise<EnsuredKey> => {
    const unfit = whyUnfitKey(apiKey, mode, credentialKind(apiKey, mode) === 'key');
    if (unfit !== undefined) throw new Error(unfit);
    const secretHash = hashSecret(apiKey);
    const known = await keyOf(database.read(), secretHash);
    if (known !== undefined) return known;
    const row = {
      id: newId('key'),
      ownerId,
      secretHash,
      hint: hintOf(apiKey),
      label: 'from the configuration',
      createdAt: at,
      revokedAt: null,
    };
    const cause: Cause = { causeId: `ensure:${row.id}`, requestId: row.id, actor: { kind: 'system' }, at };
    try {
      await database.write((tx) => insertKey(tx, row, cause));
    } catch (error) {
      if (!isUniqueViolation(error, 'api_keys_secret')) throw error; // Another process was quicker: its row counts.
    }
    const ensured = await keyOf(database.read(), secretHash);
    if (ensured === undefined) throw new Error('the key of the configuration was not stored');
    return ensured;
  };
