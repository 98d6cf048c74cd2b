/** Changes of a card by its owner: its names, its own limits, its controls. A closed card does not change. @module */
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { CardRow } from './card.entity.ts';
import { lockAgentOf, type OwnedCard, refuseTakenName } from './card.holder.service.ts';
import { cardRecords } from './card.queries.ts';
import type { CardLimits } from './card.rules.ts';
import { lockCard } from './card.service.ts';
import { cardEventData } from './card.wire.ts';

export type CardDetails = { readonly name?: string | undefined; readonly displayName?: string | null | undefined };

/** The agent is held, so that of two cards renamed at once one gets the name. */
type Named = { readonly cardId: ReachedId<'card'>; readonly ownerId: string };

export async function changeCardDetails(
  tx: Tx,
  cause: Cause,
  { cardId, ownerId }: Named,
  details: CardDetails,
): Promise<void> {
  await lockAgentOf(tx, { cardId, ownerId });
  const row = await lockOpenCard(tx, cardId, ownerId);
  const changes = differing(row, details);
  if (changes.name !== undefined) await refuseTakenName(tx, { agentId: row.agentId, name: changes.name });
  await write(tx, cause, row, changes, 'card.details_changed');
}

export const changeCardLimits = (tx: Tx, cause: Cause, card: Named, limits: CardLimits): Promise<void> =>
  grantCardLimits(tx, cause, card, limits);

/** For the card of a request that the caller has locked. */
export async function grantCardLimits(
  tx: Tx,
  cause: Cause,
  { cardId, ownerId }: OwnedCard,
  limits: CardLimits,
): Promise<void> {
  const row = await lockOpenCard(tx, cardId, ownerId);
  await write(tx, cause, row, differing(row, limits), 'card.limits_changed');
}

export async function lockOpenCard(tx: Tx, cardId: string, ownerId: string): Promise<CardRow> {
  const row = await lockCard(tx, cardId, { ownerId });
  if (row.status !== 'closed') return row;
  throw new DomainError('invalid_state', `card ${cardId} is closed: nothing of it changes any more`);
}

/** A value that is set already is no change and fires no event. */
function differing<Fields extends CardDetails & CardLimits>(row: CardRow, fields: Fields): Partial<Fields> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.filter(([name, value]) => (row[name as keyof Fields & keyof CardRow] ?? null) !== value),
  ) as Partial<Fields>;
}

async function write(
  tx: Tx,
  cause: Cause,
  row: CardRow,
  changes: CardDetails & CardLimits,
  event: 'card.details_changed' | 'card.limits_changed',
): Promise<void> {
  const fields = Object.keys(changes);
  if (fields.length === 0) return;
  Object.assign(row, changes, { updatedAt: cause.at });
  await tx.flush();
  await recordCardDetails(tx, cause, row.id, fields, event);
}

/** The event names what changed, without the values. */
export async function recordCardDetails(
  tx: Tx,
  cause: Cause,
  cardId: CardRow['id'],
  fields: readonly string[],
  event: 'card.details_changed' | 'card.limits_changed',
): Promise<void> {
  const cards = await cardRecords(tx, [cardId]);
  const changed = cards.map((card) => ({
    event,
    ownerId: card.ownerId,
    agentId: card.agentId,
    subjectId: card.id,
    data: { ...cardEventData(card), changed: fields.map(publishedName) },
    details: { fields },
  }));
  await recordChanges(tx, cause, changed);
}

/** A column of cents is a field of euros. */
const publishedName = (field: string): string => field.replace(/Cents$/, 'Euros');
