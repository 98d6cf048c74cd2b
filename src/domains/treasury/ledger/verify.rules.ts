/**
 * Checks an owner's journals one after the other: balanced, on the owner's accounts, each entry continuing its account,
 * each seal following the one before. Collects all differences. Pure but for its own state.
 * @module
 */

import { MerkleTree } from '../../../platform/record-chains/merkle.rules.ts';
import { balanceChange, hasRunningBalance } from './account.rules.ts';
import {
  type ChainEnd,
  commitmentTo,
  faultOfSeal,
  genesis,
  type JournalOnRecord,
  leafOf,
  type SealOnRecord,
} from './seal.rules.ts';

export type Difference = {
  /** Which invariant is broken. */
  readonly check:
    | 'seal'
    | 'balance'
    | 'account'
    | 'entry'
    | 'hold'
    | 'receivable'
    | 'text'
    | 'total'
    | 'checkpoint'
    | 'record'
    | 'reconciliation';
  /** The journal, account, checkpoint or record, or the name of the reconciliation query. */
  readonly subject: string;
  readonly message: string;
};

export type AccountState = { readonly balanceCents: number; readonly version: number };

export type CheckedJournal = JournalOnRecord & {
  /** Null while it waits for its seal. */
  readonly seal: SealOnRecord | null;
  readonly memo: string | null;
  readonly salt: string | null;
};

/** The number of reported differences is limited. */
const mostDifferences = 100;

/** Only an over-clearing may put an owner into debt. */
const mayOwe: readonly string[] = ['clearing'];
const contraOf = /^(external:(cards|sepa|processor)|suspense|fees|interowner):/;

export class BookCheck {
  readonly differences: Difference[] = [];
  /** Every account with a running balance that was met, as it stands after the last entry checked. */
  readonly accounts = new Map<string, AccountState>();
  /** Sums of contra accounts over what was checked and is sealed. */
  readonly contra = new Map<string, { debitedCents: number; creditedCents: number }>();
  /** The tree's root at each sequence that was asked for and is sealed. */
  readonly roots = new Map<number, string>();
  private head: ChainEnd;
  private readonly ownerId: string;
  private readonly isFromStart: boolean;
  private readonly rootsAt: ReadonlySet<number>;

  constructor(
    ownerId: string,
    from: ChainEnd = { sequence: 0, hash: genesis, tree: new MerkleTree() },
    rootsAt: ReadonlySet<number> = new Set(),
  ) {
    this.ownerId = ownerId;
    this.head = from;
    this.isFromStart = from.sequence === 0;
    this.rootsAt = rootsAt;
  }

  get sealedThrough(): ChainEnd {
    return this.head;
  }

  /** In order of their seals, then those that wait for one. */
  check(journal: CheckedJournal): void {
    if (journal.seal !== null) this.checkSeal(journal, journal.seal);
    this.checkBalanced(journal);
    this.checkText(journal);
    for (const entry of journal.entries) {
      const isOwners = entry.account.endsWith(`:${this.ownerId}`) || hasRunningBalance(entry.account);
      if (!isOwners) this.differs('entry', journal.id, `posts to ${entry.account}, which is not the owner's`);
      if (hasRunningBalance(entry.account)) this.checkRunning(journal, entry);
      else this.checkContra(journal, entry);
    }
  }

  differs(check: Difference['check'], subject: string, message: string): void {
    if (this.differences.length < mostDifferences) this.differences.push({ check, subject, message });
  }

  private checkSeal(journal: CheckedJournal, seal: SealOnRecord): void {
    const { sequence, hash } = seal;
    const { tree } = this.head;
    if (sequence !== this.head.sequence + 1) {
      this.differs(
        'seal',
        journal.id,
        `has the sequence ${sequence} after ${this.head.sequence}: journals are missing`,
      );
    }
    const fault = faultOfSeal(this.head.hash, seal, journal);
    if (fault !== null) this.differs('seal', journal.id, fault);
    tree.append(leafOf(seal));
    if (this.rootsAt.has(sequence)) this.roots.set(sequence, tree.root);
    this.head = { sequence, hash, tree };
  }

  private checkBalanced(journal: CheckedJournal): void {
    const sum = journal.entries.reduce((total, { amountCents }) => total + amountCents, 0);
    if (sum !== 0 || journal.entries.length < 2) {
      this.differs('balance', journal.id, `has ${journal.entries.length} lines that sum to ${sum} cents, not to 0`);
    }
  }

  private checkText({ id, memo, salt, memoCommitment }: CheckedJournal): void {
    if (memo === null) return; // There is none, or it was erased.
    if (commitmentTo(memo, salt ?? '') !== memoCommitment)
      this.differs('text', id, 'has another memo than the one it was posted with');
  }

  private checkRunning(journal: CheckedJournal, entry: JournalOnRecord['entries'][number]): void {
    const { account, amountCents, balanceBeforeCents, balanceAfterCents, accountVersion } = entry;
    const before = this.accounts.get(account) ?? (this.isFromStart ? { balanceCents: 0, version: 0 } : undefined);
    if (balanceBeforeCents === null || balanceAfterCents === null || accountVersion === null) {
      this.differs('entry', journal.id, `says no balance of ${account}`);
      return;
    }
    if (before !== undefined && (balanceBeforeCents !== before.balanceCents || accountVersion !== before.version + 1)) {
      this.differs(
        'entry',
        journal.id,
        `continues ${account} at ${balanceBeforeCents} cents, entry ${accountVersion}, where ${before.balanceCents} cents, entry ${before.version + 1} was due`,
      );
    }
    const change = balanceChange(account, amountCents);
    if (balanceAfterCents !== balanceBeforeCents + change || balanceAfterCents < 0) {
      this.differs(
        'entry',
        journal.id,
        `takes ${account} from ${balanceBeforeCents} by ${change} to ${balanceAfterCents} cents`,
      );
    }
    if (account.startsWith('owner:') && change > 0 && !mayOwe.includes(journal.kind)) {
      this.differs('receivable', journal.id, `puts the owner into debt, but is of the kind ${journal.kind}`);
    }
    this.accounts.set(account, { balanceCents: balanceAfterCents, version: accountVersion });
  }

  private checkContra(journal: CheckedJournal, { account, amountCents }: JournalOnRecord['entries'][number]): void {
    if (!contraOf.test(account)) this.differs('entry', journal.id, `posts to ${account}, which is no account`);
    if (journal.seal === null) return;
    const sum = this.contra.get(account) ?? { debitedCents: 0, creditedCents: 0 };
    this.contra.set(account, {
      debitedCents: sum.debitedCents + Math.max(-amountCents, 0),
      creditedCents: sum.creditedCents + Math.max(amountCents, 0),
    });
  }
}
