/**
 * Mints an MPP credential: evaluates the challenge, commits the row, has the card processor mint the payment token,
 * encrypts the token for the merchant and commits its hash. Repeating finds the same row and the same token. The
 * credential itself is returned, and stored sealed where a caller of the API asked for it; nothing else keeps it.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import type { CardProcessor } from '../../domains/cards/cards/card.port.ts';
import { type CardOnRecord, cardOnRecord } from '../../domains/cards/cards/card.queries.ts';
import { type Challenge, type ChargeRequest, cardNetworks } from '../../domains/payments/mpp/challenge.wire.ts';
import { credentialHeader } from '../../domains/payments/mpp/credential.wire.ts';
import {
  type EncryptionJwk,
  type KeyReading,
  keyInSet,
  readEncryptionKey,
  refusalOfJwksUri,
} from '../../domains/payments/mpp/encryption-key.rules.ts';
import { encryptPaymentToken } from '../../domains/payments/mpp/payment-token.encryption.ts';
import { type Refused, refused } from '../../domains/payments/mpp-credentials/challenge-evaluation.rules.ts';
import type { MerchantKeys } from '../../domains/payments/mpp-credentials/merchant-keys.port.ts';
import type { MppCredentialRow } from '../../domains/payments/mpp-credentials/mpp-credential.entity.ts';
import { findMppCredential, lockMppCredential } from '../../domains/payments/mpp-credentials/mpp-credential.queries.ts';
import {
  type CredentialStatus,
  isFinalCredential,
  isPastExpiry,
} from '../../domains/payments/mpp-credentials/mpp-credential.rules.ts';
import {
  expireMppCredential,
  type MintedAtOnce,
  type MintedToken,
  markMinted,
  mintAtOnce,
  refuseMppCredential,
} from '../../domains/payments/mpp-credentials/mpp-credential.service.ts';
import { undefinedIfStale } from '../../domains/payments/mpp-payments/mpp-payment.service.ts';
import { lockSpending } from '../../domains/payments/transactions/payment-lock.service.ts';
import { lockedIntent } from '../../domains/spending/intents/intent.lock.service.ts';
import { whyUnpayable } from '../../domains/spending/intents/intent.rules.ts';
import { stateOf } from '../../domains/spending/intents/intent.state.service.ts';
import { DomainError, notFound, unavailable } from '../../kernel/errors.ts';
import type { Cause } from '../../platform/cause.ts';
import { ownClockInWords } from '../../platform/own-clock.ts';
import { hashSecret } from '../../vault/secret-hash.ts';
import type { Vault } from '../../vault/vault.ts';
import { whyInactive } from '../spending/assert-active.ts';
import { evaluateChallenge } from './evaluate-challenge.ts';
import type { EvaluateCharge } from './evaluate-charge.ts';
import { merchantBehind, merchantsOfCharge } from './merchant-of-charge.ts';
import { type ProtectedPayee, protectionBy, protectionFrom } from './protection-from.ts';
import type { ReadForMinting } from './read-for-minting.ts';
import { type CredentialOrder, causeOfStep, type Reservation, reserveCredential } from './reserve-credential.ts';

export type MintDeps = {
  readonly database: Database;
  readonly vault: Pick<Vault, 'seal'>;
  readonly evaluate: EvaluateCharge;
  readonly merchantKeys: MerchantKeys;
  readonly cardProcessor: Pick<CardProcessor, 'mintPaymentToken'>;
};

export type MintResult =
  | {
      readonly outcome: 'minted';
      readonly row: MppCredentialRow;
      /** The one header that presents the credential. Its value is a secret and must not be stored or logged. */
      readonly header: ReturnType<typeof credentialHeader>;
      /** Who is paid, as the owner's protection rules see it. */
      readonly payee: ProtectedPayee;
    }
  /** Nothing was minted, and nothing will be. The row exists where the refusal came after the reservation. */
  | { readonly outcome: 'refused'; readonly code: string; readonly reason: string }
  /** It was minted before and has come to its end. */
  | { readonly outcome: 'ended'; readonly status: CredentialStatus; readonly row: MppCredentialRow };

/** What the caller writes with the credential that is found minted. */
export type Alongside = {
  readonly write: (tx: Tx) => Promise<void>;
  /** The same as a part of the statement that mints what was reserved a moment ago. */
  readonly atOnce?: MintedAtOnce & { readonly written: (version: number) => void };
};

/** Throws `unavailable` while the processor or the merchant's key set does not answer; repeating goes on. */
export const mintCredential = (deps: MintDeps) => {
  const reserve = reserveCredential({ evaluateChallenge: evaluateChallenge(deps) });
  const mint = mintReserved(deps);
  return async (order: CredentialOrder, cause: Cause, alongside?: Alongside): Promise<MintResult> => {
    const ended = await endedBefore(deps, order.credentialId, cause);
    if (ended !== undefined) return ended;
    const reserved = await deps.database.write((tx) => reserve(tx, order, cause));
    return reserved.ok ? mint(order, reserved, cause, alongside) : refusal(reserved);
  };
};

/** `read`: what its reservation a moment ago has read. */
export type Reserved = Pick<Extract<Reservation, { readonly ok: true }>, 'row' | 'read'>;

/** The same for a credential that has just been reserved. */
export const mintReserved =
  (deps: MintDeps) =>
  async (order: CredentialOrder, reserved: Reserved, cause: Cause, alongside?: Alongside): Promise<MintResult> => {
    const { row } = reserved;
    // A key set is fetched meanwhile, which may take seconds: then it is read again.
    const read = reserved.read?.merchants === undefined ? undefined : reserved.read;
    const key = await encryptionKeyOf(deps, row, order);
    if (!key.ok) return refuse(deps, row.id, refused('challenge_key', key.reason), cause);
    const [payee, card] = await Promise.all([
      payeeFor(deps.database.read(), { row, order, jwk: key.jwk }, read),
      read?.card ?? cardOnRecord(deps.database.read(), row.cardId),
    ]);
    if (!payee.ok) return refuse(deps, row.id, payee, cause);
    return mintFor(deps, { row, order, jwk: key.jwk, payee: payee.payee, card, alongside }, cause);
  };

const refusal = ({ code, reason }: Refused): MintResult => ({ outcome: 'refused', code, reason });

/** Undefined where the credential is still to be minted, or is minted and alive. */
async function endedBefore({ database }: MintDeps, id: string, cause: Cause): Promise<MintResult | undefined> {
  const found = await findMppCredential(database.read(), id);
  if (found === null) return undefined;
  const now = new Date();
  const row = isPastExpiry(found, now)
    ? await database.write(async (tx) =>
        expireMppCredential(tx, await lockMppCredential(tx, id), causeOfStep(cause, id, 'expire'), now),
      )
    : found;
  return isFinalCredential(row.status) ? endOf(row) : undefined;
}

const endOf = (row: MppCredentialRow): MintResult =>
  row.status === 'refused'
    ? { outcome: 'refused', code: row.outcomeCode ?? 'refused', reason: row.outcomeReason ?? 'nothing was minted' }
    : { outcome: 'ended', status: row.status, row };

/** The key of the first mint stays: a merchant that changes its key set meanwhile changes nothing. */
async function encryptionKeyOf(
  { merchantKeys }: MintDeps,
  { encryptionJwk }: MppCredentialRow,
  { challenge, charge: { key } }: { readonly challenge: Challenge; readonly charge: ChargeRequest },
): Promise<KeyReading> {
  if (encryptionJwk != null) return { ok: true, jwk: encryptionJwk };
  if (key.kind === 'embedded') return readEncryptionKey(key.jwk);
  const why = refusalOfJwksUri(key.uri, challenge.realm);
  if (why !== undefined) return { ok: false, reason: why };
  const answer = await merchantKeys.fetchKeySet(key.uri);
  if (answer.outcome === 'answered') return keyInSet(answer.body, key.kid);
  if (!answer.isForGood) throw unavailable(`the merchant's key set: ${answer.why}`);
  return { ok: false, reason: `the merchant's key set: ${answer.why}` };
}

type KnownKey = { readonly row: MppCredentialRow; readonly order: CredentialOrder; readonly jwk: EncryptionJwk };
type Minting = KnownKey & {
  readonly payee: ProtectedPayee;
  readonly card: CardOnRecord;
  readonly alongside: Alongside | undefined;
};

/** With the key it is certain who the merchant is, so its protection rules are applied again. */
async function payeeFor(
  tx: Tx,
  { row, order: { charge, challenge }, jwk }: KnownKey,
  read: ReadForMinting | undefined,
): Promise<{ readonly ok: true; readonly payee: ProtectedPayee } | Refused> {
  // A key that the challenge carries is the one that was looked up for the reservation.
  const behind = merchantBehind(read?.merchants ?? (await merchantsOfCharge(tx, { recipient: charge.recipient, jwk })));
  if (!behind.ok) return refused('challenge_key', behind.reason);
  const { merchant } = behind;
  const paid = { host: row.host ?? null, recipient: row.recipient ?? null, reference: merchantOf(row) };
  const payee = { payee: paid, realm: challenge.realm, merchant };
  const forbidden =
    read === undefined ? await protectionFrom(tx, row, payee) : protectionBy(read.rules, row.agentId, payee);
  return forbidden === undefined ? { ok: true, payee } : refused('protect_rule', forbidden.reason);
}

async function mintFor(deps: MintDeps, { row, order, jwk, payee, card, alongside }: Minting, cause: Cause) {
  const { database, cardProcessor, vault } = deps;
  const minted = await cardProcessor.mintPaymentToken({
    cardRef: card.cardRef,
    merchantId: merchantOf(row),
    ceilingCents: row.ceilingCents,
    expiresAt: row.expiresAt,
    idempotencyKey: row.id,
  });
  if (minted.outcome === 'refused') {
    const clock = minted.reason === 'not_accepted' ? await ownClockInWords(database.read()) : undefined;
    const why = clock === undefined ? processorRefusal[minted.reason] : `${clock}, so the order has a wrong expiry`;
    const reason = `the card processor mints no payment token: ${why}`;
    return refuse(deps, row.id, refused('card_refused', reason), cause);
  }
  const header = await headerFor({ row, order, jwk }, card, minted.paymentToken);
  const sealedCredential =
    row.paymentId == null ? await vault.seal(JSON.stringify(header), credentialSealContext(row.id)) : null;
  const merchantId = payee.merchant?.id ?? null;
  const token = { tokenHash: hashSecret(minted.paymentToken), encryptionJwk: jwk, merchantId, sealedCredential };
  const changed =
    (await commitAtOnce(database, { row, token, alongside }, cause)) ??
    (await database.write(async (tx) => {
      const committed = await commit(tx, row, token, cause);
      if (committed.status === 'minted') await alongside?.write(tx);
      return committed;
    }));
  if (changed.status !== 'minted') return endOf(changed);
  if (changed.tokenHash !== token.tokenHash)
    throw new DomainError('conflict', `the card processor minted another token for credential ${row.id}`);
  return { outcome: 'minted', row: changed, header, payee } as const;
}

/** The merchant that the token is for: it pays no one else. */
const merchantOf = ({ id, recipient, host }: MppCredentialRow): string => {
  const reference = recipient ?? host;
  if (reference == null) throw new Error(`credential ${id} has no payee`);
  return reference;
};

export const credentialSealContext = (credentialId: string): string => `mpp-credential/${credentialId}`;

const processorRefusal = {
  unknown_card: 'it does not know the card',
  closed: 'the card is closed there',
  not_accepted: 'it does not take this order',
} as const;

type Committing = {
  readonly row: MppCredentialRow;
  readonly token: MintedToken;
  readonly alongside: Alongside | undefined;
};

/** Undefined where something has changed since the reservation: then the rows are locked, and say what follows. */
async function commitAtOnce(
  database: Database,
  { row, token, alongside }: Committing,
  cause: Cause,
): Promise<MppCredentialRow | undefined> {
  const atOnce = alongside?.atOnce;
  if (atOnce === undefined) return undefined;
  const own = causeOfStep(cause, row.id, 'mint');
  const minted = await undefinedIfStale(mintAtOnce(database.read(), row, token, own, atOnce));
  if (minted === undefined) return undefined;
  atOnce.written(minted.paymentVersion);
  return minted.row;
}

/** The hash is committed before the credential leaves, so that the network's authorization is recognised. */
async function commit(
  tx: Tx,
  { id, agentId, intentId }: MppCredentialRow,
  token: MintedToken,
  cause: Cause,
): Promise<MppCredentialRow> {
  await lockSpending(tx, agentId);
  const intent = await lockedIntent(tx, intentId);
  const row = await lockMppCredential(tx, id);
  const now = new Date();
  if (isPastExpiry(row, now)) return expireMppCredential(tx, row, causeOfStep(cause, id, 'expire'), now);
  if (row.status !== 'requested') return row;
  // A revoking command may have come while the processor was asked.
  const why = whyUnpayable(stateOf(intent), cause.at) ?? (await whyInactive(tx, intent));
  if (why !== undefined) return refuseMppCredential(tx, row, refused('intent', why), causeOfStep(cause, id, 'mint'));
  return markMinted(tx, row, token, causeOfStep(cause, id, 'mint'));
}

async function refuse({ database }: MintDeps, id: string, why: Refused, cause: Cause): Promise<MintResult> {
  const row = await database.write(async (tx) =>
    refuseMppCredential(tx, await lockMppCredential(tx, id), why, causeOfStep(cause, id, 'refuse')),
  );
  return row.status === 'refused' ? endOf(row) : refusal(why);
}

/** The token lives for minutes: it expires with the month of the credential. */
async function headerFor({ row, order, jwk }: KnownKey, card: CardOnRecord, paymentToken: string) {
  const network = cardNetworks.find((one) => one === card.brand);
  if (network === undefined) throw notFound('card', row.cardId);
  const encryptedPayload = await encryptPaymentToken(
    {
      token: {
        paymentToken,
        tokenExpirationMonth: twoDigits(row.expiresAt.getUTCMonth() + 1),
        tokenExpirationYear: String(row.expiresAt.getUTCFullYear()),
        eci: '07',
      },
      // The processor makes no cryptogram: the token itself is for one use.
      dynamicData: {
        dynamicDataValue: '',
        dynamicDataType: 'NONE',
        dynamicDataExpiration: Math.floor(row.expiresAt.getTime() / 1_000),
      },
    },
    jwk,
  );
  const payload = {
    encryptedPayload,
    network,
    panLastFour: card.last4,
    panExpirationMonth: twoDigits(card.expiryMonth),
    panExpirationYear: String(card.expiryYear),
  };
  return credentialHeader(order.challenge, payload);
}

const twoDigits = (month: number): string => String(month).padStart(2, '0');
