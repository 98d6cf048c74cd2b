/** The change that records an event of one window of a recurring intent. Shapes only. @module */
import type { EventsLike } from '../../../../events/catalog.ts';
import type { Change } from '../../../../events/record.ts';
import type { IntentRow } from '../intent.entity.ts';
import { windowEventData } from '../intent.wire.ts';
import type { WindowRow } from './window.queries.ts';

export function windowChangeOf(
  intent: IntentRow,
  event: EventsLike<'intent_window.completed'>,
  window: WindowRow,
): Change {
  const { number, transactionId } = window;
  return {
    event,
    ownerId: intent.ownerId,
    agentId: intent.agentId,
    subjectId: intent.id,
    data: windowEventData(intent, window),
    details: { window: number, ...(transactionId === null ? {} : { transactionId }) },
  };
}
