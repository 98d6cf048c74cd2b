/**
 * Writes down each use of the dashboard's secret, also one that only reads or is refused later; what changes
 * something is audited with its event besides.
 * @module
 */
import type { Database } from '../../../db/database.ts';
import { rows } from '../../../db/tx.ts';
import { newId } from '../../../kernel/ids.ts';
import { actorInWords } from '../../../platform/cause.ts';

type Use = {
  readonly operation: string;
  /** Undefined: of the whole deployment. */
  readonly ownerId: string | undefined;
  readonly requestId: string;
  readonly at: Date;
};

const ofNobody = 'deployment';

export async function recordDashboardUse(database: Database, use: Use): Promise<void> {
  const ownerId = use.ownerId ?? ofNobody;
  await rows(
    database.read(),
    `insert into audit (id, owner_id, actor, action, subject_id, details, request_id, created_at)
     values ($1, $2, $3, 'dashboard.used', $2, $4::jsonb, $5, $6)`,
    [
      newId('audit'),
      ownerId,
      actorInWords({ kind: 'dashboard' }),
      JSON.stringify({ operation: use.operation }),
      use.requestId,
      use.at,
    ],
  );
}
