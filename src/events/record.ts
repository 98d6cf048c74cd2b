/**
 * Records a state change as event rows (a trigger fans them out to webhooks in the same transaction) and audit rows,
 * in one statement. Append-only. Call it in the transaction of the change, while the subject's row is locked: the
 * number that the event gets then sorts the events of the subject.
 * @module
 */
import { channel } from 'node:diagnostics_channel';
import { runSql } from '../db/statement.ts';
import type { Tx } from '../db/tx.ts';
import { newId } from '../kernel/ids.ts';
import { actorInWords, type Cause } from '../platform/cause.ts';
import { type EventData, type EventName, type EventsLike, parseEventData } from './catalog.ts';

/** An event with the data that its name promises. */
export type Change = { [Name in EventName]: ChangeBy<Name> }[EventName];

type ChangeBy<Name extends EventName> = {
  readonly event: EventsLike<Name>;
  readonly ownerId: string;
  readonly agentId?: string | null;
  readonly subjectId: string;
  readonly data: EventData<Name>;
  /** For the audit row only; never secrets, never card numbers. */
  readonly details?: Record<string, unknown>;
  /** False for a second event of one change, which needs no separate audit row. */
  readonly audited?: boolean;
  /** In an atomic write: the account whose balance right after becomes `balanceEuros` of the data. */
  readonly balanceOf?: string;
};

export async function recordChanges(tx: Tx, cause: Cause, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return;
  const { events, audits } = changeRecords(cause, changes);
  await runSql(tx, 'select record_changes($1::jsonb, $2::jsonb)', [JSON.stringify(events), JSON.stringify(audits)]);
}

type Caused = { readonly cause: Cause; readonly changes: readonly Change[] };

/** Changes of several causes, in one statement. */
export async function recordChangesOfCauses(tx: Tx, all: readonly Caused[]): Promise<void> {
  const records = all.map(({ cause, changes }) => changeRecords(cause, changes));
  const [events, audits] = [records.flatMap((one) => one.events), records.flatMap((one) => one.audits)];
  if (events.length === 0) return;
  await runSql(tx, 'select record_changes($1::jsonb, $2::jsonb)', [JSON.stringify(events), JSON.stringify(audits)]);
}

/** Subscribers of the channel `bursar.changes` get this, in the asynchronous context of the change, before its commit. */
export type PublishedChanges = {
  readonly cause: Cause;
  readonly events: readonly { readonly id: string; readonly name: EventName }[];
};

export type Audit = {
  readonly action: string;
  /** Absent: of the whole deployment. */
  readonly ownerId?: string;
  readonly agentId?: string;
  readonly subjectId: string;
  /** Never secrets, never card numbers. */
  readonly details: Record<string, unknown>;
};

/** `owner_id` of what concerns no owner. */
export const deploymentAsOwner = 'deployment';

/** Of a change that no subscriber hears of, such as one of the deployment's own keys. */
export async function recordAudit(
  tx: Tx,
  cause: Cause,
  { ownerId = deploymentAsOwner, ...audit }: Audit,
): Promise<void> {
  const row = auditRow(cause, { ...audit, ownerId });
  await runSql(tx, `select record_changes('[]', $1::jsonb)`, [JSON.stringify([row])]);
}

const auditRow = (cause: Cause, { action, ownerId, agentId, subjectId, details }: AuditedChange) => ({
  id: newId('audit'),
  owner_id: ownerId,
  agent_id: agentId ?? null,
  actor: actorInWords(cause.actor),
  action,
  subject_id: subjectId,
  details: { ...details, ...personOf(cause) },
  request_id: cause.requestId,
  source_address: cause.sourceAddress ?? null,
  outcome: 'done',
  created_at: cause.at,
});

/** An event never names the person that approved; the audit row does. */
const personOf = ({ actor }: Cause): { readonly person?: string } =>
  actor.kind === 'passkey' && actor.name !== undefined ? { person: actor.name } : {};

type AuditedChange = Pick<Change, 'ownerId' | 'agentId' | 'subjectId' | 'details'> & { readonly action: string };

const published = channel('bursar.changes');

/** Rows of `events` and `audit`, for a caller that inserts them with its own statement. */
export function changeRecords(cause: Cause, changes: readonly Change[]): ChangeRecords {
  const records = draftRecords(cause, changes);
  publishChanges(cause, records);
  return records;
}

export type ChangeRecords = {
  readonly events: readonly { readonly id: string; readonly name: EventName }[];
  readonly audits: readonly object[];
};

/** To be called by who wrote drafted records. */
export const publishChanges = (cause: Cause, { events }: ChangeRecords): void =>
  published.publish({ cause, events } satisfies PublishedChanges);

/** The same rows of a change that may still be refused. */
export function draftRecords(cause: Cause, changes: readonly Change[]): ChangeRecords {
  const events = changes.map((change) => ({
    id: newId('event'),
    owner_id: change.ownerId,
    agent_id: change.agentId ?? null,
    subject_id: change.subjectId,
    name: change.event,
    data: parseEventData(change.event, change.data),
    request_id: cause.requestId,
    run_id: cause.runId ?? null,
    created_at: cause.at,
    ...(change.balanceOf !== undefined && { balance_of: change.balanceOf }),
  }));
  const audits = changes
    .filter(({ audited }) => audited !== false)
    .map((change) => auditRow(cause, { ...change, action: change.event }));
  return { events, audits };
}
