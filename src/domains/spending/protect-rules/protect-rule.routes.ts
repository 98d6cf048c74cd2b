/** Answers the operations of protect rules: call the service, shape the answer. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import { type Handlers, Reply } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { protectRulesArea } from './protect-rule.contract.ts';
import { listProtectRules } from './protect-rule.queries.ts';
import { createProtectRule, deleteProtectRule } from './protect-rule.service.ts';
import { protectRuleWire } from './protect-rule.wire.ts';

export const protectRuleHandlers = ({
  database,
}: {
  readonly database: Database;
}): Handlers<typeof protectRulesArea> => ({
  createProtectRule: async ({ body, own: { ownerId } }, call) => {
    const wanted = { id: call.newId('protectRule'), ownerId, body };
    const { row, isNew } = await inTransaction({ database }, call, (tx, cause) => createProtectRule(tx, wanted, cause));
    return new Reply(isNew ? 201 : 200, protectRuleWire(row));
  },

  listProtectRules: async ({ query, own }) =>
    mapPage(await listProtectRules(database.read(), own, pageOfQuery(query)), protectRuleWire),

  deleteProtectRule: async ({ records: { protectRule } }, call) => {
    await inTransaction({ database }, call, (tx, cause) => deleteProtectRule(tx, protectRule, cause));
    return { id: protectRule.id, deleted: true };
  },
});
