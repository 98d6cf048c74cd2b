/** The signal that every workflow understands: the row has changed, look at it. @module */
import { defineSignal } from '@temporalio/workflow';

export const wakeSignal = defineSignal<unknown[]>('wake');
