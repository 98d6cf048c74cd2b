/**
 * Obtains the credential of a machine payment: requests the resource, compares its challenge with intent, policy and
 * rules, and has the credential minted. Nothing that pays leaves Bursar. A repeat goes on from the row.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import type { MppPaymentRow } from '../../domains/payments/mpp-payments/mpp-payment.entity.ts';
import { mppPaymentOf } from '../../domains/payments/mpp-payments/mpp-payment.queries.ts';
import {
  allowanceOfPayment,
  changeMppPayment,
  lockMppPayment,
  lockMppPaymentWithIntent,
  type MppPaymentChange,
  mintOfPayment,
  undefinedIfStale,
} from '../../domains/payments/mpp-payments/mpp-payment.service.ts';
import { carryOut } from '../../domains/payments/mpp-payments/mpp-payment.write.ts';
import { DomainError } from '../../kernel/errors.ts';
import { ownClockInWords } from '../../platform/own-clock.ts';
import { evaluateChallenge } from './evaluate-challenge.ts';
import { type MintDeps, mintCredential, mintReserved, type Reserved } from './mint-credential.ts';
import type { MintedCredentials } from './minted-credentials.ts';
import {
  type CauseOfStep,
  causesOf,
  credentialOrderOf,
  notMinted,
  type OpenedChallenge,
  openChallenge,
  type Refusal,
  refusal,
  type StepDeps,
} from './mpp-payment-step.ts';
import { type PaidResourceDeps, requestPaidResource } from './request-paid-resource.ts';
import { type CredentialOrder, reserveCredential } from './reserve-credential.ts';

type Row = Readonly<MppPaymentRow>;
type Deps = StepDeps & MintDeps & PaidResourceDeps & { readonly mintedCredentials: MintedCredentials };

type Asked = {
  readonly opened: Extract<OpenedChallenge, { readonly ok: true }>;
  /** Of the row, where the challenge is not kept yet. */
  readonly change: MppPaymentChange;
};

/** Throws `unavailable` while the processor or the merchant's key set does not answer. */
export const obtainCredential = (deps: Deps) => {
  const request = requestPaidResource(deps);
  const allow = allowPayment(deps);
  const [mint, mintAnew] = [mintReserved(deps), mintCredential(deps)];
  return async (paymentId: string): Promise<Row> => {
    const row = await mppPaymentOf(deps.database.read(), paymentId);
    if (!['requested', 'challenged', 'allowed'].includes(row.status)) return row;
    const asked = row.status === 'requested' ? await request(row) : await keptChallenge(deps, row);
    const causeOf = await causesOf(deps, row); // After the request, which may take seconds.
    if ('refused' in asked) return refuse(deps, row, asked.refused, causeOf);
    const allowed = row.status === 'allowed' ? undefined : await allow(row, asked, causeOf);
    if (allowed !== undefined && 'refused' in allowed) return refuse(deps, row, allowed.refused, causeOf, asked.change);
    let after: Row = row;
    const write = async (tx: Tx): Promise<void> => {
      const locked = await lockMppPayment(tx, paymentId);
      after = await changeMppPayment(tx, locked, 'mint', {}, causeOf('mint'), { real: new Date() });
    };
    const atOnce = (payment: Row, intentVersion: number) => {
      const minting = mintOfPayment(payment, causeOf('mint'));
      const written = (version: number): void => {
        after = minting.after(version);
      };
      return { intentVersion, payment: minting.write, written };
    };
    const minted =
      allowed === undefined
        ? await mintAnew(credentialOrderOf(row, asked.opened), causeOf('mint'), { write })
        : await mint(allowed.order, allowed.credential, causeOf('mint'), {
            write,
            ...(allowed.intentVersion === undefined ? {} : { atOnce: atOnce(allowed.payment, allowed.intentVersion) }),
          });
    if (minted.outcome !== 'minted') return refuse(deps, row, notMinted(minted), causeOf);
    deps.mintedCredentials.keep(row.credentialId, minted);
    return after;
  };
};

async function keptChallenge(deps: Deps, row: Row): Promise<Asked | { readonly refused: Refusal }> {
  const opened = await openChallenge(deps, row);
  return opened.ok ? { opened, change: {} } : { refused: refusal('challenge_expired', opened.reason) };
}

type Allowed =
  | {
      readonly order: CredentialOrder;
      readonly credential: Reserved;
      /** Of the intent that was evaluated; undefined where the credential was reserved before. */
      readonly intentVersion: number | undefined;
      /** As it is after the decision. */
      readonly payment: Row;
    }
  | { readonly refused: Refusal };

/**
 * One transaction keeps the challenge, decides by the facts of now and reserves the credential. A later change of the
 * facts may still lead the mint or the network's authorization to another decision.
 */
const allowPayment = (deps: Deps) => {
  const reserve = reserveCredential({ evaluateChallenge: evaluateChallenge(deps) });
  return async (row: Row, { opened, change }: Asked, causeOf: CauseOfStep): Promise<Allowed> => {
    const writing = deps.database.write(async (tx): Promise<Allowed | undefined> => {
      const order = credentialOrderOf({ ...row, ...change }, opened);
      const causes = { challenge: causeOf('challenge'), allow: causeOf('allow') };
      const allowance = allowanceOfPayment(row, change, causes);
      const reserved = await reserve(tx, order, causeOf('allow'), allowance.write);
      if (!reserved.ok) return { refused: refusal(reserved.code, reserved.reason) };
      const { intentVersion, paymentVersion } = reserved;
      // One that was reserved before is allowed by itself.
      const version = paymentVersion === undefined ? await carryOut(tx, allowance.write) : paymentVersion;
      if (version === null) throw await goneFurther(tx, row);
      return { order, credential: reserved, intentVersion, payment: allowance.after(version) };
    });
    const allowed = await undefinedIfStale(writing);
    if (allowed === undefined) throw await goneFurther(deps.database.read(), row);
    return allowed;
  };
};

/** Another attempt has gone further meanwhile, or has ended the payment: this one reserves nothing. */
const goneFurther = async (tx: Tx, { id }: Row): Promise<DomainError> =>
  new DomainError('conflict', `payment ${id} is ${(await mppPaymentOf(tx, id)).status}`);

/** `asked`: what the row keeps of the challenge that is refused. */
const refuse = (
  { database }: Deps,
  row: Row,
  given: Refusal,
  causeOf: CauseOfStep,
  asked?: MppPaymentChange,
): Promise<MppPaymentRow> =>
  database.write(async (tx) => {
    const locked = await lockMppPaymentWithIntent(tx, row);
    const real = new Date();
    const why = await withOwnClock(tx, given);
    const challenged =
      asked === undefined
        ? locked
        : await changeMppPayment(tx, locked, 'challenge', asked, causeOf('challenge'), { real });
    return changeMppPayment(tx, challenged, 'refuse', why, causeOf('refuse'), { real });
  });

const forItsTime: readonly string[] = ['no_challenge', 'challenge_expired', 'expired'];

/** What is past by a wrong clock is not past by the merchant's. */
async function withOwnClock(tx: Tx, why: Refusal): Promise<Refusal> {
  if (!forItsTime.includes(why.outcomeCode ?? '') || !/expired/.test(why.outcomeReason ?? '')) return why;
  const clock = await ownClockInWords(tx);
  return clock === undefined ? why : { ...why, outcomeReason: `${why.outcomeReason}; ${clock}` };
}
