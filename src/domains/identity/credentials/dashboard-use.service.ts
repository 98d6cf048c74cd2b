/**
 * Writes down each use of the dashboard's secret that changes nothing, for the owner's audit; what changes something
 * is audited with its event.
 * @module
 */
import type { Database } from '../../../db/database.ts';
import { rows } from '../../../db/tx.ts';
import { newId } from '../../../kernel/ids.ts';
import { actorInWords } from '../../../platform/cause.ts';

type Use = {
  readonly ownerId: string;
  readonly action: string;
  readonly subjectId: string;
  readonly requestId: string;
  readonly at: Date;
};

export async function recordDashboardUse(database: Database, use: Use): Promise<void> {
  await rows(
    database.read(),
    `insert into audit (id, owner_id, actor, action, subject_id, details, request_id, created_at)
     values ($1, $2, $3, $4, $5, '{}', $6, $7)`,
    [
      newId('audit'),
      use.ownerId,
      actorInWords({ kind: 'dashboard' }),
      use.action,
      use.subjectId,
      use.requestId,
      use.at,
    ],
  );
}
