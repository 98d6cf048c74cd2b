/**
 * The holder of a passkey attests one intent: the challenge is bound to its figures, and one transaction stores the
 * attestation and marks the challenge as used. The caller has checked the access to the intent.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import type { Matter } from '../../domains/identity/passkeys/challenge.service.ts';
import type { Passkey } from '../../domains/identity/passkeys/passkey.queries.ts';
import { recordAttestation, refuseSettled } from '../../domains/spending/intents/intent.attestation.service.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { findIntent } from '../../domains/spending/intents/intent.queries.ts';
import { maxChargeCentsOf } from '../../domains/spending/intents/max-charge.queries.ts';
import { attestedUntil } from '../../domains/spending/policies/attestation.rules.ts';
import { policyOfAgent } from '../../domains/spending/policies/policy.queries.ts';
import type { AssertionEnvelope, PasskeyChallenge } from '../../http/webauthn.ts';
import { DomainError, notFound } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import type { Cause } from '../../platform/cause.ts';
import { attestSubject } from '../identity/attest-subject.ts';
import { type CeremonyDeps, type ChallengeRequest, challengeSubject } from '../identity/challenge-subject.ts';

export type Attestation = {
  readonly intentId: string;
  readonly passkeyId: Id<'passkey'>;
  /** Business time. */
  readonly attestedAt: Date;
  readonly validUntil: Date;
};

/** Options for the browser, for this intent as it is shown. A repeat with the same `challengeId` finds the first one. */
export type IntentChallenge = (intent: IntentRow, asked: ChallengeRequest) => Promise<PasskeyChallenge>;

/** A refusal after the challenge was used leaves it used; a fault leaves everything as it was. */
export type AttestIntent = (intent: IntentRow, envelope: AssertionEnvelope, cause: Cause) => Promise<Attestation>;

export const challengeIntent = (deps: CeremonyDeps): IntentChallenge => {
  const challengeFor = challengeSubject(deps);
  return async (intent, asked) => {
    refuseSettled(intent, asked.at);
    return challengeFor(attestedBy(intent), asked);
  };
};

export const attestIntent = (deps: CeremonyDeps): AttestIntent => {
  const attest = attestSubject(deps);
  return (intent, envelope, cause) =>
    attest(attestedBy(intent), envelope, cause, async (tx, { passkey, isRepeat }) => {
      const row = isRepeat
        ? await stillAttested(tx, intent.id, passkey)
        : await recordAttestation(tx, intent.id, passkey, cause);
      return attestationOf(tx, row, passkey.id, cause);
    });
};

const attestedBy = (intent: IntentRow) => ({ ownerId: intent.ownerId, matter: (tx: Tx) => matterOf(tx, intent) });

/** Bound to the figures: a challenge that was shown for one amount approves no other. */
export const matterOf = async (tx: Tx, intent: IntentRow): Promise<Matter> => ({
  ownerId: intent.ownerId,
  purpose: 'intent',
  subjectId: intent.id,
  amountCents: intent.expectedAmountCents,
  maxChargeCents: (await maxChargeCentsOf(tx, [intent]))(intent),
  merchant: intent.expectedMerchant ?? null,
});

async function attestationOf(tx: Tx, row: IntentRow, passkeyId: Id<'passkey'>, { at }: Cause): Promise<Attestation> {
  const policy = await policyOfAgent(tx, row.agentId);
  const attestedAt = row.attestedAt ?? at;
  const validUntil = attestedUntil({ attestationWindowMinutes: policy?.attestationWindowMinutes ?? null }, attestedAt);
  return { intentId: row.id, passkeyId, attestedAt, validUntil };
}

async function stillAttested(tx: Tx, id: string, passkey: Passkey): Promise<IntentRow> {
  const row = await findIntent(tx, id);
  if (row === null) throw notFound('intent', id);
  if (row.attestedBy === passkey.id) return row;
  throw new DomainError('invalid_state', `passkey ${passkey.id} stands by the intent no more; ask for a new challenge`);
}
