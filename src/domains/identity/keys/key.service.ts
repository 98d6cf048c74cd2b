/**
 * Creates and revokes API keys, in the caller's transaction with their events. Only the caller of `createKey` ever sees the
 * secret.
 * @module
 */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { Caller } from '../../../http/caller.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { type Mode, newKeyPrefix } from '../../../platform/mode.ts';
import { mintSecret } from '../credentials/secret.ts';
import { KeyRow } from './key.entity.ts';
import { lockLiveKeys } from './key.queries.ts';
import { ownerOfNewKey, revokeKey as revokeRule } from './key.rules.ts';

type NewKey = {
  readonly keyId: Id<'key'>;
  readonly ownerId: Id<'owner'>;
  readonly label: string | undefined;
  readonly mode: Mode;
};

/** The owner whose keys the call creates or lists. Undefined: the dashboard named none. */
export function ownerOfKeys(caller: Caller, wanted: Id<'owner'> | undefined): Id<'owner'> | undefined {
  const acting = 'ownerId' in caller ? caller.ownerId : undefined;
  const choice = ownerOfNewKey({ acting, isDashboard: caller.kind === 'dashboard', wanted });
  if (choice.kind === 'refused') throw new DomainError(choice.code, choice.why);
  return choice.kind === 'owner' ? choice.ownerId : undefined;
}

export function assertOwnerNamed(ownerId: Id<'owner'> | undefined): Id<'owner'> {
  if (ownerId !== undefined) return ownerId;
  throw new DomainError('invalid_request', 'name the owner in the header X-Owner-Id');
}

/** The key that the call was made with. */
export const keyOfCaller = (caller: Caller): Id<'key'> | undefined =>
  caller.kind === 'key' ? caller.keyId : undefined;

export type CreatedKey = { readonly row: KeyRow; readonly secret: string };

export async function createKey(tx: Tx, { keyId, ownerId, label, mode }: NewKey, cause: Cause): Promise<CreatedKey> {
  const { secret, hash, hint } = mintSecret(newKeyPrefix(mode));
  const known = await tx.findOne(KeyRow, { id: keyId, ownerId });
  if (known !== null) return { row: renewed(known, hash, hint), secret };
  const row = {
    id: keyId,
    ownerId,
    secretHash: hash,
    hint,
    label: label ?? null,
    createdAt: cause.at,
    revokedAt: null,
  };
  await assertBelowLimit(tx, 'keys', { ownerId, subject: ownerId, at: cause.at });
  await insertKey(tx, row, cause);
  return { row, secret };
}

/** This very request made the key before, and died before it could show the secret: that one is void. */
function renewed(row: KeyRow, secretHash: string, hint: string): KeyRow {
  if (row.revokedAt != null) throw new DomainError('invalid_state', `key ${row.id} was revoked meanwhile`);
  return Object.assign(row, { secretHash, hint });
}

export async function revokeKey(tx: Tx, ownerId: Id<'owner'>, keyId: Id<'key'>, cause: Cause): Promise<void> {
  // All live keys are locked, so that two revocations at once cannot take the last two.
  const live = await lockLiveKeys(tx, ownerId);
  const key = live.find(({ id }) => id === keyId);
  if (key === undefined && (await tx.findOne(KeyRow, { id: keyId, ownerId })) === null) throw notFound('key', keyId);
  const move = revokeRule(key === undefined ? 'revoked' : 'live', live.length);
  if (move.outcome === 'refused') throw new DomainError('invalid_state', move.why);
  if (move.outcome === 'already' || key === undefined) return;
  await runSql(tx, 'update api_keys set revoked_at = $2 where id = $1', [keyId, cause.at]);
  const data = { id: keyId, ownerId, status: 'revoked' };
  await recordChanges(tx, cause, [{ event: 'api_key.revoked', ownerId, subjectId: keyId, data }]);
}

export type EnsuredKey = { readonly ownerId: Id<'owner'>; readonly keyId: Id<'key'>; readonly isLive: boolean };

export async function insertKey(tx: Tx, row: Omit<KeyRow, never>, cause: Cause): Promise<void> {
  await tx.insert(KeyRow, row);
  const data = { id: row.id, ownerId: row.ownerId, status: 'live' };
  await recordChanges(tx, cause, [{ event: 'api_key.created', ownerId: row.ownerId, subjectId: row.id, data }]);
}

/** Whether it is live or revoked. */
export async function keyOf(tx: Tx, secretHash: string): Promise<EnsuredKey | undefined> {
  const row = await tx.findOne(KeyRow, { secretHash });
  return row === null ? undefined : { ownerId: row.ownerId, keyId: row.id, isLive: row.revokedAt == null };
}
