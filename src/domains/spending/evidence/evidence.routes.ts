/** Answers the evidence operations: ask the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import type { evidenceArea } from './evidence.contract.ts';
import { evidenceOf } from './evidence.queries.ts';
import { deleteEvidence, keepEvidence } from './evidence.service.ts';
import { evidenceWire } from './evidence.wire.ts';

export const evidenceHandlers = ({ database }: { readonly database: Database }): Handlers<typeof evidenceArea> => ({
  createEvidence: async ({ body, records: { intent } }, call) => {
    const id = call.newId('evidence');
    return evidenceWire(
      await inTransaction({ database }, call, (tx, cause) => keepEvidence(tx, { id, intent, body }, cause)),
    );
  },

  listEvidence: async ({ query: { intentId } }) => (await evidenceOf(database.read(), intentId)).map(evidenceWire),

  getEvidence: async ({ records }) => evidenceWire(records.evidence),

  deleteEvidence: async ({ records: { evidence } }, call) => {
    await inTransaction({ database }, call, (tx, cause) => deleteEvidence(tx, evidence, cause));
    return undefined;
  },
});
