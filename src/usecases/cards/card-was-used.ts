/**
 * The effect of a completed payment on its card: a single-use card is closed, and a card that reached its policy's
 * count of charges is frozen. Runs in the clearing's transaction; a card that is frozen or closed already does not
 * change.
 * @module
 */
import * as z from 'zod';
import { firstRowOf } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import { applyToCard } from '../../domains/cards/cards/card.service.ts';
import type { Cause } from '../../platform/cause.ts';

const use = z.object({
  id: z.string(),
  status: z.string(),
  usage: z.string(),
  used: z.int(),
  most: z.int().nullable(),
});

/** A card that was rotated meanwhile has handed its use on to the one in its place; the agent is held, so none is now. */
export async function cardWasUsed(tx: Tx, cardId: string, cause: Cause): Promise<void> {
  const card = await firstRowOf(
    tx,
    use,
    // Counted only where a policy asks.
    `with recursive line as (
       select * from cards where id = $1
       union all
       select next.* from cards next join line on next.id = line.replaced_by_card_id)
     select c.id, c.status, c.usage, p.max_usage_count as most,
       case when p.max_usage_count is not null then
         (select coalesce(sum(d.payments), 0)::bigint from spending_days d
          where d.agent_id = c.agent_id and d.card_id = any (array_append(c.earlier_card_ids, c.id)))
       else 0 end as used
     from line c
     left join policies p on p.agent_id = c.agent_id and p.removed_at is null
     where c.replaced_by_card_id is null`,
    [cardId],
  );
  if (card === undefined || card.status === 'closed') return;
  if (card.usage === 'single') await applyToCard(tx, card.id, { kind: 'close' }, cause);
  else if (card.most !== null && card.used >= card.most && card.status === 'active') {
    await applyToCard(tx, card.id, { kind: 'freeze', by: 'policy' }, cause);
  }
}
