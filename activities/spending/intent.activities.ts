/** Intent steps the worker runs: each is one transaction or one read, safe to repeat. @module */
import type { Database } from '../../src/db/database.ts';
import {
  applyToIntent,
  findIntent,
  type IntentDecision,
  type IntentView,
  intentView,
  nextIntentStep,
  stateOf,
} from '../../src/domains/spending/intents/index.ts';
import { DomainError, notFound } from '../../src/kernel/errors.ts';
import { longestWaitMs } from '../../src/kernel/instant.ts';
import type { Actor } from '../../src/platform/cause.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { decideIntent } from '../../src/usecases/decide-intent.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = { database: Database; clock: Clock; signalsMayApprove: boolean };

export type IntentNext = {
  readonly kind: 'final' | 'expire' | 'wait';
  readonly waitMs: number;
  readonly view: IntentView;
};

export const intentActivities = ({ database, clock, signalsMayApprove }: Deps) => ({
  /** From the row: what the process does now. */
  nextIntentStep: refusing(async (intentId: string): Promise<IntentNext> => {
    const row = await findIntent(database.read(), intentId);
    if (row === null) throw notFound('intent', intentId);
    const step = nextIntentStep({ ...stateOf(row), expiresAt: row.expiresAt }, await clock.now(), longestWaitMs);
    return { kind: step.kind, waitMs: step.kind === 'wait' ? step.waitMs : 0, view: intentView(row) };
  }),

  decideIntent: refusing(async (intentId: string, decision: IntentDecision): Promise<IntentView> => {
    if (decision.actor === 'signal' && decision.decision === 'approve' && !signalsMayApprove) {
      throw signalsAreOff();
    }
    const actor: Actor =
      decision.actor === 'key' ? { kind: 'key', id: decision.by } : { kind: 'signal', by: decision.by };
    const cause = { causeId: decision.causeId, requestId: decision.requestId, actor, at: await clock.now() };
    const row = await database.write((tx) => decideIntent(tx, intentId, { kind: decision.decision }, cause));
    return intentView(row);
  }),

  expireIntent: refusing(async (intentId: string): Promise<IntentView> => {
    const at = await clock.now();
    const cause = { causeId: 'deadline', requestId: `deadline/${intentId}`, actor: { kind: 'deadline' }, at } as const;
    const row = await database.write((tx) =>
      applyToIntent(tx, intentId, { kind: 'expire' }, cause, { isOwnProcess: true }),
    );
    return intentView(row);
  }),
});

export type IntentActivities = ReturnType<typeof intentActivities>;

const signalsAreOff = () =>
  new DomainError(
    'invalid_state',
    'this deployment takes no approvals by signal (BURSAR_SIGNAL_APPROVALS); use the API',
  );
