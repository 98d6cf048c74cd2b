/** The public interface of treasury: wallets, fundings, and the only way to write to the ledger. @module */

export { type FundingSource, wallet } from './ledger/account.rules.ts';
export { availableCentsOf } from './ledger/ledger.queries.ts';
export { clearing, type Posting, release } from './ledger/ledger.rules.ts';
export {
  type JournalDraft,
  type JournalKind,
  lockAccounts,
  type PostResult,
  postNew,
} from './ledger/ledger.service.ts';
export { walletsToReturnTo, walletToReturnTo } from './wallets/wallet.service.ts';
