/**
 * Decided authorizations that one statement writes together, each or none of it: those with nothing rare about them.
 * What has messages before it, a payment token, a confirmed payment or a window of a recurring intent is written alone.
 * @module
 */
import * as z from 'zod';
import { isLockTimeout } from '../../../db/database.ts';
import { oneRowOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { answeredWithinMs } from './authorization-facts.ts';
import type { Writing } from './authorization-write.ts';

export function isForBatch({ payload }: Writing): boolean {
  const { earlySeen, orphan, linked, token, intent, expected } = payload;
  const isPlain = earlySeen === 0 && orphan === undefined && linked === undefined && token === undefined;
  // A policy that is missing has no version that could be compared.
  return isPlain && intent?.window === undefined && (expected === undefined || expected.policyId !== undefined);
}

const writtenRow = z.object({ written: z.array(z.boolean()) });

/**
 * Which of them were written; the others are to be decided anew. All for one batch, with different network ids. Where a
 * ledger account is locked for long, those that need it are left, so that they keep no stranger waiting twice.
 */
export async function applyAuthorizations(tx: Tx, writings: readonly Writing[]): Promise<readonly boolean[]> {
  const document = documentOf(writings);
  try {
    return await apply(tx, { waits: true, ...document });
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    return apply(tx, { waits: false, ...document });
  }
}

async function apply(tx: Tx, document: object): Promise<readonly boolean[]> {
  const statement = 'select apply_authorizations($1::jsonb) as written';
  const { written } = await oneRowOf(tx, writtenRow, statement, [JSON.stringify(document)], { answeredWithinMs });
  return written;
}

const documentOf = (writings: readonly Writing[]) => ({
  items: writings.map(({ payload: { message, expected, intent, transaction } }, i) => ({
    n: i + 1,
    ...message,
    status: transaction.status,
    approvedCents: transaction.approved_cents,
    merchantAmount: transaction.merchant_amount,
    merchantCurrency: transaction.merchant_currency,
    holdCents: transaction.held_cents,
    ownerId: transaction.owner_id,
    fundingSource: transaction.funding_source,
    expected: expected ?? null,
    intent: intent ?? null,
  })),
  transactions: writings.map(({ payload }) => payload.transaction),
  decisions: writings.map(({ payload }) => payload.decision),
  events: writings.flatMap(({ payload, transactionId }) =>
    payload.events.map((row) => ({ of: transactionId, ...row })),
  ),
  audits: writings.flatMap(({ payload, transactionId }) =>
    payload.audits.map((row) => ({ of: transactionId, ...row })),
  ),
  journals: writings.flatMap(({ payload }) => payload.journals),
});
