/** The signal that every workflow handles: its row has changed and has to be read again. It has no payload. @module */
import { defineSignal, setHandler } from '@temporalio/workflow';

const wakeSignal = defineSignal<unknown[]>('wake');

/** `wake` runs at once, in the task that received the signal; it must only set a flag. */
export function onWake(wake: () => void): void {
  setHandler(wakeSignal, () => wake(), { description: 'Look at the row again. Always harmless.' });
}
