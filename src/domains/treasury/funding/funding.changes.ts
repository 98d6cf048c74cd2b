/**
 * The events of a funding, for an atomic write: its statement puts the balance right after into them.
 * @module
 */
import type { Change } from '../../../events/record.ts';
import type { Id } from '../../../kernel/ids.ts';
import { type Cents, eurosFromCents, zero } from '../../../kernel/money.ts';
import { available, wallet } from '../ledger/account.rules.ts';

type Funding = {
  readonly id: Id<'funding'>;
  readonly ownerId: Id<'owner'>;
  readonly walletId: Id<'wallet'>;
  readonly amountCents: Cents;
};
type Source = 'processor' | 'wallet';

export const fundedChange = (funding: Funding, source: Source): Change => ({
  event: 'wallet.funded',
  ownerId: funding.ownerId,
  subjectId: funding.walletId,
  data: dataOf(funding, source),
  details: { fundingId: funding.id, amountCents: funding.amountCents },
  balanceOf: available(wallet(funding.walletId)),
});

export const creditedChange = (funding: Funding, source: Source): Change => {
  const account = available(wallet(funding.walletId));
  return {
    event: 'wallet.credited',
    ownerId: funding.ownerId,
    subjectId: funding.walletId,
    data: { ...dataOf(funding, source), agentId: null, account },
    audited: false,
    balanceOf: account,
  };
};

/** Of one that waits for a bank transfer. */
export const requestedChange = ({ id, ownerId, walletId, amountCents }: Funding): Change => ({
  event: 'funding.requested',
  ownerId,
  subjectId: id,
  data: { id, ownerId, walletId, status: 'pending', amountEuros: eurosFromCents(amountCents) },
});

const dataOf = ({ id, ownerId, walletId, amountCents }: Funding, source: Source) => ({
  id: walletId,
  ownerId,
  walletId,
  amountEuros: eurosFromCents(amountCents),
  balanceEuros: eurosFromCents(zero),
  source,
  fundingId: id,
});
