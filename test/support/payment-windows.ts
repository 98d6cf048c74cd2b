/**
 * When a recurring intent of the model may be charged: its own small calendar, in days since 1970, for cadences whose
 * windows never meet. Shares nothing with the product but the words of the specification.
 * @module
 */
import { day } from '../../src/kernel/instant.ts';

export const rhythms = {
  daily: { everyDays: 1, daysBefore: 0, daysAfter: 0 },
  weekly: { everyDays: 7, daysBefore: 1, daysAfter: 1 },
} as const;
export type Rhythm = keyof typeof rhythms;

/** `fromMs` belongs to it, `toMs` does not. The first one is number 1 and begins with the approval. */
export type ModelWindow = { readonly number: number; readonly fromMs: number; readonly toMs: number };
export type Calendar = { readonly rhythm: Rhythm; readonly approvedAtMs: number; readonly endsAtMs: number };

/** All of them, up to the end of the intent. */
export function windowsOf({ rhythm, approvedAtMs, endsAtMs }: Calendar): ModelWindow[] {
  const { everyDays, daysBefore, daysAfter } = rhythms[rhythm];
  const found: ModelWindow[] = [];
  for (let dueDay = Math.floor(approvedAtMs / day); ; dueDay += everyDays) {
    const number = found.length + 1;
    const fromMs = number === 1 ? approvedAtMs : (dueDay - daysBefore) * day;
    if (fromMs >= endsAtMs) return found;
    found.push({ number, fromMs, toMs: Math.min((dueDay + daysAfter + 1) * day, endsAtMs) });
  }
}
