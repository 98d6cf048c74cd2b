/** The public face of treasury: where the money is, and the only door into the book. @module */
import { WalletRow } from './wallets/wallet.entity.ts';

export { fundArea } from './funding/funding.contract.ts';
export { fundHandlers } from './funding/funding.routes.ts';
export {
  agentBudget,
  available,
  external,
  type FundingSource,
  held,
  receivable,
  suspense,
  wallet,
} from './ledger/account.rules.ts';
export { keyIdOf, publicKeyOf, signingKeyFrom } from './ledger/checkpoint.rules.ts';
export { writeCheckpoint } from './ledger/checkpoint.service.ts';
export { checkpointFolder, publicKeysIn } from './ledger/checkpoint.store.ts';
export { verifyCheckpoints } from './ledger/checkpoint.verify.service.ts';
export { ledgerArea } from './ledger/ledger.contract.ts';
export { balancesOf } from './ledger/ledger.queries.ts';
export { ledgerHandlers } from './ledger/ledger.routes.ts';
export { agentFund, agentReturn, clearing, internalTransfer, type Posting, release } from './ledger/ledger.rules.ts';
export { type JournalDraft, type JournalKind, lockAccounts, postJournals, postNew } from './ledger/ledger.service.ts';
export { sealJournals } from './ledger/seal.service.ts';
export { runSealer, type Sealer } from './ledger/sealer.ts';
export { ownersWithBooks, verifyOwner } from './ledger/verify.service.ts';
export { walletsArea } from './wallets/wallet.contract.ts';
export { walletTotalCents } from './wallets/wallet.queries.ts';
export { walletHandlers } from './wallets/wallet.routes.ts';
export { ensureDefaultWallet, walletToReturnTo } from './wallets/wallet.service.ts';

export const treasuryEntities = [WalletRow] as const;
