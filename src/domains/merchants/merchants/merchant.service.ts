/** Registers merchants, with event and audit row in the caller's transaction. Only the registration sees the secret. @module */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { checkUrl, type UrlRules } from '../../../outbound/address-rules.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { hashSecret } from '../../../vault/secret-hash.ts';
import { mintSecret } from '../../identity/index.ts';
import type { MerchantBody } from './merchant.contract.ts';
import { MerchantRow } from './merchant.entity.ts';
import { findMerchant } from './merchant.queries.ts';
import { distinctSlug, slugOf } from './merchant.rules.ts';
import { merchantData } from './merchant.wire.ts';
import type { EncryptionJwk, MerchantKeyRow } from './merchant-key.entity.ts';
import { keysOfMerchant } from './merchant-key.queries.ts';
import { addEncryptionKey } from './merchant-key.service.ts';

export const merchantKeyPrefix = 'mer_sk_';

export type RegistrationRules = {
  readonly urlRules: Pick<UrlRules, 'allowedOrigins' | 'namesAllowedOrigins'>;
  /** Whether a credential may be encrypted for the key. */
  readonly readEncryptionKey: (
    jwk: Readonly<Record<string, unknown>>,
  ) => { readonly ok: true; readonly jwk: EncryptionJwk } | { readonly ok: false; readonly reason: string };
};

export function readKey(
  { encryptionJwk }: Pick<MerchantBody, 'encryptionJwk'>,
  { readEncryptionKey }: Pick<RegistrationRules, 'readEncryptionKey'>,
): EncryptionJwk {
  const key = readEncryptionKey(encryptionJwk);
  if (key.ok) return key.jwk;
  throw new DomainError('invalid_request', `body.encryptionJwk: ${key.reason}`);
}

/** What a merchant may name, checked before anything is written. Returns its key. */
export function readRegistration(
  { encryptionJwk, webhookUrl }: Pick<MerchantBody, 'encryptionJwk' | 'webhookUrl'>,
  { urlRules, readEncryptionKey }: RegistrationRules,
): EncryptionJwk {
  const jwk = readKey({ encryptionJwk }, { readEncryptionKey });
  const url = webhookUrl === undefined ? undefined : checkUrl(webhookUrl, urlRules);
  if (url !== undefined && 'refused' in url)
    throw new DomainError('invalid_request', `body.webhookUrl: ${url.refused}`);
  return jwk;
}

type NewMerchant = {
  readonly id: Id<'merchant'>;
  readonly ownerId: string;
  readonly body: Omit<MerchantBody, 'encryptionJwk'>;
  /** Checked. */
  readonly encryptionJwk: EncryptionJwk;
};

export type RegisteredWithSecret = { readonly row: MerchantRow; readonly key: MerchantKeyRow; readonly secret: string };

export async function registerMerchant(
  tx: Tx,
  { id, ownerId, body, encryptionJwk }: NewMerchant,
  cause: Cause,
): Promise<RegisteredWithSecret> {
  const { secret, hash, hint } = mintSecret(merchantKeyPrefix);
  const known = await findMerchant(tx, id);
  // This very request registered before, and died before it could show the secret: that one is void.
  if (known !== null) return renewed(tx, known, { secret, hash, hint });

  // Codes, keys and slugs are the deployment's: registrations run one after the other, so that each finds the others'.
  await runSql(tx, 'select lock_limit($1, $2, $2)', ['merchants', 'deployment']);
  const inviteHash = hashSecret(body.inviteCode);
  if ((await tx.count(MerchantRow, { inviteHash })) > 0)
    throw new DomainError('invalid_state', 'body.inviteCode: was used; each code registers one merchant');
  await assertBelowLimit(tx, 'merchants', { ownerId, subject: ownerId, at: cause.at }, { isLocked: true });
  const row = tx.create(MerchantRow, {
    id,
    ownerId,
    slug: await freeSlug(tx, body.name, id),
    name: body.name,
    webhookUrl: body.webhookUrl ?? null,
    status: 'active',
    secretHash: hash,
    hint,
    formerSecretHash: null,
    formerSecretUntil: null,
    inviteHash,
    requestId: cause.requestId,
    createdAt: cause.at,
  });
  await tx.flush();
  const key = await addEncryptionKey(tx, row, encryptionJwk, cause);
  const data = merchantData(row);
  await recordChanges(tx, cause, [{ event: 'merchant.registered', ownerId, subjectId: id, data }]);
  return { row, key, secret };
}

type Secret = ReturnType<typeof mintSecret>;

async function renewed(tx: Tx, row: MerchantRow, { secret, hash, hint }: Secret): Promise<RegisteredWithSecret> {
  const [key] = await keysOfMerchant(tx, row.id);
  if (key === undefined) throw new Error(`merchant ${row.id} has no encryption key`);
  return { row: Object.assign(row, { secretHash: hash, hint }), key, secret };
}

async function freeSlug(tx: Tx, name: string, id: Id<'merchant'>): Promise<string> {
  const slug = slugOf(name);
  return (await tx.count(MerchantRow, { slug })) === 0 ? slug : distinctSlug(slug, id);
}
