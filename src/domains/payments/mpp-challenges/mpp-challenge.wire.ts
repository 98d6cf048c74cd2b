/** What a payment challenge asks for, as callers see it. Shapes only. @module */
import { eurosFromCents } from '../../../kernel/money.ts';
import type { Challenge, ChargeRequest } from '../mpp/challenge.wire.ts';
import type { Payee } from '../mpp-credentials/challenge-evaluation.rules.ts';
import type { PaymentChallengeWire } from './mpp-challenge.contract.ts';

export const paymentChallengeWire = (
  { id, realm, expires }: Challenge,
  { amountCents, acceptedNetworks }: ChargeRequest,
  { host, recipient }: Payee,
): PaymentChallengeWire => ({
  id,
  realm,
  amountEuros: eurosFromCents(amountCents),
  currency: 'EUR',
  host,
  recipient,
  networks: [...acceptedNetworks],
  expiresAt: expires === undefined ? null : new Date(expires).toISOString(),
});
