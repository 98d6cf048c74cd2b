/** The public face of treasury: where the money is, and the only door into the book. @module */
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
export { balancesOf } from './ledger/ledger.queries.ts';
export {
  agentFund,
  agentReturn,
  authorization,
  clearing,
  fund,
  heldAfterClearing,
  internalTransfer,
  type Posting,
  refund,
  release,
  sepaCredit,
} from './ledger/ledger.rules.ts';
export {
  type JournalDraft,
  type JournalKind,
  lockAccounts,
  type PostResult,
  postJournals,
  type ReferenceType,
} from './ledger/ledger.service.ts';
