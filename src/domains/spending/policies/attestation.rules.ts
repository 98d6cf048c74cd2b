/**
 * How long the attestation of an intent counts, in business time. Pure: the policy and the instants are arguments.
 * @module
 */
import { later, minute } from '../../../kernel/instant.ts';
import type { PolicyTerms } from './spending-facts.rules.ts';

export type AttestationTerms = Pick<PolicyTerms, 'requireAttestation' | 'attestationWindowMinutes'>;

const defaultWindowMinutes = 15;

export const attestationWindowOf = ({ attestationWindowMinutes }: Pick<AttestationTerms, 'attestationWindowMinutes'>) =>
  attestationWindowMinutes ?? defaultWindowMinutes;

/** Up to this instant an attestation of `attestedAt` counts. */
export const attestedUntil = (terms: Pick<AttestationTerms, 'attestationWindowMinutes'>, attestedAt: Date): Date =>
  later(attestedAt, attestationWindowOf(terms) * minute);

/** Undefined when the attestation is young enough. Says nothing about whether one is needed. */
export function whyUnattested(terms: AttestationTerms, attestedAt: Date | null, at: Date): string | undefined {
  if (attestedAt !== null && at <= attestedUntil(terms, attestedAt)) return undefined;
  const seen = attestedAt === null ? 'there is none' : `the last was at ${attestedAt.toISOString()}`;
  return `needs an attestation no older than ${attestationWindowOf(terms)} min, ${seen}`;
}
