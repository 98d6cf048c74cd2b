/**
 * What every step of a machine payment needs: both clocks, the cause of the step, the challenge that the row keeps
 * sealed, and why nothing is sent in words. Decides nothing.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { type Challenge, type ChargeRequest, readChallenge } from '../../domains/payments/mpp/challenge.wire.ts';
import type { MppPaymentRow } from '../../domains/payments/mpp-payments/mpp-payment.entity.ts';
import { challengeContext, type MppPaymentChange } from '../../domains/payments/mpp-payments/mpp-payment.service.ts';
import type { Actor, Cause } from '../../platform/cause.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Vault } from '../../vault/vault.ts';
import type { MintResult } from './mint-credential.ts';
import type { CredentialOrder } from './reserve-credential.ts';

export type StepDeps = { readonly database: Database; readonly clock: Clock; readonly vault: Vault };

type Row = Readonly<MppPaymentRow>;

export type CauseOfStep = (step: string) => Cause;

/** Of several steps at one time. */
export async function causesOf({ clock }: Pick<StepDeps, 'clock'>, row: Row): Promise<CauseOfStep> {
  const at = await clock.now();
  return (step) => causeAt(row, step, at);
}

/**
 * Each step of a payment happens once, no matter which worker runs it; a step that may happen again names what makes it
 * another. A step without an actor counts as done by the caller who asked for the payment.
 */
export const causeOfStep = async (
  { clock }: Pick<StepDeps, 'clock'>,
  row: Row,
  step: string,
  actor?: Actor,
): Promise<Cause> => causeAt(row, step, await clock.now(), actor);

/** `at` is business time. */
export const causeAt = (
  { id, requestId, runId, actor: caller }: Row,
  step: string,
  at: Date,
  actor: Actor = caller,
): Cause => ({ causeId: `mpp-payment:${id}:${step}`, requestId, runId: runId ?? undefined, actor, at });

/** Why nothing is sent, for the row. */
export type Refusal = Required<Pick<MppPaymentChange, 'outcomeCode' | 'outcomeReason'>>;

export const refusal = (outcomeCode: string, reason: string): Refusal => ({
  outcomeCode,
  outcomeReason: /nothing was (spent|minted)$/.test(reason) ? reason : `${reason}; nothing was spent`,
});

export const notMinted = (minted: Exclude<MintResult, { outcome: 'minted' }>): Refusal =>
  minted.outcome === 'refused'
    ? refusal(minted.code, minted.reason)
    : refusal('expired', `the credential is ${minted.status} before it was sent`);

export type OpenedChallenge =
  | { readonly ok: true; readonly challenge: Challenge; readonly charge: ChargeRequest }
  | { readonly ok: false; readonly reason: string };

/** Reads the challenge again, so that one which has expired since is refused. */
export async function openChallenge({ vault }: Pick<StepDeps, 'vault'>, row: Row): Promise<OpenedChallenge> {
  if (row.sealedChallenge == null) return { ok: false, reason: 'the challenge is not kept any more' };
  const opened: unknown = JSON.parse(await vault.open(row.sealedChallenge, challengeContext(row.id)));
  const parameters = new Map(Object.entries(opened as Record<string, string>));
  return readChallenge({ scheme: 'payment', parameters, fault: undefined }, Date.now());
}

/** The credential of a payment: for its intent, card and challenge, and for the address that made the challenge. */
export const credentialOrderOf = (
  row: Row,
  { challenge, charge }: Extract<OpenedChallenge, { readonly ok: true }>,
): CredentialOrder => ({
  credentialId: row.credentialId,
  intentId: row.intentId,
  cardId: row.cardId,
  paymentId: row.id,
  challenge,
  charge,
  origin: new URL(row.payeeUrl ?? row.url).origin,
});
