/**
 * Answers the ledger operations: call the queries or the verification, shape the reply. No decision is made here.
 * @module
 */
import type { Database } from '../../../db/database.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { isoOf, isoOrNull } from '../../../kernel/instant.ts';
import { eurosFromCents } from '../../../kernel/money.ts';
import { mapPage } from '../../../kernel/page.ts';
import { trialBalance } from './account.queries.ts';
import { accountsWanted } from './account.rules.ts';
import { listCheckpoints } from './checkpoint.queries.ts';
import { listEntries } from './entry.queries.ts';
import { entryWire } from './entry.wire.ts';
import { rangeOf, sealedEntries } from './export.queries.ts';
import { exportedFile } from './export.wire.ts';
import type { ledgerArea } from './ledger.contract.ts';
import { readStatement } from './statement.queries.ts';
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
    const filter = { ...own, accounts: accountsWanted(query) };
    const wanted = { ...filter, referenceType, referenceId, direction, from, to };
    return mapPage(await listEntries(database.read(), wanted, pageOfQuery(query)), entryWire);
  },
  getLedgerEntry: async ({ records: { entry } }) => ({ ...entryWire(entry), lines: entry.others.map(entryWire) }),
  listLedgerAccounts: async ({ query, own }) => {
    const { accounts, asOf, sealedThrough } = await trialBalance(database.read(), own.ownerId, query.asOf);
    return {
      data: accounts.map(({ account, debitedCents, creditedCents, balanceCents }) => ({
        account,
        debitEuros: eurosFromCents(debitedCents),
        creditEuros: eurosFromCents(creditedCents),
        balanceEuros: eurosFromCents(balanceCents),
      })),
      asOf: isoOrNull(asOf),
      sealedThrough: isoOf(sealedThrough),
    };
  },
  getLedgerStatement: async ({ query, own: { ownerId } }) => {
    const { account, from, to } = query;
    const found = await readStatement(database.read(), { ownerId, account, from, to }, pageOfQuery(query));
    return {
      account: found.account,
      from: isoOrNull(found.from),
      to: isoOf(found.to),
      openingBalanceEuros: eurosFromCents(found.openingCents),
      closingBalanceEuros: eurosFromCents(found.closingCents),
      ...mapPage(found.lines, entryWire),
    };
  },
  getLedgerExport: async ({ query: { format, from, to }, own: { ownerId } }) => {
    const tx = database.read();
    const range = await rangeOf(tx, { ownerId, from, to });
    return exportedFile(format, range, sealedEntries(tx, range));
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
