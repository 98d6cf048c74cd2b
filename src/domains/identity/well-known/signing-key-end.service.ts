/**
 * Ends signing keys: the rotation of an agent's key ends the former one after an overlap, a revocation ends a compromised
 * key at once. A key that has ended is not published and verifies nothing; the end is never postponed.
 * @module
 */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordAudit } from '../../../events/record.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import { moveBy, recordTransition } from '../../../platform/transitions.ts';
import type { Vault } from '../../../vault/vault.ts';
import { keyNamed, newestCheckpointKid, sealedKeyOfAgent } from './signing-key.queries.ts';
import type { KeyPurpose } from './signing-key.rules.ts';
import { ensureServiceKey, insertAgentKey, lockServiceKeys } from './signing-key.service.ts';

export type RotatedAgentKey = {
  readonly kid: string;
  readonly formerKid: string;
  /** Until when the former key is published. */
  readonly formerUntil: Date;
  /** False for a repeat of the request that rotated. */
  readonly isNew: boolean;
};

type Rotation = { readonly overlapMs: number; readonly now: Date };

/** The agent signs with the new key at once. The caller has locked the agent, which is open. */
export async function rotateAgentSigningKey(
  tx: Tx,
  vault: Vault,
  agentId: string,
  { overlapMs, now }: Rotation,
  cause: Cause,
): Promise<RotatedAgentKey> {
  const done = await moveBy(tx, 'agent_key', agentId, cause.causeId);
  if (done !== undefined) return repeated(tx, done.fromStatus ?? '', done.toStatus);
  const former = await sealedKeyOfAgent(tx, agentId);
  if (former === null)
    throw new DomainError('invalid_state', `agent ${agentId} has no signing key yet: switch requestSignatures on`);
  const formerUntil = new Date(now.getTime() + overlapMs);
  // Of earlier rotations too, whose overlap may be longer.
  await runSql(
    tx,
    `update signing_keys set ends_at = $2
     where agent_id = $1 and purpose = 'agent' and (ends_at is null or ends_at > $2)`,
    [agentId, formerUntil],
  );
  const { kid } = await insertAgentKey(tx, vault, agentId, now);
  await recordTransition(tx, 'agent_key', agentId, { from: former.kid, to: kid }, cause);
  return { kid, formerKid: former.kid, formerUntil, isNew: true };
}

/** This very request rotated before, and died before it answered. */
async function repeated(tx: Tx, formerKid: string, kid: string): Promise<RotatedAgentKey> {
  const former = await keyNamed(tx, formerKid);
  if (former?.endsAt == null) throw new Error(`the rotated key ${formerKid} has no end`);
  return { kid, formerKid, formerUntil: former.endsAt, isNew: false };
}

export type RevokedKey = {
  readonly kid: string;
  readonly purpose: KeyPurpose;
  readonly agentId: string | null;
  readonly revokedAt: Date;
  /** False where it had ended before. */
  readonly isNew: boolean;
};

/** A key of receipts and tokens that was the only one is replaced at once. Another repetition changes nothing. */
export async function revokeSigningKey(
  tx: Tx,
  vault: Vault,
  kid: string,
  { cause, now }: { readonly cause: Cause; readonly now: Date },
): Promise<RevokedKey> {
  await lockServiceKeys(tx);
  const key = await keyNamed(tx, kid);
  if (key === null) throw notFound('signing key', kid);
  const { purpose } = key;
  const agentId = key.agentId ?? null;
  if (key.endsAt != null && key.endsAt <= now) return { kid, purpose, agentId, revokedAt: key.endsAt, isNew: false };
  if (purpose === 'checkpoint' && kid === (await newestCheckpointKid(tx)))
    throw new DomainError(
      'invalid_state',
      'this key signs the checkpoints: replace BURSAR_SIGNING_KEY, restart the worker, and revoke it then',
    );
  await runSql(tx, 'update signing_keys set ends_at = $2 where kid = $1', [kid, now]);
  const details = { purpose, agentId };
  await recordAudit(tx, cause, { action: 'signing_keys.revoked', subjectId: kid, details });
  if (purpose === 'service') await ensureServiceKey(tx, vault, now);
  return { kid, purpose, agentId, revokedAt: now, isNew: true };
}
