/** Card steps the worker runs: read the row, ask the processor, store its answer. Each is safe to repeat. @module */
import type { Database } from '../../src/db/database.ts';
import type { CardRow } from '../../src/domains/cards/cards/card.entity.ts';
import { markSynced, type OnActivated, storeIssuedCard } from '../../src/domains/cards/cards/card.issue.service.ts';
import type { CardView } from '../../src/domains/cards/cards/card.messages.ts';
import type { CardProcessor } from '../../src/domains/cards/cards/card.port.ts';
import { findCard } from '../../src/domains/cards/cards/card.queries.ts';
import { nextCardStep } from '../../src/domains/cards/cards/card.rules.ts';
import { cardView } from '../../src/domains/cards/cards/card.wire.ts';
import { notFound } from '../../src/kernel/errors.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = { database: Database; clock: Clock; processor: CardProcessor; onActivated: OnActivated };

export type CardNext = { readonly kind: 'issue' | 'sync' | 'wait' | 'final'; readonly view: CardView };

export const cardActivities = ({ database, clock, processor, onActivated }: Deps) => ({
  /** From the row: the next step of the run. */
  nextCardStep: refusing(async (cardId: string): Promise<CardNext> => {
    const view = cardView(await cardOf(database, cardId));
    return { kind: nextCardStep(view), view };
  }),

  /** Asks under the card's id, so that a lost answer finds the same card at the processor. */
  issueCard: refusing(async (cardId: string): Promise<CardView> => {
    const row = await cardOf(database, cardId);
    if ((row.syncedState ?? null) !== null) return cardView(row);
    const issued = await processor.issueCard({ cardId: row.id, usage: row.usage, idempotencyKey: row.id });
    const at = await clock.now();
    return cardView(await database.write((tx) => storeIssuedCard(tx, cardId, issued, at, onActivated)));
  }),

  /** Sends the row's current state to the processor; a later change is sent by the next step. */
  syncCard: refusing(async (cardId: string): Promise<CardView> => {
    const row = await cardOf(database, cardId);
    const { cardRef, status: state } = row;
    if (cardRef === null || cardRef === undefined) return cardView(row);
    const outcome = await processor.setCardState({ cardRef, state });
    const at = await clock.now();
    return cardView(await database.write((tx) => markSynced(tx, cardId, state, outcome, at)));
  }),
});

export type CardActivities = ReturnType<typeof cardActivities>;

async function cardOf(database: Database, cardId: string): Promise<CardRow> {
  const row = await findCard(database.read(), cardId);
  if (row === null) throw notFound('card', cardId);
  return row;
}
