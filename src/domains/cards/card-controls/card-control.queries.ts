/** Reads the controls of a card. @module */
import { type Given, query } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { ControlledCard } from './card-control.wire.ts';

const controls = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('cards').select(['id', 'controls', 'controlsUpdatedAt']).where('id', '=', given('id')),
);

export async function controlsOf(tx: Tx, cardId: string): Promise<ControlledCard> {
  const card = await controls.first(tx, { id: cardId });
  if (card === null) throw notFound('card', cardId);
  return card;
}
