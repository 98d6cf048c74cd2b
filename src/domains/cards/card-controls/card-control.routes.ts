/** Answers the operations of card controls: ask the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import type { cardControlsArea } from './card-control.contract.ts';
import { controlsOf } from './card-control.queries.ts';
import { removeControls, replaceControls, updateControls } from './card-control.service.ts';
import { cardControlsWire } from './card-control.wire.ts';

export type CardControlDeps = { readonly database: Database };

export const cardControlHandlers = (deps: CardControlDeps): Handlers<typeof cardControlsArea> => ({
  getCardControls: async ({ params: { cardId } }) => cardControlsWire(await controlsOf(deps.database.read(), cardId)),

  replaceCardControls: async ({ params: { cardId }, body, own: { ownerId } }, call) =>
    cardControlsWire(
      await inTransaction(deps, call, (tx, cause) => replaceControls(tx, cause, { cardId, ownerId }, body)),
    ),

  updateCardControls: async ({ params: { cardId }, body, own: { ownerId } }, call) =>
    cardControlsWire(
      await inTransaction(deps, call, (tx, cause) => updateControls(tx, cause, { cardId, ownerId }, body)),
    ),

  deleteCardControls: async ({ params: { cardId }, own: { ownerId } }, call) =>
    cardControlsWire(await inTransaction(deps, call, (tx, cause) => removeControls(tx, cause, { cardId, ownerId }))),
});
