/** What is told of a window: the intent, and of it this window. Shapes only. @module */
import type { EventName } from '../../../../events/catalog.ts';
import type { Change } from '../../../../events/record.ts';
import type { IntentRow } from '../intent.entity.ts';
import { windowTold } from '../intent.wire.ts';
import type { WindowRow } from './window.queries.ts';

export function windowChangeOf(intent: IntentRow, event: EventName, window: WindowRow): Change {
  const { number, transactionId } = window;
  return {
    event,
    ownerId: intent.ownerId,
    agentId: intent.agentId,
    subjectId: intent.id,
    data: windowTold(intent, window),
    details: { window: number, ...(transactionId === null ? {} : { transactionId }) },
  };
}
