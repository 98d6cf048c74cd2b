/**
 * Steps of a machine payment that the worker runs, each a use case: obtain the credential, present it once, and settle.
 * Challenge, receipt and body never leave PostgreSQL and one activity, and the credential the worker's memory.
 * @module
 */
import type { MppPaymentRow } from '../../src/domains/payments/mpp-payments/mpp-payment.entity.ts';
import { parseResolution } from '../../src/domains/payments/mpp-payments/mpp-payment.messages.ts';
import { mppPaymentOf } from '../../src/domains/payments/mpp-payments/mpp-payment.queries.ts';
import { waitsForCharge } from '../../src/domains/payments/mpp-payments/mpp-payment.rules.ts';
import { mppPaymentState } from '../../src/domains/payments/mpp-payments/mpp-payment.state.ts';
import { DomainError } from '../../src/kernel/errors.ts';
import { newId } from '../../src/kernel/ids.ts';
import { endPresentation } from '../../src/usecases/payments/conclude-presentation.ts';
import type { MintDeps } from '../../src/usecases/payments/mint-credential.ts';
import { mintedCredentials } from '../../src/usecases/payments/minted-credentials.ts';
import { causeOfStep, type StepDeps } from '../../src/usecases/payments/mpp-payment-step.ts';
import { obtainCredential } from '../../src/usecases/payments/obtain-credential.ts';
import { markPresentation, presentCredential } from '../../src/usecases/payments/present-credential.ts';
import type { PaidResourceDeps } from '../../src/usecases/payments/request-paid-resource.ts';
import { resolveMppPayment } from '../../src/usecases/payments/resolve-mpp-payment.ts';
import { endSilence, recordCharge } from '../../src/usecases/payments/settle-mpp-payment.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = StepDeps &
  MintDeps &
  PaidResourceDeps & {
    readonly signalsMayApprove: boolean;
  };

/** Each activity answers with the row as it is after it. */
type PaymentState = ReturnType<typeof mppPaymentState>;
type Step = (paymentId: string) => Promise<Readonly<MppPaymentRow>>;

export const mppPaymentActivities = (deps: Deps) => {
  const { database, clock } = deps;
  /** Only what waits for a charge needs business time. */
  const stateOf = async (row: Readonly<MppPaymentRow>): Promise<PaymentState> => {
    const real = new Date();
    return mppPaymentState(row, { business: waitsForCharge(row.status) ? await clock.now() : real, real });
  };
  const step = (run: Step) => refusing(async (id: string): Promise<PaymentState> => stateOf(await run(id)));
  const mark = markPresentation(deps);
  const memory = { ...deps, mintedCredentials: mintedCredentials() };
  const present = presentCredential(memory);

  return {
    readMppPayment: step((id) => mppPaymentOf(database.read(), id)),
    obtainMppCredential: step(obtainCredential(memory)),

    markMppPresentation: refusing(async (id: string, causeId: string) => {
      const { row, mayHaveSent } = await mark(id, causeId);
      return { ...(await stateOf(row)), mayHaveSent };
    }),

    presentMppCredential: refusing(
      async (id: string, causeId: string): Promise<PaymentState> => stateOf(await present(id, causeId)),
    ),

    endMppPresentation: step(endPresentation(deps)),
    recordMppCharge: step(recordCharge(deps)),
    endMppSilence: step(endSilence(deps)),

    /** What a person typed into the signal `resolve`. */
    resolveMppPayment: refusing(async (id: string, typed: unknown, causeId: string): Promise<PaymentState> => {
      const parsed = parseResolution(typed);
      if ('ignored' in parsed) throw new DomainError('invalid_request', parsed.ignored);
      if (!deps.signalsMayApprove) throw signalsAreOff();
      const actor = { kind: 'signal', by: parsed.by } as const;
      const cause = {
        ...(await causeOfStep(deps, await mppPaymentOf(database.read(), id), 'resolve', actor)),
        causeId,
      };
      const order = { paymentId: id, outcome: parsed.outcome, transactionId: newId('transaction'), isOwnStep: true };
      return stateOf(await database.write((tx) => resolveMppPayment(tx, order, cause, new Date())));
    }),
  };
};

export type MppPaymentActivities = ReturnType<typeof mppPaymentActivities>;

const signalsAreOff = () =>
  new DomainError(
    'invalid_state',
    'this deployment settles no payments by signal (BURSAR_SIGNAL_APPROVALS); use the API',
  );
