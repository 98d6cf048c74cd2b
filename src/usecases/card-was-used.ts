/**
 * What a completed payment does to its card: one for a single payment closes itself, and one that reached its policy's
 * count of charges is frozen. Part of the clearing's transaction; a card that stopped meanwhile stays as it is.
 * @module
 */
import { rows, type Tx } from '../db/tx.ts';
import { applyToCard } from '../domains/cards/index.ts';
import type { Cause } from '../platform/cause.ts';

type Use = { readonly status: string; readonly usage: string; readonly used: number; readonly most: number | null };

export async function cardWasUsed(tx: Tx, cardId: string, cause: Cause): Promise<void> {
  const [card] = await rows<Use>(
    tx,
    `select c.status, c.usage, s.usage_count as used, p.max_usage_count as most
     from cards c
     left join policies p on p.agent_id = c.agent_id and p.removed_at is null
     cross join lateral spending_counters(c.agent_id, c.id, $2) s
     where c.id = $1`,
    [cardId, cause.at],
  );
  if (card === undefined || card.status === 'closed') return;
  if (card.usage === 'single') await applyToCard(tx, cardId, { kind: 'close' }, cause);
  else if (card.most !== null && card.used >= card.most && card.status === 'active') {
    await applyToCard(tx, cardId, { kind: 'freeze', by: 'policy' }, cause);
  }
}
