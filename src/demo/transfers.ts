/** Divides money among three wallets of the owner by percentages, and verifies the ledger. @module */
import type { Actors, Context } from './context.ts';
import { check } from './http.ts';
import { euros } from './reporter.ts';

type Wallet = { readonly id: string };
type Split = {
  readonly id: string;
  readonly status: string;
  readonly transfers: readonly { readonly id: string; readonly amountEuros: number }[];
};

const splitEuros = 100;

export async function dividedAmongWallets({ reporter }: Context, { owner, walletId }: Actors): Promise<void> {
  const open = (name: string): Promise<Wallet> => owner<Wallet>('POST', '/wallets', { name });
  const [marketing, research, reserve] = [await open('Marketing'), await open('Research'), await open('Reserve')];
  const split = await owner<Split>('POST', '/transfers/split', {
    fromWalletId: walletId,
    totalAmountEuros: splitEuros,
    splits: [
      { toWalletId: marketing.id, percent: 33.33, reference: 'Marketing' },
      { toWalletId: research.id, percent: 33.33, reference: 'Research' },
      { toWalletId: reserve.id, percent: 33.34, reference: 'Reserve' },
    ],
  });
  const amounts = split.transfers.map(({ amountEuros }) => amountEuros);
  check(split.status === 'completed', `the split is completed, not ${split.status}`);
  check(amounts.join() === '33.33,33.33,33.34', 'each line is its percentage of the total');
  reporter.say(`split ${split.id}: ${amounts.map(euros).join(', ')} to three new wallets, in one step`);
  const book = await owner<{ balanced: boolean; journals: number }>('GET', '/ledger/verify?full=true');
  check(book.balanced, 'the ledger balances');
  reporter.say(`ledger verified: ${book.journals} journals, each balanced, and their hash chain is intact`);
}
