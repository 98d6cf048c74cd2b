/** Reads of protect rules: one, those that apply to an agent's payment, and pages. No decision is made here. @module */
import { type Given, query } from '../../../db/db.ts';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Own } from '../../../http/caller.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { ProtectRuleRow, ProtectRuleSchema } from './protect-rule.entity.ts';
import type { ProtectRule } from './protect-rule.rules.ts';

export const findProtectRule = (tx: Tx, id: string): Promise<ProtectRuleRow | null> =>
  tx.findOne(ProtectRuleRow, { id: id as ProtectRuleRow['id'] });

const inReach = query((from, given: Given<{ ownerId: string; agentId: string }>) =>
  from
    .selectFrom('protect_rules')
    .select(['id', 'agentId', 'type', 'merchant'])
    .where('ownerId', '=', given('ownerId'))
    .where((eb) => eb.or([eb('agentId', 'is', null), eb('agentId', '=', given('agentId'))])),
);

/** What `protectDecision` needs: the rules for the agent, and those for every agent of the owner. */
export const protectRulesFor = (
  tx: Tx,
  of: { readonly ownerId: string; readonly agentId: string },
): Promise<readonly ProtectRule[]> => inReach.all(tx, of);

const protectRules = list((from, given: Filters<{ ownerId: string; agentId?: string | undefined }>) => {
  const wanted = from
    .selectFrom('protect_rules')
    .select(columnsOf(ProtectRuleSchema))
    .where('ownerId', '=', given('ownerId'));
  if (!given.has('agentId')) return wanted;
  return wanted.where((eb) => eb.or([eb('agentId', 'is', null), eb('agentId', '=', given('agentId'))]));
}, newestFirst('protect_rules'));

/** Newest first. An agent's token gets the rules that apply to its agent. */
export const listProtectRules = (
  tx: Tx,
  { ownerId, agentId }: Own,
  pageQuery: PageQuery,
): Promise<Page<ProtectRuleRow>> => page(tx, protectRules, { ownerId, agentId }, pageQuery);

type Same = { readonly ownerId: string; readonly agentId: Id<'agent'> | null } & Pick<
  ProtectRuleRow,
  'type' | 'merchant'
>;

export const findSameProtectRule = (tx: Tx, same: Same): Promise<ProtectRuleRow | null> =>
  tx.findOne(ProtectRuleRow, { ...same });

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly protectRule: ProtectRuleRow;
  }
}
