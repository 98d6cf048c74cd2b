/**
 * The approver's link of an intent that waits for a person: 128 random bits of its own, kept as a hash to find it by
 * and sealed to show it again. Whoever has it may look and deny; it approves nothing.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { rows, type Tx } from '../../../db/tx.ts';
import { hashSecret } from '../../../vault/secret-hash.ts';
import type { Vault } from '../../../vault/vault.ts';

export type ApprovalLinks = {
  /** In the transaction that makes the intent. */
  open(tx: Tx, intentId: string, at: Date): Promise<void>;
  /** Where a person decides each of these, by intent id; one that never waited has none. */
  urlsOf(tx: Tx, intentIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
};

export const createApprovalLinks = ({ vault, publicUrl }: { vault: Vault; publicUrl: string }): ApprovalLinks => ({
  open: async (tx, intentId, at) => {
    const token = randomBytes(tokenBytes).toString('hex');
    await rows(
      tx,
      'insert into approval_links (token_hash, intent_id, sealed_token, created_at) values ($1, $2, $3, $4)',
      [hashSecret(token), intentId, await vault.seal(token, contextOf(intentId)), at],
    );
  },
  urlsOf: async (tx, intentIds) => {
    if (intentIds.length === 0) return new Map();
    const found = await rows<{ intentId: string; sealed: string }>(
      tx,
      'select intent_id as "intentId", sealed_token as sealed from approval_links where intent_id = any($1::text[])',
      [[...intentIds]],
    );
    const opened = found.map(async ({ intentId, sealed }): Promise<[string, string]> => {
      const token = await vault.open(sealed, contextOf(intentId));
      return [intentId, `${publicUrl.replace(/\/$/, '')}/approve/${token}`];
    });
    return new Map(await Promise.all(opened));
  },
});

/** Which intent a link is for; undefined for anything that is none. */
export async function intentBehind(tx: Tx, token: string): Promise<string | undefined> {
  if (!tokenForm.test(token)) return undefined;
  const [found] = await rows<{ intentId: string }>(
    tx,
    'select intent_id as "intentId" from approval_links where token_hash = $1',
    [hashSecret(token)],
  );
  return found?.intentId;
}

const tokenBytes = 16;
/** Long enough not to be repeated by a refusal, see http/echo.ts. */
const tokenForm = /^[0-9a-f]{32}$/;

const contextOf = (intentId: string): string => `approval/${intentId}`;
