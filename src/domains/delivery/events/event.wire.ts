/** An event of the feed as callers see it. Shapes only. @module */
import type { FeedEventWire } from './event.contract.ts';
import type { FeedRow } from './event.queries.ts';

export const feedEventWire = (row: FeedRow): FeedEventWire => ({
  id: row.id,
  position: row.position,
  event: row.event,
  agentId: row.agentId,
  subjectId: row.subjectId,
  requestId: row.requestId,
  runId: row.runId,
  createdAt: row.createdAt.toISOString(),
  data: row.data,
});
