/**
 * Answers the ledger operations: call the queries or the verification, shape the reply. No decision is made here.
 * @module
 */
import type { Database } from '../../../db/database.ts';
import type { Handlers, Input } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { isoOf } from '../../../kernel/instant.ts';
import { cents, eurosFromCents, eurosOrNull } from '../../../kernel/money.ts';
import { mapPage } from '../../../kernel/page.ts';
import { trialBalance } from './account.queries.ts';
import { available, held, wallet, walletOf } from './account.rules.ts';
import { listCheckpoints } from './checkpoint.queries.ts';
import { type EntryView, listEntries } from './entry.queries.ts';
import { entryIdOf } from './entry.rules.ts';
import type { LedgerEntryRecord, ledgerArea } from './ledger.contract.ts';
import type { PublicKeys, Verification, VerifyOptions } from './verify.service.ts';

export type LedgerDeps = {
  /** What is checked besides the book itself. */
  readonly verification: Pick<VerifyOptions, 'chains' | 'reconciliation'>;
  readonly database: Database;
  readonly verifyOwner: (ownerId: string, options: VerifyOptions) => Promise<Verification>;
  /** Those that stand beside the checkpoints, by key id: the API knows no key that signs. */
  readonly publicKeys: () => Promise<PublicKeys>;
};

export const ledgerHandlers = ({
  database,
  publicKeys,
  verification,
  verifyOwner,
}: LedgerDeps): Handlers<typeof ledgerArea> => ({
  listLedgerEntries: async ({ query, own }) => {
    const { referenceType, referenceId, direction, from, to } = query;
    const filter = { ...own, accounts: accountsOf(query) };
    const wanted = { ...filter, referenceType, referenceId, direction, from, to };
    return mapPage(await listEntries(database.read(), wanted, pageOfQuery(query)), recordOf);
  },
  getLedgerEntry: async ({ records: { entry } }) => ({ ...recordOf(entry), lines: entry.others.map(recordOf) }),
  listLedgerAccounts: async ({ query: { asOf }, own }) => {
    const totals = await trialBalance(database.read(), own.ownerId, asOf);
    return {
      data: totals.map(({ account, debitedCents, creditedCents, balanceCents }) => ({
        account,
        debitEuros: eurosFromCents(debitedCents),
        creditEuros: eurosFromCents(creditedCents),
        balanceEuros: eurosFromCents(balanceCents),
      })),
    };
  },
  verifyLedger: async ({ query: { full }, own }) => {
    const { differences, records, ...found } = await verifyOwner(own.ownerId, {
      ...verification,
      full,
      exclusive: full,
      publicKeys: await publicKeys(),
    });
    return { ...found, records: [...records], differences: [...differences] };
  },
  listLedgerCheckpoints: async ({ query, own }) => {
    const found = await listCheckpoints(database.read(), own.ownerId, pageOfQuery(query));
    return mapPage(found, (row) => ({ ...row, createdAt: row.createdAt.toISOString() }));
  },
});

type Query = Input<(typeof ledgerArea)['operations']['listLedgerEntries']>['query'];

/** A wallet stands for its two accounts; with both filters only what fits both. */
function accountsOf({ walletId, account }: Query): string[] | undefined {
  if (walletId === undefined) return account === undefined ? undefined : [account];
  const ofWallet: string[] = [available(wallet(walletId)), held(wallet(walletId))];
  return account === undefined ? ofWallet : ofWallet.filter((name) => name === account);
}

const recordOf = (entry: EntryView): LedgerEntryRecord => ({
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
