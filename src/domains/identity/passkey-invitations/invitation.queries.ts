/** Reads of invitations: one by id or by its link, and pages. Never a token. @module */
import * as z from 'zod';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { idValue } from '../../../db/row-values.ts';
import { firstRowOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { hashSecret } from '../../../vault/secret-hash.ts';
import './invitation.entity.ts';

/** A row with the columns of `invitationColumns`. */
export const invitationRow = z.object({
  id: idValue('passkeyInvitation'),
  ownerId: idValue('owner'),
  name: z.string(),
  vouchedBy: z.string().nullable(),
  createdAt: z.date(),
  expiresAt: z.date(),
  revokedAt: z.date().nullable(),
  passkeyId: z.string().nullable(),
});
export type Invitation = Readonly<z.output<typeof invitationRow>>;

export const invitationColumns = `id, owner_id as "ownerId", name, vouched_by as "vouchedBy", created_at as "createdAt",
  expires_at as "expiresAt", revoked_at as "revokedAt", passkey_id as "passkeyId"`;

/** Undefined for another owner's. */
export const findInvitation = (tx: Tx, id: string, ownerId: string): Promise<Invitation | undefined> =>
  firstRowOf(
    tx,
    invitationRow,
    `select ${invitationColumns} from passkey_invitations where id = $1 and owner_id = $2`,
    [id, ownerId],
  );

/** Throws for an unknown link. */
export async function invitationBehind(tx: Tx, token: string): Promise<Invitation> {
  const sql = `select ${invitationColumns} from passkey_invitations where token_hash = $1`;
  const found = tokenForm.test(token) ? await firstRowOf(tx, invitationRow, sql, [hashSecret(token)]) : undefined;
  if (found === undefined) throw new DomainError('not_found', 'no invitation has this link');
  return found;
}

/** Long enough to be left out of refusals, see http/sanitize-for-error.ts. */
const tokenForm = /^[0-9a-f]{32}$/;

const invitations = list(
  (from, given: Filters<{ ownerId: string }>) =>
    from
      .selectFrom('passkey_invitations')
      .select(['id', 'ownerId', 'name', 'vouchedBy', 'createdAt', 'expiresAt', 'revokedAt', 'passkeyId'])
      .where('ownerId', '=', given('ownerId')),
  newestFirst('passkey_invitations'),
);
export type ListedInvitation = Awaited<ReturnType<typeof listInvitations>>['data'][number];

export const listInvitations = (tx: Tx, ownerId: string, pageQuery: PageQuery) =>
  page(tx, invitations, { ownerId }, pageQuery) satisfies Promise<Page<unknown>>;
