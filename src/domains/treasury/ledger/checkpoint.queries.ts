/** Reads of an owner's checkpoints. Decides nothing. @module */
import { type Filters, list, page } from '../../../db/page.ts';
import type { RowOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { checkpointCursor } from './checkpoint.rules.ts';
import './ledger.entity.ts';

export type CheckpointView = Readonly<Omit<RowOf<'ledger_checkpoints'>, 'ownerId' | 'frontier'>>;

const checkpoints = list(
  (from, given: Filters<{ ownerId: string }>) =>
    from
      .selectFrom('ledger_checkpoints')
      .select(['sequence', 'hash', 'treeRoot', 'signature', 'root', 'rootSignature', 'keyId', 'createdAt'])
      .where('ownerId', '=', given('ownerId')),
  {
    columns: ['ledger_checkpoints.sequence'],
    cursorOf: ({ createdAt, sequence }) => ({
      createdAt: createdAt.toISOString(),
      id: checkpointCursor.idOf(sequence),
    }),
    valuesOf: ({ id }) => [checkpointCursor.numberOf(id)],
    types: ['bigint'],
  },
);

/** Newest first. */
export const listCheckpoints = (tx: Tx, ownerId: string, pageQuery: PageQuery): Promise<Page<CheckpointView>> =>
  page(tx, checkpoints, { ownerId }, pageQuery);
