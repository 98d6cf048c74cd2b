/** Reads an intent under a lock until the end of the transaction. Decides nothing and changes nothing. @module */
import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import { hasMoved } from '../../../platform/transitions.ts';
import { IntentRow } from './intent.entity.ts';

/** `seen`: the cause that it was locked for has moved it before. */
export type LockedIntent = { readonly row: IntentRow; readonly seen: boolean };

export async function lockIntent(tx: Tx, id: string): Promise<IntentRow> {
  const row = await tx.findOne(
    IntentRow,
    { id: id as IntentRow['id'] },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  if (row === null) throw notFound('intent', id);
  return row;
}

export async function lockIntentFor(tx: Tx, id: string, { causeId }: Cause): Promise<LockedIntent> {
  const row = await lockIntent(tx, id);
  return { row, seen: await hasMoved(tx, 'intent', id, causeId) };
}
