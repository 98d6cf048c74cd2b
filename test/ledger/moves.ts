/** Fundings as the edge asks for them, below HTTP: with a key, or without. @module */
import type { Database } from '../../src/db/database.ts';
import { type FundingOrder, fundWallet } from '../../src/domains/treasury/funding/funding.service.ts';
import type { AtomicKey } from '../../src/http/atomic-key.ts';
import { type Id, newId, uuidv7 } from '../../src/kernel/ids.ts';
import { cents } from '../../src/kernel/money.ts';
import { because } from './book.ts';

export type Move = {
  readonly ownerId: string;
  readonly to: string;
  /** Absent: from outside. */
  readonly from?: string;
  readonly amountCents: number;
  readonly key: string;
};

export function moveIn(database: Database, { ownerId, to, from, amountCents, key }: Move) {
  const seed = uuidv7();
  const path = `/wallets/${to}/fund`;
  const scope = { ownerId, callerKind: 'key', agentId: '', method: 'POST', path, paths: [path] };
  const atomicKey: AtomicKey = { ...scope, key, requestHash: `${from} ${amountCents}`, seed, seedMs: Date.now() };
  const order: FundingOrder = {
    id: newId('funding'),
    journalId: newId('journal'),
    ownerId: ownerId as Id<'owner'>,
    walletId: to as Id<'wallet'>,
    fromWalletId: from as Id<'wallet'> | undefined,
    amountCents: cents(amountCents),
  };
  return fundWallet({ database, mode: 'sandbox' })({ atomicKey, cause: because(seed) } as never, order);
}
