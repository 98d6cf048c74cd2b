/** The only place with activity timeouts and retry policies. @module */
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';

const forever = { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '1 minute' } as const;

/** A transaction in PostgreSQL. It is repeated until PostgreSQL answers. */
export const databaseStep: ActivityOptions = { startToCloseTimeout: '10 seconds', retry: forever };

/** The first attempt of such a transaction. It may take half of a workflow task's time, so that it cannot block the task. */
export const databaseStepAtOnce: LocalActivityOptions = {
  startToCloseTimeout: '5 seconds',
  retry: { maximumAttempts: 1 },
};

/** A call to the outside world that is safe to repeat. */
export const outboundStep: ActivityOptions = { startToCloseTimeout: '15 seconds', retry: forever };

/** Its first attempts, about a second and a half apart from the time that they take. */
export const outboundStepAtFirst: ActivityOptions = {
  startToCloseTimeout: '15 seconds',
  retry: { ...forever, maximumAttempts: 4 },
};

/** A call to the outside world that must not be repeated. */
export const onceStep: ActivityOptions = { startToCloseTimeout: '15 seconds', retry: { maximumAttempts: 1 } };

/** A batch of webhook attempts. It leaves attempts that hang after some seconds, so that it does not keep its slot. */
export const deliveryStep: ActivityOptions = { startToCloseTimeout: '30 seconds', retry: forever };
