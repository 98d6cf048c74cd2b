/**
 * The names of ledger accounts, and what a name determines: the owner, and whether the account has a running balance
 * that never falls below zero (accounts of owners) or only the sum of its entries (contra accounts). Pure.
 * @module
 */
export type OwnerAccount =
  | `wallet:wal_${string}:${'available' | 'held'}`
  | `agent:ag_${string}:${'available' | 'held'}`
  | `owner:own_${string}:receivable`;
export type ContraAccount =
  | `external:${'cards' | 'sepa' | 'processor'}:own_${string}`
  | `${'suspense' | 'fees' | 'interowner'}:own_${string}`;
export type Account = OwnerAccount | ContraAccount;

/** Where money is drawn from and held: a wallet, or the budget of an agent. */
export type FundingSource = { readonly kind: 'wallet' | 'agent'; readonly id: string };

export const available = ({ kind, id }: FundingSource): OwnerAccount => `${kind}:${id}:available` as OwnerAccount;
export const held = ({ kind, id }: FundingSource): OwnerAccount => `${kind}:${id}:held` as OwnerAccount;
/** What the owner owes us: its balance rises by debits, unlike that of any other account. */
export const receivable = (ownerId: string): OwnerAccount => `owner:${ownerId}:receivable` as OwnerAccount;
export const external = (rail: 'cards' | 'sepa' | 'processor', ownerId: string): ContraAccount =>
  `external:${rail}:${ownerId}` as ContraAccount;
export const suspense = (ownerId: string): ContraAccount => `suspense:${ownerId}` as ContraAccount;
/** What one owner's book gives to another's: over all owners it sums to zero. */
export const interowner = (ownerId: string): ContraAccount => `interowner:${ownerId}` as ContraAccount;
export const fees = (ownerId: string): ContraAccount => `fees:${ownerId}` as ContraAccount;

export const wallet = (id: string): FundingSource => ({ kind: 'wallet', id });
export const agentBudget = (id: string): FundingSource => ({ kind: 'agent', id });

export const hasRunningBalance = (account: string): boolean => /^(wallet|agent|owner):/.test(account);

/** By how much a posting moves the account's balance. */
export const balanceChange = (account: string, amountCents: number): number =>
  account.startsWith('owner:') ? -amountCents : amountCents;

/** The wallet that an account belongs to, for people who look at entries. */
export function walletOf(account: string): string | null {
  const [noun, id] = account.split(':');
  return noun === 'wallet' && id !== undefined ? id : null;
}

/** `wallet wal_…`, `agent ag_…`: the beginning of a sentence about an account. */
export function accountInWords(account: string): string {
  const [noun, id, part] = account.split(':');
  const name = `${noun} ${id}`;
  return part === 'available' ? name : `${name} (${part})`;
}

type Wanted = { readonly walletId?: string | undefined; readonly account?: string | undefined };

/** A wallet stands for its two accounts; with both filters only what fits both. Undefined: all accounts. */
export function accountsWanted({ walletId, account }: Wanted): string[] | undefined {
  if (walletId === undefined) return account === undefined ? undefined : [account];
  const ofWallet: string[] = [available(wallet(walletId)), held(wallet(walletId))];
  return account === undefined ? ofWallet : ofWallet.filter((name) => name === account);
}
