/**
 * The only way to write to the ledger. Posts journals in one round trip: the database creates and locks accounts in one
 * order, checks balance, owner and available money, and writes all of it or nothing. The same cause is posted once.
 * @module
 */
import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';
import { idValue } from '../../../db/row-values.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { assert } from '../../../kernel/assert.ts';
import { DomainError, type RefusedBy } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { type Cents, cents, eurosFromCents, inWords } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import { accountInWords, type OwnerAccount } from './account.rules.ts';
import { balancesByName, balancesOf } from './ledger.queries.ts';
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
export type ReferenceType =
  | 'transaction'
  | 'transfer'
  | 'refund'
  | 'fund'
  | 'payment_request'
  | 'fee'
  | 'adjustment'
  | 'bank_entry';

export type JournalDraft = {
  readonly id: Id<'journal'>;
  readonly ownerId: string;
  readonly agentId?: string | null;
  readonly kind: JournalKind;
  readonly referenceType: ReferenceType;
  readonly referenceId: string;
  /** Unique per owner: the same cause again posts nothing, and with other content it is an error. */
  readonly cause: string;
  readonly memo?: string | null;
  readonly postings: readonly Posting[];
  /** What posts this one, where the others of the call have another cause. */
  readonly by?: Cause;
};

export type PostResult = {
  /** The journal that stands for this cause: the draft's, or the one that was posted before. */
  readonly journalId: Id<'journal'>;
  readonly outcome: 'posted' | 'already';
  /** Of each account with a running balance, right after that journal. */
  readonly balances: Readonly<Record<string, number>>;
  /** By how much the journal raised what the owner owes; negative: what it settled. */
  readonly owedCents: number;
};

/**
 * All or nothing; results are in the order of the drafts. Throws `insufficient_funds` with the figures, and a plain
 * error for a cause that was posted with other content (BL006). The caller must look at the outcome: `already`
 * means that this call moved nothing. Locks all accounts of all drafts in one lock call; in a transaction that holds
 * ledger locks, they must be among those (see lockAccounts).
 */
export async function postJournals(tx: Tx, cause: Cause, journals: readonly JournalDraft[]): Promise<PostResult[]> {
  if (journals.length === 0) return [];
  const posted = await orRefused(
    rowsOf(tx, postedRow, 'select journal_id, posted, balances, owed_cents from post_journals($1::jsonb)', [
      JSON.stringify(journals.map(({ by = cause, ...draft }) => journalRecord(draft, by))),
    ]),
  );
  return posted.map((row) => ({
    journalId: row.journalId,
    outcome: row.posted ? 'posted' : 'already',
    balances: row.balances,
    owedCents: row.owedCents,
  }));
}

/** For a cause that this transaction is the first to post, as its own rows show. Throws when it was posted before. */
export async function postNew(tx: Tx, cause: Cause, journals: readonly JournalDraft[]): Promise<PostResult[]> {
  const results = await postJournals(tx, cause, journals);
  const before = results.findIndex(({ outcome }) => outcome === 'already');
  assert(before === -1, `${journals[before]?.cause} is posted for the first time`);
  return results;
}

/**
 * What an account has after a posting. A credit that went all into what the owner owes left the account as it was, so
 * the posting does not name it. One read for all such accounts.
 */
export async function balancesAfter(
  tx: Tx,
  credits: readonly { readonly account: string; readonly result: PostResult | undefined }[],
): Promise<Cents[]> {
  const unmoved = credits.flatMap(({ account, result }) => (result?.balances[account] === undefined ? [account] : []));
  const kept = unmoved.length === 0 ? {} : await balancesOf(tx, unmoved);
  return credits.map(({ account, result }) => cents(result?.balances[account] ?? kept[account] ?? 0));
}

/**
 * The one lock call of a transaction that decides by balances: returns them under lock and creates accounts that do
 * not exist yet. It must name every account that the transaction will post to, those of later `postJournals` calls
 * included, and come after all locks of rows. A second call, or a posting to another account, is an error (BL004),
 * because two calls could lock in two orders. Calls for accounts that are held already are allowed. A transaction that
 * posts once needs no lock call. Do not name a receivable: patterns name it, and it is locked last, when it is needed.
 */
export async function lockAccounts<Name extends string>(
  tx: Tx,
  cause: Cause,
  ownerId: string,
  accounts: readonly Name[],
): Promise<Record<Name, number>> {
  const locked = await rowsOf(tx, lockedRow, 'select name, balance_cents from lock_accounts($1, $2::text[], $3)', [
    ownerId,
    [...accounts],
    cause.at,
  ]);
  return balancesByName(accounts, locked);
}

/**
 * Gives a new wallet its accounts, so that lists find them. Only for one that this transaction creates: no other can
 * know its accounts yet, so this is no lock call.
 */
export async function openAccounts(
  tx: Tx,
  cause: Cause,
  ownerId: string,
  accounts: readonly OwnerAccount[],
): Promise<void> {
  await runSql(tx, 'select open_accounts($1, $2::text[], $3)', [ownerId, [...accounts], cause.at]);
}

const lockedRow = columnRow({ name: z.string(), balanceCents: z.int() });
const postedRow = columnRow({
  journalId: idValue('journal'),
  posted: z.boolean(),
  balances: z.record(z.string(), z.int()),
  owedCents: z.int(),
});

/** As the database functions that post journals take it. */
export function journalRecord(draft: JournalDraft, cause: Cause): object {
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
const outOfRange = 'BL005';
const sumOutOfRange = 'ledger_accounts_within_range';

/** What `post_each` says of an account without enough money. */
const shortageDetail = z.object({ account: z.string(), balanceCents: z.int(), askedCents: z.int() });

/** The refusal for an outcome of `post_each` that a caller can do something about; undefined for any other. */
export function postingRefusal(outcome: string, detail: unknown, cause?: unknown): DomainError | undefined {
  if (outcome === 'out_of_range') {
    return new DomainError('invalid_request', 'the amount is larger than an account can hold', { cause });
  }
  if (outcome !== 'not_enough') return undefined;
  const { account, balanceCents, askedCents } = shortageDetail.parse(detail);
  if (!account.endsWith(':available')) return undefined;
  return new DomainError(
    'insufficient_funds',
    `${accountInWords(account)} has ${inWords(balanceCents)} euros available, ${inWords(askedCents)} asked: ` +
      'fund it, or ask for less',
    { cause, refusedBy: notCovered(balanceCents, askedCents) },
  );
}

/** Of an account without enough money. */
export const notCovered = (balanceCents: number, askedCents: number): RefusedBy => ({
  rule: 'insufficient_funds',
  figures: { availableEuros: eurosFromCents(cents(balanceCents)), askedEuros: eurosFromCents(cents(askedCents)) },
});

/** What a caller can do something about becomes the refusal that callers see; anything else is a bug and goes on. */
async function orRefused<T>(posting: Promise<T>): Promise<T> {
  try {
    return await posting;
  } catch (error) {
    const { code, detail, constraint } = error as { code?: unknown; detail?: unknown; constraint?: unknown };
    if (code === outOfRange || constraint === sumOutOfRange) throw postingRefusal('out_of_range', null, error);
    if (code !== shortage || typeof detail !== 'string') throw error;
    throw postingRefusal('not_enough', JSON.parse(detail), error) ?? error;
  }
}
