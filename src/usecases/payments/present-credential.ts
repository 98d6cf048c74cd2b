/**
 * Presents the credential of a machine payment to the merchant, once. The step that sends moves the row before the
 * credential leaves, and only the attempt that has moved it sends. Without an answer the outcome is unknown, and nothing is
 * sent again.
 * @module
 */
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
  type CauseOfStep,
  causeAt,
  causeOfStep,
  causesOf,
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

/**
 * Commits that the step with this cause may send. `mayHaveSent`: another step may have sent before. Only runs that an
 * older release began take this step: the step that sends commits the same now.
 */
export const markPresentation =
  ({ database, clock }: StepDeps) =>
  async (paymentId: string, sendCause: string): Promise<{ readonly row: Row; readonly mayHaveSent: boolean }> => {
    const [at, found] = await Promise.all([clock.now(), mppPaymentOf(database.read(), paymentId)]);
    const real = new Date();
    const cause = causeAt(found, 'present', at);
    const marks = marksOf(sendCause, cause, real);
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
    const [signer, tool, why, causeOf] = await Promise.all([
      deps.signerOf(row.agentId),
      openTool(deps.vault, row),
      whyUnusable(deps, minted),
      causesOf(deps, row),
    ]);
    if (why !== undefined) return notSent(deps, row, sendCause, why);
    const claimed = await claimSend(deps, row, sendCause, causeOf);
    if (claimed === undefined) return mppPaymentOf(deps.database.read(), paymentId);
    if (isTooLate(claimed, new Date())) return withhold(deps, claimed, lateForSending, causeOf('refuse'));
    const { header } = minted;
    const answer = await deps.paidResource.present({ url: row.payeeUrl ?? row.url, header, signer, tool });
    return recordAnswer(deps, row, { answer, challengeId: minted.row.challengeId });
  };
};

/** Nothing was sent: the credential is minted, or an older release has marked it for this step. */
const maySend = (row: Row, sendCause: string): boolean =>
  row.status === 'minted' || (row.status === 'presenting' && row.sendCause === sendCause && row.sentAt == null);

const isTooLate = ({ sendUntil }: Row, now: Date): boolean => sendUntil == null || sendUntil <= now;
const lateForSending = refusal('not_sent', 'the credential was not sent in time');

/**
 * Committed before the credential leaves; answers the row that says so. Only one attempt can move the row there, and it
 * alone sends. Undefined where this step must not send: another one has claimed, its time is over, or the row has moved.
 * One that was changed since it was read, by a charge, is read again.
 */
async function claimSend(deps: Deps, row: Row, sendCause: string, causeOf: CauseOfStep): Promise<Row | undefined> {
  const tx = deps.database.read();
  let found = row;
  for (let attempt = 0; attempt < mostClaims; attempt++) {
    const real = new Date();
    if (!maySend(found, sendCause) || (found.status === 'presenting' && isTooLate(found, real))) return undefined;
    const claimed =
      found.status === 'presenting'
        ? await markSent(tx, found, { cause: causeOf('send'), real })
        : await changeMppPaymentAtOnce(
            tx,
            found,
            'present',
            { ...marksOf(sendCause, causeOf('present'), real), sentAt: real },
            causeOf('present'),
            { real },
          );
    if (claimed !== undefined) return claimed;
    found = await mppPaymentOf(tx, row.id);
  }
  return undefined;
}

const mostClaims = 3;

const marksOf = (sendCause: string, { at }: Cause, real: Date) => ({
  sendCause,
  sendUntil: new Date(real.getTime() + sendWithinMs),
  presentedAt: at,
});

/** It was minted a moment ago, and may have ended since, or the owner may have forbidden its payee. */
async function whyUnusable({ database }: Deps, { row: minted, payee }: MintedCredential): Promise<Refusal | undefined> {
  const [row, forbidden] = await Promise.all([
    findMppCredential(database.read(), minted.id),
    protectionFrom(database.read(), minted, payee),
  ]);
  if (row === null) return refusal('expired', 'the credential is gone');
  const status = credentialStatusAsOf(row, new Date());
  if (isFinalCredential(status)) return notMinted({ outcome: 'ended', status, row });
  return forbidden === undefined ? undefined : refusal('protect_rule', forbidden.reason);
}

/** Only a step that may send knows that it will not. */
async function notSent(deps: Deps, row: Row, sendCause: string, why: Refusal): Promise<Row> {
  const cause = await causeOfStep(deps, row, 'refuse');
  return deps.database.write(async (tx) => {
    const locked = await lockMppPaymentWithIntent(tx, row);
    if (!maySend(locked, sendCause)) return locked;
    const command = locked.status === 'minted' ? 'refuse' : 'withhold';
    return changeMppPayment(tx, locked, command, why, cause, { real: new Date() });
  });
}

/** Of the step that has claimed the row, which no one else sends. */
const withhold = (deps: Deps, row: Row, why: Refusal, cause: Cause): Promise<Row> =>
  deps.database.write(async (tx) =>
    changeMppPayment(tx, await lockMppPaymentWithIntent(tx, row), 'withhold', why, cause, { real: new Date() }),
  );
