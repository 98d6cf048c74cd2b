/** Keeps each version of a policy as a whole, in the transaction that makes it. Decides nothing. @module */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { actorInWords, type Cause } from '../../../platform/cause.ts';
import type { PolicyRow } from './policy.entity.ts';
import { termsOf } from './policy.wire.ts';
import './policy-version.entity.ts';

/** `row` is stored already, under its lock. */
export async function keepVersion(tx: Tx, row: PolicyRow, cause: Cause): Promise<void> {
  await runSql(
    tx,
    `insert into policy_versions (policy_id, version, owner_id, agent_id, terms, changed_by, request_id, changed_at)
     values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8)`,
    [
      row.id,
      row.version,
      row.ownerId,
      row.agentId ?? null,
      JSON.stringify(termsOf(row)),
      actorInWords(cause.actor),
      cause.requestId,
      row.updatedAt,
    ],
  );
}
