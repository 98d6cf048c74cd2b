/** Answers the evidence operations: ask the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { mayReach } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import { findIntent } from '../intents/index.ts';
import type { evidenceArea } from './evidence.contract.ts';
import { evidenceOf, findEvidence } from './evidence.queries.ts';
import { deleteEvidence, keepEvidence } from './evidence.service.ts';
import { evidenceWire } from './evidence.wire.ts';

export const evidenceHandlers = ({ database }: { readonly database: Database }): Handlers<typeof evidenceArea> => ({
  createEvidence: async ({ body }, call) => {
    const id = call.newId('evidence');
    const row = await database.write(async (tx) => {
      const intent = mayReach(call, 'intent', body.intentId, await findIntent(tx, body.intentId));
      return keepEvidence(tx, { id, intent, body }, call.cause);
    });
    return evidenceWire(row);
  },

  listEvidence: async ({ query: { intentId } }, call) => {
    mayReach(call, 'intent', intentId, await findIntent(database.read(), intentId));
    return (await evidenceOf(database.read(), intentId)).map(evidenceWire);
  },

  getEvidence: async ({ params: { id } }, call) =>
    evidenceWire(mayReach(call, 'evidence', id, await findEvidence(database.read(), id))),

  deleteEvidence: async ({ params: { id } }, call) => {
    await database.write(async (tx) => {
      const row = mayReach(call, 'evidence', id, await findEvidence(tx, id));
      await deleteEvidence(tx, row, call.cause);
    });
    return undefined;
  },
});
