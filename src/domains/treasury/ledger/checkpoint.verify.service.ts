/**
 * Compares the checkpoints outside the database with the chains inside it: each signed head must still exist unchanged.
 * This detects a history that was rewritten and sealed again.
 * @module
 */
import type { KeyObject } from 'node:crypto';
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';
import type { Database } from '../../../db/database.ts';
import { rowsOf } from '../../../db/statement.ts';
import { type Checkpoint, faultOf, firstRoot, type SignedHead } from './checkpoint.rules.ts';
import type { CheckpointStore } from './checkpoint.store.ts';
import type { Difference } from './verify.rules.ts';

export type CheckpointsChecked = { readonly checkpoints: number; readonly differences: readonly Difference[] };

/** `keys`: public keys by key id; a checkpoint whose key is not among them is a difference. */
export async function verifyCheckpoints(
  database: Database,
  store: CheckpointStore,
  keys: ReadonlyMap<string, KeyObject>,
): Promise<CheckpointsChecked> {
  const differences: Difference[] = [];
  const known = await knownRoots(database); // First: a file is always there before the database knows of it.
  const roots = new Set<string>();
  let previousRoot = firstRoot;
  for await (const { name, checkpoint } of store.all()) {
    const differs = (message: string) => differences.push({ check: 'checkpoint', subject: name, message });
    const fault = faultIn(checkpoint, keys);
    if (fault !== undefined) differs(fault);
    if (checkpoint.previousRoot !== previousRoot)
      differs('does not follow the file before it: one is missing or was changed');
    for (const head of await changedHeads(database, checkpoint.heads)) differs(head);
    previousRoot = checkpoint.root;
    roots.add(checkpoint.root);
  }
  differences.push(...withoutFile(known, roots));
  return { checkpoints: roots.size, differences };
}

function faultIn(checkpoint: Checkpoint, keys: ReadonlyMap<string, KeyObject>): string | undefined {
  const key = keys.get(checkpoint.keyId);
  return key === undefined ? `is signed by an unknown key ${checkpoint.keyId}` : faultOf(key, checkpoint);
}

const changedHead = columnRow({
  chain: z.string().nullable(),
  ownerId: z.string(),
  sequence: z.int(),
  hash: z.string().nullable(),
});

async function changedHeads(database: Database, heads: readonly SignedHead[]): Promise<string[]> {
  const changed = await rowsOf(
    database.read(),
    changedHead,
    `select h.chain, h.owner_id, h.sequence, coalesce(s.hash, r.hash) as hash
     from unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) as h (chain, owner_id, sequence, hash)
     left join journal_seals s on h.chain is null and s.owner_id = h.owner_id and s.sequence = h.sequence
     left join record_seals r on r.chain = h.chain and r.owner_id = h.owner_id and r.sequence = h.sequence
     where coalesce(s.hash, r.hash) is distinct from h.hash`,
    [
      heads.map(({ chain }) => chain ?? null),
      heads.map(({ ownerId }) => ownerId),
      heads.map(({ sequence }) => sequence),
      heads.map(({ hash }) => hash),
    ],
  );
  return changed.map(({ chain, ownerId, sequence, hash }) => {
    const name = `${chain === null ? 'journal' : `${chain} record`} ${sequence} of ${ownerId}`;
    return hash === null ? `knows ${name}, which is gone` : `knows another seal of ${name}: history was rewritten`;
  });
}

const knownRoot = z.object({ root: z.string(), at: z.date() });
type KnownRoot = Readonly<z.output<typeof knownRoot>>;

const knownRoots = (database: Database): Promise<KnownRoot[]> =>
  rowsOf(
    database.read(),
    knownRoot,
    `select distinct root, created_at as at from ledger_checkpoints
     union select distinct root, created_at from record_checkpoints order by at`,
  );

const withoutFile = (known: readonly KnownRoot[], roots: ReadonlySet<string>): Difference[] =>
  known
    .filter(({ root }) => !roots.has(root))
    .map(({ at }) => ({
      check: 'checkpoint',
      subject: `checkpoint ${at.toISOString()}`,
      message: 'is in the database but not among the files: a file is missing',
    }));
