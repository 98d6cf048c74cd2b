/** Refuses a creation that would exceed a limit of `limits.ts`, with the figure. Counts under lock. @module */
import * as z from 'zod';
import { rowsOf, runSql } from '../db/statement.ts';
import type { Tx } from '../db/tx.ts';
import { DomainError } from '../kernel/errors.ts';
import { type LimitName, limits } from './limits.ts';

export type Counted = {
  readonly ownerId: string;
  /** What the limit is per: an agent's or an intent's id, `<purpose>/<subject>`, or the owner again. */
  readonly subject: string;
  /** Business time. */
  readonly at: Date;
};

/**
 * Refuses one more where the limit is reached. Creations that are counted together are counted one after the other, in
 * the transaction that creates: call it right before the insert, when the rows that the creation locks are locked.
 * `isLocked`: the caller holds a lock already that lets only one of these creations through at a time.
 */
export async function assertBelowLimit(
  tx: Tx,
  names: LimitName | readonly [LimitName, ...LimitName[]],
  counted: Counted,
  { isLocked = false } = {},
): Promise<void> {
  const full = await fullLimit(tx, names, counted, { isLocked });
  if (full === undefined) return;
  const by = { rule: full.name, figures: { used: full.used, limit: full.most } };
  throw new DomainError('invalid_state', atLimitInWords(full), { refusedBy: by });
}

/** The sentence of the refusal with its figures; undefined while there is room. */
export async function whyAtLimit(
  tx: Tx,
  names: LimitName | readonly [LimitName, ...LimitName[]],
  counted: Counted,
  { isLocked = false } = {},
): Promise<string | undefined> {
  const full = await fullLimit(tx, names, counted, { isLocked });
  return full === undefined ? undefined : atLimitInWords(full);
}

type FullLimit = { readonly name: LimitName; readonly used: number; readonly most: number };

async function fullLimit(
  tx: Tx,
  names: LimitName | readonly [LimitName, ...LimitName[]],
  { ownerId, subject, at }: Counted,
  { isLocked }: { readonly isLocked: boolean },
): Promise<FullLimit | undefined> {
  const limitNames: readonly LimitName[] = typeof names === 'string' ? [names] : names;
  if (!isLocked) await runSql(tx, 'select lock_limit($1, $2, $3)', [limitNames[0], ownerId, subject]);
  // A separate statement: it sees rows that were committed while the lock was awaited.
  const states = await rowsOf(tx, stateRow, limitNames.map(stateSql).join(' union all '), [ownerId, subject, at]);
  return states
    .map(({ name, used, raised }) => ({ name, used, most: raised ?? limits[name].most }))
    .find(({ used, most }) => used >= most);
}

/** For a database function that counts in its own statement. */
export function atLimitInWords({ name, used, most }: FullLimit): string {
  const { counted, remedy } = limits[name];
  return `you have ${used} ${counted}, and ${most} is the limit; ${remedy}`;
}

const stateRow = z.object({
  name: z.custom<LimitName>((name) => typeof name === 'string' && Object.hasOwn(limits, name)),
  used: z.int(),
  raised: z.int().nullable(),
});

const stateSql = (name: LimitName): string =>
  `select '${name}' as name, (select count(*) from ${limits[name].rows}) as used,
     (select l.most from owner_limits l where l.owner_id = given.owner and l.name = '${name}') as raised
   from (values ($1::text, $2::text, $3::timestamptz)) as given(owner, subject, at)`;
