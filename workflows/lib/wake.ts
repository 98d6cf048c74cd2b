/** The signal that every workflow understands: the row has changed, look at it. @module */
import { defineSignal } from '@temporalio/workflow';

export const wakeSignal = defineSignal<unknown[]>('wake');
/** Shown beside the signal in the Web UI. */
export const wakeDescription = { description: 'Look at the row again. Always harmless.' };
