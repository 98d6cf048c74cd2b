/** The public interface of treasury: wallets, fundings, and the only way to write to the ledger. @module */
import { WalletRow } from './wallets/wallet.entity.ts';

export { fundArea } from './funding/funding.contract.ts';
export {
  agentBudget,
  available,
  external,
  type FundingSource,
  held,
  suspense,
  wallet,
} from './ledger/account.rules.ts';
export { keyIdOf, publicKeyOf, signingKeyFrom } from './ledger/checkpoint.rules.ts';
export { checkpointFolder, publicKeysIn } from './ledger/checkpoint.store.ts';
export { verifyCheckpoints } from './ledger/checkpoint.verify.service.ts';
export { ledgerArea } from './ledger/ledger.contract.ts';
export { availableCentsOf } from './ledger/ledger.queries.ts';
export { agentFund, agentReturn, clearing, type Posting, release } from './ledger/ledger.rules.ts';
export { type JournalKind, lockAccounts, postJournals, postNew } from './ledger/ledger.service.ts';
export { ownersWithBooks } from './ledger/verify.service.ts';
export { walletsArea } from './wallets/wallet.contract.ts';
export { walletTotalCents } from './wallets/wallet.queries.ts';
export { ensureDefaultWallet, walletToReturnTo } from './wallets/wallet.service.ts';

export const treasuryEntities = [WalletRow] as const;
