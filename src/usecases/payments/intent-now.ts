/**
 * What an intent allows at one instant, for the steps of a checkout: whether it may be paid, and what a payment has to
 * fit. Reads only.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { whyUnpayable } from '../../domains/spending/intents/intent.rules.ts';
import { stateOf } from '../../domains/spending/intents/intent.state.service.ts';
import { matchableIntent } from '../../domains/spending/intents/matchable-intent.rules.ts';
import { payableAt, windowOfNow } from '../../domains/spending/intents/windows/window.now.service.ts';
import type { MatchableIntent } from '../../domains/spending/policies/policy.rules.ts';

/** Undefined for an intent that may be paid. */
export async function whyUnpayableNow(tx: Tx, intent: IntentRow | null, at: Date): Promise<string | undefined> {
  if (intent === null) return 'the intent is gone; nothing was held';
  const why = whyUnpayable(stateOf(intent), at) ?? (await matchableNow(tx, intent, at)).closedBecause;
  return why === undefined ? undefined : `${why}; nothing was held`;
}

export async function matchableNow(tx: Tx, intent: IntentRow, at: Date): Promise<MatchableIntent> {
  const taken = await windowOfNow(tx, intent, at);
  return matchableIntent(intent, taken === null ? [] : [taken], payableAt(intent, at));
}
