/**
 * Ends the windows of ended intents: an unpaid one is missed, because it can no longer be paid; one with a payment
 * continues. The caller has locked and ended the intents, and records the events.
 * @module
 */
import { sql } from 'kysely';
import { db } from '../../../../db/db.ts';
import type { Tx } from '../../../../db/tx.ts';
import type { Change } from '../../../../events/record.ts';
import type { Cause } from '../../../../platform/cause.ts';
import type { IntentRow } from '../intent.entity.ts';
import { windowChangeOf } from './window.changes.ts';
import { windowColumns } from './window.queries.ts';

/** As many statements for a hundred intents as for one, and none where none is recurring. */
export async function missOpenWindows(tx: Tx, intents: readonly IntentRow[], { at }: Cause): Promise<Change[]> {
  const recurring = intents.filter((intent) => intent.recurring != null);
  if (recurring.length === 0) return [];
  const missed = await db(tx)
    .updateTable('intent_windows')
    .set({ status: 'missed', updatedAt: at })
    .where(sql<boolean>`intent_id = any(${recurring.map(({ id }) => id)}::text[])`)
    .where('status', '=', 'open')
    .returning(windowColumns)
    .execute();
  return recurring.flatMap((intent) =>
    missed
      .filter(({ intentId }) => intentId === intent.id)
      .sort((one, other) => one.number - other.number)
      .map((window) => windowChangeOf(intent, 'intent_window.missed', window)),
  );
}
