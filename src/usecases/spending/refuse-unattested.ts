/**
 * Refuses to approve or pay an intent without an attestation where the agent's policy demands one. The policy in force
 * decides, not the policy of the declaration. Pure: policy and intent are arguments.
 * @module
 */
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { type AttestationTerms, whyUnattested } from '../../domains/spending/policies/attestation.rules.ts';
import type { PolicyRow } from '../../domains/spending/policies/policy.entity.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Cause } from '../../platform/cause.ts';

export function refuseUnattested(policy: PolicyRow | null, intent: IntentRow, { actor, at }: Cause): void {
  const demand = demandOf(policy);
  if (demand === undefined) return;
  if (actor.kind === 'signal') throw refused('its policy demands a passkey; a signal cannot approve it');
  const why = whyUnattested(demand, intent.attestedAt ?? null, at);
  if (why === undefined) return;
  throw refused(
    `cannot approve: its policy ${why}; send webauthnAssertion, made for a challenge of POST /passkeys/intents/${intent.id}/challenge`,
  );
}

/** A checkout whose authorization would be declined; its intent stays open for a passkey. */
export function refuseUnattestedPayment(policy: PolicyRow | null, intent: IntentRow, at: Date): void {
  const demand = demandOf(policy);
  const why = demand === undefined ? undefined : whyUnattested(demand, intent.attestedAt ?? null, at);
  if (why === undefined) return;
  throw new DomainError('policy_denied', `the policy ${why}; attest it with POST /intents/${intent.id}/attest`, {
    refusedBy: { rule: 'require_attestation' },
  });
}

export const demandsPasskey = (policy: PolicyRow | null): boolean => demandOf(policy) !== undefined;

/** Undefined where the policy in force demands none. */
function demandOf(policy: PolicyRow | null): AttestationTerms | undefined {
  if (policy === null || !policy.requireAttestation) return undefined;
  return { requireAttestation: true, attestationWindowMinutes: policy.attestationWindowMinutes ?? null };
}

const refused = (why: string): DomainError => new DomainError('invalid_state', why);
