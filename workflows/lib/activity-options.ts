/** The only place with activity timeouts and retry policies. @module */
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';

const forever = { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '1 minute' } as const;

const attemptsAtFirst = 4;

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
  retry: { ...forever, maximumAttempts: attemptsAtFirst },
};

/** A call to the outside world that must not be repeated. */
export const onceStep: ActivityOptions = { startToCloseTimeout: '15 seconds', retry: { maximumAttempts: 1 } };

/** A batch of webhook attempts. It leaves attempts that hang after some seconds, so that it does not keep its slot. */
export const deliveryStep: ActivityOptions = { startToCloseTimeout: '30 seconds', retry: forever };

/** Its first attempts. A fault of the batch itself is meant here; a receiver that does not answer is a result. */
export const deliveryStepAtFirst: ActivityOptions = {
  startToCloseTimeout: '30 seconds',
  retry: { ...forever, maximumAttempts: attemptsAtFirst },
};
