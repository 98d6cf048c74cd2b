/**
 * The one door into the book. Posts journals in one round trip: the database creates and locks accounts in one order,
 * checks balance, owner and available money, and writes all of it or nothing. The same cause is posted once.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { rows, type Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { inWords } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import { accountInWords } from './account.rules.ts';
import type { Posting } from './ledger.rules.ts';
import { commitmentTo } from './seal.rules.ts';

export type JournalKind =
  | 'authorization'
  | 'increment'
  | 'clearing'
  | 'reversal'
  | 'hold_expiry'
  | 'refund'
  | 'fund'
  | 'agent_fund'
  | 'agent_return'
  | 'internal_transfer'
  | 'sepa_transfer'
  | 'sepa_credit'
  | 'fee'
  | 'adjustment';
export type ReferenceType = 'transaction' | 'transfer' | 'refund' | 'fund' | 'payment_request' | 'fee' | 'adjustment';

export type JournalDraft = {
  readonly id: Id<'journal'>;
  readonly ownerId: string;
  readonly agentId?: string | null;
  readonly kind: JournalKind;
  readonly referenceType: ReferenceType;
  readonly referenceId: string;
  /** Unique per owner: the same cause again posts nothing. */
  readonly cause: string;
  readonly memo?: string | null;
  readonly postings: readonly Posting[];
};

export type PostResult = {
  /** The journal that stands for this cause: the draft's, or the one that was posted before. */
  readonly journalId: Id<'journal'>;
  readonly outcome: 'posted' | 'already';
  /** Of each account with a running balance, right after that journal. */
  readonly balances: Readonly<Record<string, number>>;
};

/** All or nothing; throws `insufficient_funds` with the figures. Results are in the order of the drafts. */
export async function postJournals(tx: Tx, cause: Cause, journals: readonly JournalDraft[]): Promise<PostResult[]> {
  if (journals.length === 0) return [];
  const posted = await orRefused(
    rows<Posted>(tx, 'select journal_id, posted, balances from post_journals($1::jsonb)', [
      JSON.stringify(journals.map((draft) => recordOf(draft, cause))),
    ]),
  );
  return posted.map((row, index) => {
    if (row.journal_id === null) throw new Error(`journal id ${journals[index]?.id} is taken by another cause`);
    return { journalId: row.journal_id, outcome: row.posted ? 'posted' : 'already', balances: row.balances };
  });
}

/**
 * Balances under lock, for patterns that depend on them; accounts that do not exist yet are made. Name all accounts
 * the journal will touch at once, so that everybody locks in one order.
 */
export async function lockAccounts<Name extends string>(
  tx: Tx,
  cause: Cause,
  ownerId: string,
  accounts: readonly Name[],
): Promise<Record<Name, number>> {
  const locked = await rows<{ name: Name; balance_cents: number }>(
    tx,
    'select name, balance_cents from lock_accounts($1, $2::text[], $3)',
    [ownerId, [...accounts], cause.at],
  );
  return Object.fromEntries(locked.map((row) => [row.name, row.balance_cents])) as Record<Name, number>;
}

type Posted = { journal_id: Id<'journal'> | null; posted: boolean; balances: Record<string, number> };

/** As the database function `post_journals` takes it. */
function recordOf(draft: JournalDraft, cause: Cause): object {
  const salt = draft.memo == null ? null : randomBytes(16).toString('hex');
  return {
    ...draft,
    salt,
    memoCommitment: salt === null || draft.memo == null ? null : commitmentTo(draft.memo, salt),
    requestId: cause.requestId,
    runId: cause.runId ?? null,
    createdAt: cause.at.toISOString(),
  };
}

const shortage = 'BL001';
type Shortage = { account: string; balanceCents: number; askedCents: number };

/** A shortage that the database reports becomes the refusal that callers see; anything else is a bug and goes on. */
async function orRefused<T>(posting: Promise<T>): Promise<T> {
  try {
    return await posting;
  } catch (error) {
    const { code, detail } = error as { code?: unknown; detail?: unknown };
    if (code !== shortage || typeof detail !== 'string') throw error;
    const { account, balanceCents, askedCents } = JSON.parse(detail) as Shortage;
    if (!account.endsWith(':available')) throw error;
    throw new DomainError(
      'insufficient_funds',
      `${accountInWords(account)} has ${inWords(balanceCents)} euros available, ${inWords(askedCents)} asked: ` +
        'fund it, or ask for less',
      { cause: error },
    );
  }
}
