/** The only place with activity timeouts and retry policies. @module */
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';

const forever = { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '1 minute' } as const;

/** A transaction in PostgreSQL: short, repeated until the database is back. */
export const databaseStep: ActivityOptions = { startToCloseTimeout: '10 seconds', retry: forever };

/** The first attempt of such a transaction. Half the time of a workflow task, so that a hanging one does not hold it. */
export const databaseStepAtOnce: LocalActivityOptions = {
  startToCloseTimeout: '5 seconds',
  retry: { maximumAttempts: 1 },
};

/** A call to the outside world that is safe to repeat. */
export const outboundStep: ActivityOptions = { startToCloseTimeout: '15 seconds', retry: forever };

/** A batch of webhook attempts: it leaves those that hang after some seconds, so that it does not hold its slot. */
export const deliveryStep: ActivityOptions = { startToCloseTimeout: '30 seconds', retry: forever };
