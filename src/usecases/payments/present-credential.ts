/**
 * Presents the credential of a machine payment to the merchant, once. The row says which step may send, until when, and
 * whether it has; it says so before the credential leaves. Without an answer the outcome is unknown, and nothing is sent
 * again.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { findMppCredential } from '../../domains/payments/mpp-credentials/mpp-credential.queries.ts';
import {
  credentialStatusAsOf,
  isFinalCredential,
} from '../../domains/payments/mpp-credentials/mpp-credential.rules.ts';
import type { MppPaymentRow } from '../../domains/payments/mpp-payments/mpp-payment.entity.ts';
import { mppPaymentOf } from '../../domains/payments/mpp-payments/mpp-payment.queries.ts';
import { sendWithinMs } from '../../domains/payments/mpp-payments/mpp-payment.rules.ts';
import {
  changeMppPayment,
  changeMppPaymentAtOnce,
  lockMppPayment,
  lockMppPaymentWithIntent,
  markSent,
} from '../../domains/payments/mpp-payments/mpp-payment.service.ts';
import { openTool } from '../../domains/payments/mpp-payments/mpp-payment.tool.ts';
import type { Cause } from '../../platform/cause.ts';
import { recordAnswer } from './conclude-presentation.ts';
import { type MintDeps, mintCredential } from './mint-credential.ts';
import type { MintedCredential, MintedCredentials } from './minted-credentials.ts';
import {
  causeAt,
  causeOfStep,
  credentialOrderOf,
  notMinted,
  openChallenge,
  type Refusal,
  refusal,
  type StepDeps,
} from './mpp-payment-step.ts';
import { protectionFrom } from './protection-from.ts';
import type { PaidResourceDeps } from './request-paid-resource.ts';

type Row = Readonly<MppPaymentRow>;
type Deps = StepDeps & MintDeps & PaidResourceDeps & { readonly mintedCredentials: MintedCredentials };

/** Commits that the step with this cause may send. `mayHaveSent`: another step may have sent before. */
export const markPresentation =
  ({ database, clock }: StepDeps) =>
  async (paymentId: string, sendCause: string): Promise<{ readonly row: Row; readonly mayHaveSent: boolean }> => {
    const [at, found] = await Promise.all([clock.now(), mppPaymentOf(database.read(), paymentId)]);
    const real = new Date();
    const marks = { sendCause, sendUntil: new Date(real.getTime() + sendWithinMs), presentedAt: at };
    const cause = causeAt(found, 'present', at);
    const row =
      (await changeMppPaymentAtOnce(database.read(), found, 'present', marks, cause, { real })) ??
      (await database.write(async (tx) =>
        changeMppPayment(tx, await lockMppPayment(tx, paymentId), 'present', marks, cause, { real }),
      ));
    return { row, mayHaveSent: row.sendCause !== sendCause };
  };

export const presentCredential = (deps: Deps) => {
  const mint = mintCredential(deps);
  /** The same key gives the same token. The credential is encrypted here and goes nowhere but to the merchant. */
  const mintAnew = async (row: Row): Promise<MintedCredential | Refusal> => {
    const opened = await openChallenge(deps, row);
    if (!opened.ok) return refusal('challenge_expired', opened.reason);
    const minted = await mint(credentialOrderOf(row, opened), await causeOfStep(deps, row, 'mint'));
    return minted.outcome === 'minted' ? minted : notMinted(minted);
  };
  return async (paymentId: string, sendCause: string): Promise<Row> => {
    const row = await mppPaymentOf(deps.database.read(), paymentId);
    if (!maySend(row, sendCause)) return row;
    const minted = deps.mintedCredentials.take(row.credentialId) ?? (await mintAnew(row));
    if (!('header' in minted)) return notSent(deps, row, sendCause, minted);
    // Before the claim: a signer that cannot be had must not leave an unknown outcome.
    const [signer, tool, why, cause] = await Promise.all([
      deps.signerOf(row.agentId),
      openTool(deps.vault, row),
      whyUnusable(deps.database.read(), minted),
      causeOfStep(deps, row, 'send'),
    ]);
    if (why !== undefined) return notSent(deps, row, sendCause, why);
    if (!(await claimSend(deps, row, sendCause, cause))) return mppPaymentOf(deps.database.read(), paymentId);
    const { header } = minted;
    const answer = await deps.paidResource.present({ url: row.payeeUrl ?? row.url, header, signer, tool });
    return recordAnswer(deps, row, { answer, challengeId: minted.row.challengeId });
  };
};

const maySend = (row: Row, sendCause: string): boolean =>
  row.status === 'presenting' && row.sendCause === sendCause && row.sentAt == null;

/**
 * Committed before the credential leaves. False where this step must not send: its time is over, or the row has moved.
 * One that was changed since it was read, by a charge, is read again.
 */
async function claimSend({ database }: Deps, row: Row, sendCause: string, cause: Cause): Promise<boolean> {
  let found = row;
  for (let attempt = 0; attempt < mostClaims; attempt++) {
    const real = new Date();
    if (!maySend(found, sendCause) || found.sendUntil == null || found.sendUntil <= real) return false;
    if ((await markSent(database.read(), found, { cause, real })) !== undefined) return true;
    found = await mppPaymentOf(database.read(), row.id);
  }
  return false;
}

const mostClaims = 3;

/** It was minted a moment ago, and may have ended since, or the owner may have forbidden its payee. */
async function whyUnusable(tx: Tx, { row: { id }, payee }: MintedCredential): Promise<Refusal | undefined> {
  const row = await findMppCredential(tx, id);
  if (row === null) return refusal('expired', 'the credential is gone');
  const status = credentialStatusAsOf(row, new Date());
  if (isFinalCredential(status)) return notMinted({ outcome: 'ended', status, row });
  const forbidden = await protectionFrom(tx, row, payee);
  return forbidden === undefined ? undefined : refusal('protect_rule', forbidden.reason);
}

/** Only the step that may send knows that it will not. */
async function notSent(deps: Deps, row: Row, sendCause: string, why: Refusal): Promise<Row> {
  const cause = await causeOfStep(deps, row, 'refuse');
  return deps.database.write(async (tx) => {
    const locked = await lockMppPaymentWithIntent(tx, row);
    if (!maySend(locked, sendCause)) return locked;
    return changeMppPayment(tx, locked, 'withhold', why, cause, { real: new Date() });
  });
}
