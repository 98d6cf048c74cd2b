/**
 * The approver's link of a record that waits for a person: a token of 128 random bits, stored as a hash to find the
 * record and sealed to show the link again. The link alone shows and denies; it approves nothing.
 * @module
 */
import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { firstRowOf, rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { hashSecret } from '../../../vault/secret-hash.ts';
import type { Vault } from '../../../vault/vault.ts';

export type ApprovalLinks = {
  /** Inside the transaction that creates the record. */
  open(tx: Tx, subjectId: string, at: Date): Promise<void>;
  /** The approver's page of each record, by record id; a record that never waited has none. */
  urlsOf(tx: Tx, subjectIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
};

export const createApprovalLinks = ({ vault, publicUrl }: { vault: Vault; publicUrl: string }): ApprovalLinks => ({
  open: async (tx, subjectId, at) => {
    const token = randomBytes(tokenBytes).toString('hex');
    await runSql(
      tx,
      'insert into approval_links (token_hash, subject_id, sealed_token, created_at) values ($1, $2, $3, $4)',
      [hashSecret(token), subjectId, await vault.seal(token, contextOf(subjectId)), at],
    );
  },
  urlsOf: async (tx, subjectIds) => {
    if (subjectIds.length === 0) return new Map();
    const found = await rowsOf(
      tx,
      z.object({ subjectId: z.string(), sealed: z.string() }),
      'select subject_id as "subjectId", sealed_token as sealed from approval_links where subject_id = any($1::text[])',
      [[...subjectIds]],
    );
    const opened = found.map(async ({ subjectId, sealed }): Promise<[string, string]> => {
      const token = await vault.open(sealed, contextOf(subjectId));
      return [subjectId, `${publicUrl.replace(/\/$/, '')}/approve/${token}`];
    });
    return new Map(await Promise.all(opened));
  },
});

/** The id of the record that a link is for; undefined for an unknown link. */
export async function subjectBehind(tx: Tx, token: string): Promise<string | undefined> {
  if (!tokenForm.test(token)) return undefined;
  const found = await firstRowOf(
    tx,
    z.object({ subjectId: z.string() }),
    'select subject_id as "subjectId" from approval_links where token_hash = $1',
    [hashSecret(token)],
  );
  return found?.subjectId;
}

const tokenBytes = 16;
/** Long enough to be left out of refusals, see http/sanitize-for-error.ts. */
const tokenForm = /^[0-9a-f]{32}$/;

const contextOf = (subjectId: string): string => `approval/${subjectId}`;
