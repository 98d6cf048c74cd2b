/** Reads and raises the limits of one owner. Counts nothing: that is done where records are created. @module */
import { type Given, query } from '../../../db/db.ts';
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import { type LimitName, limitNames, limits } from '../../../platform/limits.ts';

const raisedLimits = query((from, given: Given<{ ownerId: string }>) =>
  from.selectFrom('owner_limits').select(['name', 'most']).where('ownerId', '=', given('ownerId')),
);

/** In the order of the table. */
export async function limitsOf(tx: Tx, ownerId: string): Promise<ReadonlyMap<LimitName, number>> {
  const raised = await raisedLimits.all(tx, { ownerId });
  const most = new Map<string, number>(raised.map((row) => [row.name, row.most]));
  return new Map(limitNames.map((name) => [name, most.get(name) ?? limits[name].most]));
}

export type Raise = { readonly ownerId: string; readonly name: LimitName; readonly limit: number };

export async function updateLimit(tx: Tx, { ownerId, name, limit }: Raise, cause: Cause): Promise<void> {
  const { most } = limits[name];
  if (limit < most) throw new DomainError('invalid_request', `body.limit: must be at least ${most}, the default`);
  await runSql(tx, `select lock_limit('owner_limits', $1, $2)`, [ownerId, name]);
  const previousLimit = (await limitsOf(tx, ownerId)).get(name) ?? most;
  await runSql(
    tx,
    `insert into owner_limits (owner_id, name, most, updated_at) values ($1, $2, $3, $4)
     on conflict (owner_id, name) do update set most = excluded.most, updated_at = excluded.updated_at`,
    [ownerId, name, limit, cause.at],
  );
  const data = { id: name, ownerId, limit, previousLimit };
  await recordChanges(tx, cause, [
    { event: 'limit.updated', ownerId, subjectId: name, data, details: { limit, previousLimit } },
  ]);
}
