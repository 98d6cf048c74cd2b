/** A ledger entry as its callers see it: the sign of the amount is published as a direction. Shapes only. @module */
import { isoOf } from '../../../kernel/instant.ts';
import { cents, eurosFromCents, eurosOrNull } from '../../../kernel/money.ts';
import { walletOf } from './account.rules.ts';
import type { EntryView } from './entry.queries.ts';
import { entryIdOf } from './entry.rules.ts';
import type { LedgerEntryRecord } from './ledger.contract.ts';

export const entryWire = (entry: EntryView): LedgerEntryRecord => ({
  id: entryIdOf(entry),
  journalId: entry.journalId,
  ownerId: entry.ownerId,
  agentId: entry.agentId,
  kind: entry.kind,
  account: entry.account,
  walletId: walletOf(entry.account),
  direction: entry.amountCents > 0 ? 'credit' : 'debit',
  amountEuros: eurosFromCents(cents(Math.abs(entry.amountCents))),
  balanceBeforeEuros: eurosOrNull(entry.balanceBeforeCents),
  balanceAfterEuros: eurosOrNull(entry.balanceAfterCents),
  referenceType: entry.referenceType as LedgerEntryRecord['referenceType'],
  referenceId: entry.referenceId,
  memo: entry.memo,
  requestId: entry.requestId,
  runId: entry.runId,
  createdAt: isoOf(entry.createdAt),
});
