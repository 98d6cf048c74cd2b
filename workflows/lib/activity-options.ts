/** The only place with activity timeouts and retry policies. @module */
import type { ActivityOptions } from '@temporalio/workflow';

const forever = { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '1 minute' } as const;

/** A transaction in PostgreSQL: short, repeated until the database is back. */
export const databaseStep: ActivityOptions = { startToCloseTimeout: '10 seconds', retry: forever };

/** A call to the outside world that is safe to repeat. */
export const outboundStep: ActivityOptions = { startToCloseTimeout: '15 seconds', retry: forever };

/** One delivery attempt: the receiver has 30 s. */
export const deliveryStep: ActivityOptions = { startToCloseTimeout: '45 seconds', retry: forever };
