/** Wallets, funding, transfers, beneficiaries, and the ledger with its sealer. @module */

import { join } from 'node:path';
import { bankTransferActivities } from '../../../activities/treasury/bank-transfer.activities.ts';
import { transferSplitActivities } from '../../../activities/treasury/transfer-split.activities.ts';
import { bankInbox } from '../../adapters/bank-rail/inbox.ts';
import { isoBankFiles, largestFileBytes } from '../../adapters/sepa-files/bank-files.ts';
import { isDatabaseAway, isLockTimeout } from '../../db/database.ts';
import { BankEntryRow } from '../../domains/treasury/bank-files/bank-entry.entity.ts';
import { createBankFileBodies } from '../../domains/treasury/bank-files/bank-file.body.ts';
import { bankFilesArea } from '../../domains/treasury/bank-files/bank-file.contract.ts';
import { bankFileHandlers } from '../../domains/treasury/bank-files/bank-file.routes.ts';
import { beneficiariesArea } from '../../domains/treasury/beneficiaries/beneficiary.contract.ts';
import { BeneficiaryRow, BeneficiaryScreeningRow } from '../../domains/treasury/beneficiaries/beneficiary.entity.ts';
import { beneficiaryFor } from '../../domains/treasury/beneficiaries/beneficiary.queries.ts';
import { beneficiaryHandlers } from '../../domains/treasury/beneficiaries/beneficiary.routes.ts';
import { fundArea } from '../../domains/treasury/funding/funding.contract.ts';
import { findFunding } from '../../domains/treasury/funding/funding.queries.ts';
import { fundHandlers } from '../../domains/treasury/funding/funding.routes.ts';
import { fundWallet } from '../../domains/treasury/funding/funding.service.ts';
import { signingKeyFrom } from '../../domains/treasury/ledger/checkpoint.rules.ts';
import { checkpointFolder, publicKeysIn } from '../../domains/treasury/ledger/checkpoint.store.ts';
import { findEntry } from '../../domains/treasury/ledger/entry.queries.ts';
import { ledgerArea } from '../../domains/treasury/ledger/ledger.contract.ts';
import { ledgerHandlers } from '../../domains/treasury/ledger/ledger.routes.ts';
import { startSealer } from '../../domains/treasury/ledger/sealer.ts';
import { bankTransferWorkflow } from '../../domains/treasury/transfers/bank-transfer.messages.ts';
import { transfersArea } from '../../domains/treasury/transfers/transfer.contract.ts';
import { findSplit, findTransfer } from '../../domains/treasury/transfers/transfer.queries.ts';
import { transferHandlers } from '../../domains/treasury/transfers/transfer.routes.ts';
import { transferSplitWorkflow } from '../../domains/treasury/transfers/transfer-split.messages.ts';
import { walletsArea } from '../../domains/treasury/wallets/wallet.contract.ts';
import { WalletRow } from '../../domains/treasury/wallets/wallet.entity.ts';
import { walletFor } from '../../domains/treasury/wallets/wallet.queries.ts';
import { walletHandlers } from '../../domains/treasury/wallets/wallet.routes.ts';
import { DomainError } from '../../kernel/errors.ts';
import { hasRightCheckDigits } from '../../kernel/iban.ts';
import { newId } from '../../kernel/ids.ts';
import { second } from '../../kernel/instant.ts';
import { startLoop } from '../../platform/loop.ts';
import { attestSubject } from '../../usecases/identity/attest-subject.ts';
import { ensureCustomer } from '../../usecases/parties/ensure-customer.ts';
import { approveBankTransfer } from '../../usecases/treasury/approve-bank-transfer.ts';
import { approveTransferSplit } from '../../usecases/treasury/approve-transfer-split.ts';
import { bankTransferApproval } from '../../usecases/treasury/bank-transfer-approval.ts';
import { decideBankTransfer } from '../../usecases/treasury/decide-bank-transfer.ts';
import { decideTransferSplit } from '../../usecases/treasury/decide-transfer-split.ts';
import { divideAmount } from '../../usecases/treasury/divide-amount.ts';
import { openWallet } from '../../usecases/treasury/open-wallet.ts';
import { orderTransfer } from '../../usecases/treasury/order-transfer.ts';
import { payBankAccount } from '../../usecases/treasury/pay-bank-account.ts';
import { answerBankFile, receiveBankFile } from '../../usecases/treasury/receive-bank-file.ts';
import { bankEntryReconciliation } from '../../usecases/treasury/reconcile-bank-entries.ts';
import { fundingReconciliation } from '../../usecases/treasury/reconcile-funding.ts';
import { paidIntentReconciliation } from '../../usecases/treasury/reconcile-paid-intents.ts';
import { transferReconciliation } from '../../usecases/treasury/reconcile-transfers.ts';
import { topUp } from '../../usecases/treasury/top-up.ts';
import { transferMoney } from '../../usecases/treasury/transfer-money.ts';
import { transferSplitApproval } from '../../usecases/treasury/transfer-split-approval.ts';
import { verifyOwner } from '../../usecases/treasury/verify-owner.ts';
import type { Config } from '../config.ts';
import { type Infrastructure, ibanIssueOf } from '../infrastructure.ts';
import { signerOfMessages } from '../message-signer.ts';
import { railLimitsOf } from '../ports.ts';
import { recordChains } from '../record-chains.ts';
import { defineModule, type LoopRegistration, servedArea } from './module.ts';

const checkpointsOf = ({ BURSAR_DATA_DIR: dataDir }: Config): string => join(dataDir, 'checkpoints');

/** Seals journals, audit rows and decisions, and writes signed checkpoints outside the database. */
const sealer: LoopRegistration = {
  group: 'sealer',
  start: ({ database, log, config }) => {
    const key = signingKeyFrom(config.BURSAR_SIGNING_KEY ?? '');
    return startSealer({
      database,
      log,
      chains: recordChains,
      checkpoints: { key, store: checkpointFolder(checkpointsOf(config)) },
    });
  },
};

const approvingOf = ({ database, gateway, vault, relyingParty }: Infrastructure) =>
  approveBankTransfer({ database, gateway, vault, attest: attestSubject({ database, relyingParty }) });
const splitApprovingOf = ({ database, gateway, vault, relyingParty }: Infrastructure) =>
  approveTransferSplit({ database, gateway, vault, attest: attestSubject({ database, relyingParty }) });
const receivingOf = ({ database, config, log, vault }: Infrastructure) => ({
  database,
  vault,
  log,
  files: isoBankFiles,
  isOwnIban: (iban: string) =>
    /^DE\d{20}$/.test(iban) && iban.slice(4, 12) === config.BURSAR_IBAN_BANK_CODE && hasRightCheckDigits(iban),
});

/** Reads what the bank's gateway puts into the folder. */
const inbox: LoopRegistration = {
  group: 'relay',
  start: (infrastructure) => {
    const { config, clock, log } = infrastructure;
    if (config.BURSAR_BANK_FOLDER === undefined) return { stop: async () => undefined };
    const receive = receiveBankFile(receivingOf(infrastructure));
    const pass = bankInbox({
      folder: config.BURSAR_BANK_FOLDER,
      largestBytes: largestFileBytes,
      log,
      receive: async (bytes) => {
        const requestId = newId('request');
        const ids = { causeId: requestId, requestId };
        const cause = { ...ids, actor: { kind: 'network' }, at: await clock.now() } as const;
        const received = await receive({ adapter: 'folder', bytes }, cause);
        return received.outcome === 'refused' ? received : undefined;
      },
      isPassing: (error) =>
        isDatabaseAway(error) || isLockTimeout(error) || (error instanceof DomainError && error.code === 'unavailable'),
    });
    return startLoop({ name: 'bank-inbox', everyMs: 5 * second, log, pass });
  },
};

export const treasury = defineModule('treasury', [
  servedArea('wallets', {
    contract: walletsArea,
    position: 410,
    lookups: ({ database }) => ({ wallet: (id, own) => walletFor(database.read(), own, id) }),
    handlers: ({ database, config }) =>
      walletHandlers({
        database,
        fundWallet: fundWallet({ database, mode: config.BURSAR_MODE }),
        openWallet: openWallet({
          ...ibanIssueOf(config),
          database,
          ensureCustomer: ensureCustomer(ibanIssueOf(config)),
        }),
      }),
    entities: [WalletRow],
    tables: ['wallets'],
  }),
  servedArea('funding', {
    contract: fundArea,
    position: 420,
    lookups: ({ database }) => ({
      funding: (id, { ownerId }) => findFunding(database.read(), ownerId, id),
    }),
    handlers: ({ database, config }) =>
      fundHandlers({
        topUp: topUp({
          database,
          ensureCustomer: ensureCustomer(ibanIssueOf(config)),
          fundWallet: fundWallet({ database, mode: config.BURSAR_MODE }),
        }),
      }),
    tables: ['fundings', 'funding_days'],
    reconciliation: fundingReconciliation,
  }),
  servedArea('transfers', {
    contract: transfersArea,
    position: 425,
    lookups: ({ database }) => ({
      transfer: (id, { ownerId }) => findTransfer(database.read(), ownerId, id),
      transferSplit: (id, { ownerId }) => findSplit(database.read(), ownerId, id),
    }),
    handlers: (api) => {
      const { database, links, vault, risk, sanctions, gateway, config } = api;
      const limits = railLimitsOf(config);
      const transfer = transferMoney({ database, risk });
      const payBank = payBankAccount({ database, vault, risk, sanctions, limits });
      const order = orderTransfer({ gateway, transfer, payBank });
      const divide = divideAmount({ database, vault, risk, sanctions, limits, links, gateway, transfer });
      return transferHandlers({
        database,
        links,
        divide,
        order,
        approve: approvingOf(api),
        revoke: decideBankTransfer,
        approveSplit: splitApprovingOf(api),
        revokeSplit: decideTransferSplit,
      });
    },
    approval: [
      {
        fires: {
          approve: transfersArea.operations.approveTransfer.fires,
          deny: transfersArea.operations.denyTransfer.fires,
        },
        subject: (api) => bankTransferApproval({ approve: approvingOf(api) }),
      },
      {
        fires: {
          approve: transfersArea.operations.approveTransferSplit.fires,
          deny: transfersArea.operations.denyTransferSplit.fires,
        },
        subject: (api) => transferSplitApproval({ approve: splitApprovingOf(api) }),
      },
    ],
    tables: ['transfers', 'transfer_splits'],
    activities: ({ database, clock, config, links, vault, sanctions, ports }) => {
      const deciding = { database, clock, links, vault, signalsMayApprove: config.signalsMayApprove };
      return {
        ...bankTransferActivities({ ...deciding, sanctions, payeeCheck: ports.payeeCheck, rail: ports.bankRail }),
        ...transferSplitActivities(deciding),
      };
    },
    workflows: [
      {
        type: bankTransferWorkflow,
        idPrefix: 'transfer',
        queue: 'main',
        summary: ({ subjectId, ofAgent }) =>
          `Transfer ${subjectId}${ofAgent}: to a bank account, checked, approved where needed, sent once`,
      },
      {
        type: transferSplitWorkflow,
        idPrefix: 'split',
        queue: 'main',
        summary: ({ subjectId, ofAgent }) => `Split ${subjectId}${ofAgent}: waits for its transfers to banks`,
      },
    ],
    reconciliation: [...transferReconciliation, ...paidIntentReconciliation],
  }),
  servedArea('beneficiaries', {
    contract: beneficiariesArea,
    position: 427,
    lookups: ({ database }) => ({ beneficiary: (id, own) => beneficiaryFor(database.read(), own, id) }),
    handlers: ({ database, vault, sanctions }) => beneficiaryHandlers({ database, vault, sanctions }),
    entities: [BeneficiaryRow, BeneficiaryScreeningRow],
    tables: ['beneficiaries', 'beneficiary_screenings', 'payee_checks'],
  }),
  servedArea('bank-files', {
    contract: bankFilesArea,
    position: 985,
    handlers: (api) =>
      bankFileHandlers({
        database: api.database,
        vault: api.vault,
        ...signerOfMessages(api, 'the bank'),
        bodies: createBankFileBodies(),
        receive: answerBankFile(receivingOf(api)),
      }),
    loops: [inbox],
    entities: [BankEntryRow],
    tables: ['bank_files', 'bank_entries'],
    reconciliation: bankEntryReconciliation,
  }),
  servedArea('ledger', {
    contract: ledgerArea,
    position: 430,
    lookups: ({ database }) => ({ entry: (id, { ownerId }) => findEntry(database.read(), ownerId, id) }),
    handlers: ({ database, config, reconciliation }) =>
      ledgerHandlers({
        database,
        publicKeys: () => publicKeysIn(checkpointsOf(config)),
        verifyOwner: verifyOwner({ database }),
        verification: { chains: recordChains, reconciliation },
      }),
    tables: [
      'journals',
      'journal_texts',
      'journal_seals',
      'unsealed_journals',
      'ledger_accounts',
      'ledger_entries',
      'ledger_checkpoints',
      'ledger_heads',
      'ledger_sealed_through',
      'ledger_verified',
      'contra_totals',
      'contra_lines',
    ],
    loops: [sealer],
  }),
]);
