/**
 * A merchant verifies a credential that it was given, and uses it up, once. Posts nothing: the network's authorization
 * with the token of the credential holds the money. Where none has come, a pending transaction is created, to which only
 * that authorization is linked.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { serviceSigningKey } from '../../domains/identity/well-known/signing-key.service.ts';
import { signReceipt } from '../../domains/identity/well-known/token.service.ts';
import {
  type Expectation,
  whyUnexpected,
} from '../../domains/payments/mpp-credentials/credential-expectation.rules.ts';
import type { ConsumedMppCredentialWire } from '../../domains/payments/mpp-credentials/mpp-credential.contract.ts';
import type { MppCredentialRow } from '../../domains/payments/mpp-credentials/mpp-credential.entity.ts';
import {
  credentialOfMerchant,
  lockMppCredential,
  type MerchantsCredential,
} from '../../domains/payments/mpp-credentials/mpp-credential.queries.ts';
import type {
  NamedCredential,
  PresentedCredential,
} from '../../domains/payments/mpp-credentials/mpp-credential.routes.ts';
import { isPastExpiry } from '../../domains/payments/mpp-credentials/mpp-credential.rules.ts';
import { markVerified } from '../../domains/payments/mpp-credentials/mpp-credential.service.ts';
import { consumedWire } from '../../domains/payments/mpp-credentials/mpp-credential.wire.ts';
import { recordVerifiedCharge } from '../../domains/payments/mpp-payments/verified-charge.service.ts';
import { insertConfirmed } from '../../domains/payments/transactions/confirm.service.ts';
import { lockSpending } from '../../domains/payments/transactions/payment-lock.service.ts';
import { findTransaction } from '../../domains/payments/transactions/transaction.queries.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { lockIntent } from '../../domains/spending/intents/intent.lock.service.ts';
import { whyUnpayable } from '../../domains/spending/intents/intent.rules.ts';
import { applyToIntent } from '../../domains/spending/intents/intent.service.ts';
import { stateOf } from '../../domains/spending/intents/intent.state.service.ts';
import { completeWindowNow } from '../../domains/spending/intents/windows/window.service.ts';
import type { Call } from '../../http/caller.ts';
import { DomainError, notFound } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { type Cause, inRunOf } from '../../platform/cause.ts';
import { hasMoved } from '../../platform/transitions.ts';
import type { Vault } from '../../vault/vault.ts';
import { whyInactive } from '../spending/assert-active.ts';

export type ConsumeDeps = {
  readonly database: Database;
  readonly vault: Vault;
  /** The public address of the service. */
  readonly issuer: string;
};

export const consumeCredential =
  ({ database, vault, issuer }: ConsumeDeps) =>
  async ({ named, expected }: PresentedCredential, call: Call): Promise<ConsumedMppCredentialWire> => {
    const newId = call.newId('transaction');
    const { row, transactionId } = await database.write(async (tx) => {
      const consumed = await consume(tx, { found: await ofCaller(tx, named, call), expected, newId }, call);
      const charge = { credentialId: consumed.row.id, transactionId: consumed.transactionId };
      await recordVerifiedCharge(tx, charge, call.cause);
      return consumed;
    });
    const receipt = await database.write(async (tx) =>
      signReceipt(
        { signer: await serviceSigningKey(tx, vault), issuer },
        {
          credentialId: row.id,
          transactionId,
          challengeId: row.challengeId,
          merchantId: row.merchantId ?? null,
          amountCents: row.amountCents,
          settledAt: row.verifiedAt ?? call.cause.at,
        },
      ),
    );
    return consumedWire(row, { transactionId, receipt });
  };

/** Another merchant's credential does not exist for the caller. */
async function ofCaller(tx: Tx, named: NamedCredential, { caller }: Call): Promise<MerchantsCredential> {
  const merchantId = caller.kind === 'merchant' ? caller.merchantId : undefined;
  const found = merchantId === undefined ? null : await credentialOfMerchant(tx, merchantId, named);
  if (found === null) throw notFound('MPP credential', 'id' in named ? named.id : `of challenge ${named.challengeId}`);
  return found;
}

type Consumed = { readonly row: MppCredentialRow; readonly transactionId: string };

type Consumption = {
  readonly found: MerchantsCredential;
  readonly expected: Expectation;
  readonly newId: Id<'transaction'>;
};

async function consume(tx: Tx, { found, expected, newId }: Consumption, call: Call): Promise<Consumed> {
  await lockSpending(tx, found.agentId); // From here on nothing of this agent's payments moves.
  const intent = await lockIntent(tx, found.intentId);
  const row = await lockMppCredential(tx, found.id);
  const cause = inRunOf(call.cause, row);
  const { transactionId } = row;
  // This very request has used it up, and died before it answered.
  if (transactionId != null && (await hasMoved(tx, 'mpp_credential', row.id, cause.causeId)))
    return { row, transactionId };
  if (row.verifiedAt != null) throw new DomainError('conflict', `credential ${row.id} was verified before`);
  if (row.status === 'declined') throw new DomainError('conflict', `the charge of credential ${row.id} was declined`);
  const unexpected = whyUnexpected(row, expected);
  if (unexpected !== undefined) throw new DomainError('invalid_state', unexpected);
  if (row.status === 'consumed' && transactionId != null) {
    const transaction = await findTransaction(tx, transactionId);
    if (transaction?.status === 'reversed')
      throw new DomainError('conflict', `the charge of credential ${row.id} was reversed`);
    const used = { transactionId, wasUsed: true, isCompleted: transaction?.status === 'completed' };
    return { row: await markVerified(tx, row, used, cause), transactionId };
  }
  await refuseUnusable(tx, row, intent, cause);
  await completeIntent(tx, row, intent, newId, cause);
  const verified = { transactionId: newId, wasUsed: false, isCompleted: false };
  return { row: await markVerified(tx, row, verified, cause), transactionId: newId };
}

async function refuseUnusable(tx: Tx, row: MppCredentialRow, intent: IntentRow, { at }: Cause): Promise<void> {
  if (row.status === 'revoked')
    throw new DomainError('gone', `credential ${row.id} was revoked, because its intent was cancelled`);
  if (row.status !== 'minted' || isPastExpiry(row, new Date()))
    throw new DomainError('gone', `credential ${row.id} expired at ${row.expiresAt.toISOString()}`);
  const why = whyUnpayable(stateOf(intent), at) ?? whyKept(row, intent) ?? (await whyInactive(tx, intent));
  if (why !== undefined) throw new DomainError('gone', `credential ${row.id} pays no more: ${why}`);
}

/** Another payment was begun for the intent after this credential was minted. */
const whyKept = ({ paymentId }: MppCredentialRow, { openPaymentId }: IntentRow): string | undefined =>
  openPaymentId == null || openPaymentId === paymentId
    ? undefined
    : `payment ${openPaymentId} of the intent has not ended`;

/** By a transaction that waits for the authorization with the credential's token. */
async function completeIntent(
  tx: Tx,
  row: MppCredentialRow,
  intent: IntentRow,
  id: Id<'transaction'>,
  cause: Cause,
): Promise<void> {
  await insertConfirmed(tx, intent, id, cause, {
    rail: 'mpp',
    amountCents: row.amountCents,
    requestedCents: row.amountCents,
    merchantId: row.recipient ?? null,
    merchant: intent.expectedMerchant ?? row.host ?? row.recipient ?? null,
  });
  if (intent.recurring != null) await completeWindowNow(tx, intent, id, cause);
  else await applyToIntent(tx, intent.id, { kind: 'complete', transactionId: id }, cause);
}
