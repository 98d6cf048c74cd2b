/** Intent reads: one, and pages by owner or agent. No decision is made here. @module */
import { type Condition, plainPage, plainRow, rowVersion, wholeRow } from '../../../db/plain-rows.ts';
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { PageQuery } from '../../../kernel/page.ts';
import { IntentRow } from './intent.entity.ts';
import type { IntentStatus } from './intent.rules.ts';
import { type ShownIntent, shownFields } from './intent.wire.ts';

const shown = { entity: IntentRow, fields: shownFields, version: rowVersion, form: (row: ShownIntent) => row };
const holder = { entity: IntentRow, fields: ['ownerId', 'agentId'] } as const;

/** To be read: who changes it locks it first. */
export const findIntent = (tx: Tx, id: string): Promise<Readonly<IntentRow> | null> =>
  wholeRow(tx, IntentRow, ['id = ?', id]);

/** Whose it is, which never changes; nothing else about it is known before it is locked. */
export async function holderOf(tx: Tx, id: string): Promise<{ ownerId: string; agentId: string }> {
  const found = await plainRow(tx, holder, ['id = ?', id]);
  if (found === null) throw notFound('intent', id);
  return found;
}

export const findByClientId = (tx: Tx, agentId: string, clientIntentId: string): Promise<IntentRow | null> =>
  tx.findOne(IntentRow, { agentId, clientIntentId });

export type IntentFilter = {
  ownerId: string;
  agentId?: string | undefined;
  status?: IntentStatus | undefined;
  now: Date;
};

/** One, to be shown and not to be changed. */
export const readIntent = (tx: Tx, id: string): Promise<ShownIntent | null> => plainRow(tx, shown, ['id = ?', id]);

/** Up to `limit + 1` rows, newest first. */
export const listIntents = (tx: Tx, filter: IntentFilter, page: PageQuery): Promise<ShownIntent[]> =>
  plainPage(
    tx,
    shown,
    page,
    ['owner_id = ?', filter.ownerId],
    filter.agentId === undefined ? undefined : ['agent_id = ?', filter.agentId],
    ofStatus(filter),
  );

/** As readers are told it: an open intent that is past its deadline counts as expired. */
function ofStatus({ status, now }: IntentFilter): Condition {
  if (status === undefined) return undefined;
  const isPast = 'expires_at <= ? and matched_transaction_id is null';
  if (status === 'expired')
    return [`status = ? or status = any(?::text[]) and ${isPast}`, status, [...openStatuses], now];
  return openStatuses.some((open) => open === status)
    ? [`status = ? and not (${isPast})`, status, now]
    : ['status = ?', status];
}

const openStatuses = ['pending_approval', 'approved'] as const;
