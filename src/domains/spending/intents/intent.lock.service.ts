/** Reads an intent under a lock until the end of the transaction. Decides nothing and changes nothing. @module */
import { LockMode } from '@mikro-orm/core';
import { type Given, query } from '../../../db/db.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import { hasMoved } from '../../../platform/transitions.ts';
import { IntentRow, IntentSchema } from './intent.entity.ts';

/** `seen`: the cause that it was locked for has moved it before. */
export type LockedIntent = { readonly row: IntentRow; readonly seen: boolean };

/** For a command of a caller: `ownerId` of another owner finds nothing. */
type OfOwner = { readonly ownerId?: string };

export async function lockIntent(tx: Tx, id: string, { ownerId }: OfOwner = {}): Promise<IntentRow> {
  const row = await tx.findOne(
    IntentRow,
    { id: id as IntentRow['id'], ...(ownerId !== undefined && { ownerId }) },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  if (row === null) throw notFound('intent', id);
  return row;
}

/** Many at once, by their ids; one that does not exist is an error. */
export async function lockIntents(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, IntentRow>> {
  const wanted = [...new Set(ids)] as IntentRow['id'][];
  if (wanted.length === 0) return new Map();
  const rows = await tx.find(
    IntentRow,
    { id: { $in: wanted } },
    { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  const found = new Map<string, IntentRow>(rows.map((row) => [row.id, row]));
  const missing = wanted.find((id) => !found.has(id));
  if (missing !== undefined) throw notFound('intent', missing);
  return found;
}

const oneLocked = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('intents').select(columnsOf(IntentSchema)).where('id', '=', given('id')).forUpdate(),
);

/** The same, to be read only. */
export async function lockedIntent(tx: Tx, id: string): Promise<Readonly<IntentRow>> {
  const row = await oneLocked.first(tx, { id });
  if (row === null) throw notFound('intent', id);
  return row;
}

export async function lockIntentFor(
  tx: Tx,
  id: string,
  { causeId }: Cause,
  owner: OfOwner = {},
): Promise<LockedIntent> {
  const row = await lockIntent(tx, id, owner);
  return { row, seen: await hasMoved(tx, 'intent', id, causeId) };
}
