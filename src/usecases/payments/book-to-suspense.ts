/**
 * Books what the network moved for a card that is not known: in the operator's book, between the cards and suspense,
 * until an operator finds out whose it is.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import type { Received } from '../../domains/payments/network/received-message.ts';
import { operatorOwnerId } from '../../domains/treasury/bank-files/bank-entry.rules.ts';
import { external, suspense } from '../../domains/treasury/ledger/account.rules.ts';
import { postNew } from '../../domains/treasury/ledger/ledger.service.ts';
import { newId } from '../../kernel/ids.ts';
import { cents } from '../../kernel/money.ts';

type Moved = { readonly id: string; readonly amountCents: number };

export async function bookToSuspense(
  tx: Tx,
  { adapter, message: { id, amountCents }, cause }: Pick<Received<Moved>, 'adapter' | 'message' | 'cause'>,
  kind: 'clearing' | 'refund',
): Promise<void> {
  if (amountCents === 0) return;
  const collectedCents = cents(kind === 'clearing' ? amountCents : -amountCents);
  await postNew(tx, cause, [
    {
      id: newId('journal'),
      ownerId: operatorOwnerId,
      kind,
      referenceType: 'adjustment',
      referenceId: id,
      cause: `${kind}:${adapter}:${id}`,
      postings: [
        { account: suspense(operatorOwnerId), amountCents: cents(-collectedCents) },
        { account: external('cards', operatorOwnerId), amountCents: collectedCents },
      ],
    },
  ]);
}
