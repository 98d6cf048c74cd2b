/** Subscription reads: one, and pages by owner. Deleted ones are gone. @module */
import type { Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { PageQuery } from '../../../kernel/page.ts';
import { WebhookRow } from './webhook.entity.ts';

export const findWebhook = (tx: Tx, id: Id<'webhook'>): Promise<WebhookRow | null> =>
  tx.findOne(WebhookRow, { id, deletedAt: null });

/** Up to `limit + 1` rows, newest first. */
export const listWebhooks = (tx: Tx, ownerId: string, { limit, after }: PageQuery): Promise<WebhookRow[]> =>
  tx.find(
    WebhookRow,
    { ownerId, deletedAt: null, ...(after === undefined ? {} : before(after)) },
    {
      orderBy: { createdAt: 'desc', id: 'desc' },
      limit: limit + 1,
    },
  );

const before = ({ createdAt, id }: NonNullable<PageQuery['after']>) => ({
  $or: [
    { createdAt: { $lt: new Date(createdAt) } },
    { createdAt: new Date(createdAt), id: { $lt: id as Id<'webhook'> } },
  ],
});
