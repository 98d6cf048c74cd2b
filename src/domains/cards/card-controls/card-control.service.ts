/**
 * Changes the controls of a card: lock the card, decide by the rules, save, record the event. The card's version moves
 * with them, so that a decision that has read the earlier ones is made again.
 * @module
 */
import type { Tx } from '../../../db/tx.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { CardControls } from '../../spending/policies/index.ts';
import { lockOpenCard, recordCardDetails } from '../cards/card.change.service.ts';
import { differingLists, noControls, whyNotControls, withoutRepeats } from './card-control.rules.ts';
import type { ControlledCard } from './card-control.wire.ts';

export type CardOfOwner = { readonly cardId: ReachedId<'card'>; readonly ownerId: string };
type Lists = { readonly [List in keyof CardControls]?: CardControls[List] | undefined };

export const replaceControls = (tx: Tx, cause: Cause, card: CardOfOwner, lists: Lists): Promise<ControlledCard> =>
  change(tx, cause, card, () => ({ ...noControls, ...given(lists) }));

export const updateControls = (tx: Tx, cause: Cause, card: CardOfOwner, lists: Lists): Promise<ControlledCard> =>
  change(tx, cause, card, (current) => ({ ...current, ...given(lists) }));

export const removeControls = (tx: Tx, cause: Cause, card: CardOfOwner): Promise<ControlledCard> =>
  change(tx, cause, card, () => noControls);

async function change(
  tx: Tx,
  cause: Cause,
  { cardId, ownerId }: CardOfOwner,
  changed: (current: CardControls) => CardControls,
): Promise<ControlledCard> {
  const row = await lockOpenCard(tx, cardId, ownerId);
  const current = row.controls ?? noControls;
  const wanted = withoutRepeats(changed(current));
  const why = whyNotControls(wanted);
  if (why !== undefined) throw new DomainError('invalid_state', why);
  const fields = differingLists(current, wanted);
  if (fields.length > 0) {
    const isEmpty = differingLists(wanted, noControls).length === 0;
    Object.assign(row, { controls: isEmpty ? null : wanted, controlsUpdatedAt: cause.at, updatedAt: cause.at });
    await tx.flush();
    await recordCardDetails(tx, cause, row.id, fields, 'card.details_changed');
  }
  return { id: row.id, controls: row.controls ?? null, controlsUpdatedAt: row.controlsUpdatedAt ?? null };
}

const given = (lists: Lists): Partial<CardControls> =>
  Object.fromEntries(Object.entries(lists).filter(([, list]) => list !== undefined));
