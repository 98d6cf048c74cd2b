/** The public face of treasury: where the money is, and the only door into the book. @module */
import { WalletRow } from './wallets/wallet.entity.ts';

export { fundArea } from './funding/funding.contract.ts';
export { type FundDeps, fundHandlers } from './funding/funding.routes.ts';
export {
  type Account,
  agentBudget,
  available,
  external,
  fees,
  held,
  type Purse,
  receivable,
  suspense,
  wallet,
} from './ledger/account.rules.ts';
export { keyIdOf, publicKeyOf, signingKeyFrom } from './ledger/checkpoint.rules.ts';
export { type CheckpointKeeper, writeCheckpoint } from './ledger/checkpoint.service.ts';
export { checkpointFolder, publicKeysIn } from './ledger/checkpoint.store.ts';
export { verifyCheckpoints } from './ledger/checkpoint.verify.service.ts';
export { ledgerArea } from './ledger/ledger.contract.ts';
export { balancesOf } from './ledger/ledger.queries.ts';
export { type LedgerDeps, ledgerHandlers } from './ledger/ledger.routes.ts';
export {
  agentFund,
  agentReturn,
  authorization,
  clearing,
  fund,
  internalTransfer,
  type Posting,
  refund,
  release,
} from './ledger/ledger.rules.ts';
export {
  type JournalDraft,
  type JournalKind,
  journalRecords,
  lockAccounts,
  type PostResult,
  postJournals,
  type ReferenceType,
} from './ledger/ledger.service.ts';
export { sealJournals } from './ledger/seal.service.ts';
export { runSealer, type Sealer, type SealerDeps, type SealerState } from './ledger/sealer.ts';
export { ownersWithBooks, type Verification, verifyOwner } from './ledger/verify.service.ts';
export { walletsArea } from './wallets/wallet.contract.ts';
export { walletTotalCents } from './wallets/wallet.queries.ts';
export { type WalletDeps, walletHandlers } from './wallets/wallet.routes.ts';
export { ensureDefaultWallet, type IbanIssue } from './wallets/wallet.service.ts';
export { WalletRow };

export const treasuryEntities = [WalletRow] as const;
