/** The shape of an MPP credential for callers and for its events. Shapes only. @module */
import * as z from 'zod';
import type { EventData } from '../../../events/catalog.ts';
import type { Change } from '../../../events/record.ts';
import { eurosFromCents } from '../../../kernel/money.ts';
import type { ConsumedMppCredentialWire, MppCredentialWire, NewMppCredentialWire } from './mpp-credential.contract.ts';
import type { MppCredentialRow } from './mpp-credential.entity.ts';
import { type CredentialStatus, credentialStatusAsOf } from './mpp-credential.rules.ts';

/** What the events show of a credential. */
type CredentialFields = Pick<
  MppCredentialRow,
  'id' | 'ownerId' | 'agentId' | 'intentId' | 'cardId' | 'amountCents' | 'currency' | 'status' | 'expiresAt'
> & { readonly merchantId?: string | null | undefined; readonly transactionId?: string | null | undefined };

/** Without the texts of the merchant and without the credential. */
export const mppCredentialData = (row: CredentialFields): EventData<'mpp.credential.minted'> => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  intentId: row.intentId,
  cardId: row.cardId,
  merchantId: row.merchantId ?? null,
  amountEuros: eurosFromCents(row.amountCents),
  currency: row.currency,
  status: row.status,
  expiresAt: row.expiresAt.toISOString(),
  transactionId: row.transactionId ?? null,
});

const aboutCredential = ({ id, ownerId, agentId }: CredentialFields) => ({ ownerId, agentId, subjectId: id });

/** The credential is used, by that transaction. */
export const consumptionOf = (row: CredentialFields, transactionId: string): Change => ({
  event: 'mpp.credential.consumed',
  ...aboutCredential(row),
  data: mppCredentialData({ ...row, status: 'consumed', transactionId }),
  details: { transactionId },
});

/** The transaction of the credential is completed: all of it is collected. */
export const completionOf = (row: CredentialFields): Change => ({
  event: 'mpp.transaction.completed',
  ...aboutCredential(row),
  data: mppCredentialData(row),
  details: { transactionId: row.transactionId ?? null },
});

const explained: readonly CredentialStatus[] = ['refused', 'declined', 'revoked'];

/** `now` is real time: past its expiry a credential is shown as expired, whether or not its run has marked it yet. */
export const mppCredentialWire = (row: Readonly<MppCredentialRow>, now: Date): MppCredentialWire => ({
  id: row.id,
  agentId: row.agentId,
  intentId: row.intentId,
  cardId: row.cardId,
  merchantId: row.merchantId ?? null,
  challengeId: row.challengeId,
  host: row.host ?? null,
  recipient: row.recipient ?? null,
  amountEuros: eurosFromCents(row.amountCents),
  currency: row.currency,
  status: credentialStatusAsOf(row, now),
  expiresAt: row.expiresAt.toISOString(),
  transactionId: row.transactionId ?? null,
  reason: explained.includes(row.status) ? (row.outcomeReason ?? null) : null,
  createdAt: row.createdAt.toISOString(),
});

const sealedHeader = z.object({ name: z.enum(['Authorization', 'Payment-Authorization']), value: z.string() });

/** `sealed`: the opened text of the row, the header by name and value. */
export function mintedWire(row: MppCredentialRow, sealed: string): NewMppCredentialWire {
  const { name, value } = sealedHeader.parse(JSON.parse(sealed));
  return {
    id: row.id,
    credential: value.replace(/^Payment /, ''),
    header: name,
    expires_at: row.expiresAt.toISOString(),
    amount_euros: eurosFromCents(row.amountCents),
    currency: row.currency,
    merchant_id: row.merchantId ?? null,
  };
}

export const consumedWire = (
  row: MppCredentialRow,
  { transactionId, receipt }: { readonly transactionId: string; readonly receipt: string },
): ConsumedMppCredentialWire => ({
  id: row.id,
  status: 'consumed',
  intent_id: row.intentId,
  amount_euros: eurosFromCents(row.amountCents),
  currency: row.currency,
  par: null,
  transaction_id: transactionId,
  receipt,
});
