/**
 * Audits calls that change nothing: each use of the dashboard's secret, also for a read or a call that is refused
 * later, and refused access to operations that need an owner's key or a person. Changes are audited with their events.
 * @module
 */
import type { Database } from '../../../db/database.ts';
import { runSql } from '../../../db/statement.ts';
import { deploymentAsOwner } from '../../../events/record.ts';
import type { AuditedRefusal } from '../../../http/refused-access.ts';
import { newId } from '../../../kernel/ids.ts';
import { day, later } from '../../../kernel/instant.ts';
import { actorInWords } from '../../../platform/cause.ts';

type Use = {
  readonly operation: string;
  /** Undefined: of the whole deployment. */
  readonly ownerId: string | undefined;
  readonly requestId: string;
  readonly sourceAddress: string;
  readonly at: Date;
};

/** Written before the operation runs, so its outcome is `admitted`. */
export const recordDashboardUse = (database: Database, { operation, ...use }: Use): Promise<void> =>
  insertAudit(database, {
    ...use,
    actor: actorInWords({ kind: 'dashboard' }),
    action: 'dashboard.used',
    details: { operation },
    outcome: 'admitted',
  });

export const recordRefusedAccess = (
  database: Database,
  { operation, code, ...refusal }: AuditedRefusal,
  at: Date,
): Promise<void> =>
  insertAudit(database, { ...refusal, action: 'access.refused', details: { operation, code }, outcome: 'refused', at });

/** IP addresses are personal data: audit rows keep them for 90 days of business time. Bounded work for each call. */
export async function purgeAuditAddresses(database: Database, now: Date): Promise<void> {
  await runSql(database.read(), 'select purge_audit_addresses($1, $2)', [later(now, -addressesKeptMs), purgedAtOnce]);
}

const addressesKeptMs = 90 * day;
const purgedAtOnce = 5_000;

type AuditRow = Omit<Use, 'operation'> & {
  readonly agentId?: string | undefined;
  readonly actor: string;
  readonly action: string;
  readonly details: object;
  readonly outcome: 'admitted' | 'refused';
};

async function insertAudit(database: Database, row: AuditRow): Promise<void> {
  const ownerId = row.ownerId ?? deploymentAsOwner;
  const audit = {
    id: newId('audit'),
    owner_id: ownerId,
    agent_id: row.agentId ?? null,
    actor: row.actor,
    action: row.action,
    subject_id: ownerId,
    details: row.details,
    request_id: row.requestId,
    source_address: row.sourceAddress,
    outcome: row.outcome,
    created_at: row.at,
  };
  await runSql(database.read(), `select record_changes('[]', $1::jsonb)`, [JSON.stringify([audit])]);
}
