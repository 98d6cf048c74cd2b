/**
 * Puts money into a wallet. In a sandbox the money is there at once; in live mode the call is stored and waits for the
 * bank transfer. From another wallet it is an internal transfer in both.
 * @module
 */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChanges } from '../../../events/record.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { type Cents, cents, eurosFromCents } from '../../../kernel/money.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Mode } from '../../../platform/mode.ts';
import { available, wallet } from '../ledger/account.rules.ts';
import { balancesOf } from '../ledger/ledger.queries.ts';
import { fund, internalTransfer } from '../ledger/ledger.rules.ts';
import { type JournalDraft, postNew } from '../ledger/ledger.service.ts';
import { heldOpen } from '../wallets/wallet.service.ts';
import { type FundingView, findFunding } from './funding.queries.ts';

type Order = {
  readonly id: Id<'funding'>;
  readonly journalId: Id<'journal'>;
  readonly ownerId: Id<'owner'>;
  readonly walletId: Id<'wallet'>;
  readonly amountCents: Cents;
};

export type OutsideOrder = Order & { readonly simulate?: boolean | undefined };
export type WalletOrder = Order & { readonly fromWalletId: Id<'wallet'> };

/** Out of another wallet where the order names one, and otherwise from outside. */
export const fundWallet = (
  tx: Tx,
  cause: Cause,
  mode: Mode,
  { fromWalletId, simulate, ...order }: OutsideOrder & { readonly fromWalletId?: Id<'wallet'> | undefined },
): Promise<FundingView> =>
  fromWalletId === undefined
    ? fundFromOutside(tx, cause, mode, { ...order, simulate })
    : fundFromWallet(tx, cause, { ...order, fromWalletId });

export async function fundFromOutside(tx: Tx, cause: Cause, mode: Mode, order: OutsideOrder): Promise<FundingView> {
  const before = await findFunding(tx, order.ownerId, order.id);
  if (before !== null) return before;
  if (mode === 'live' && order.simulate === true) {
    throw new DomainError(
      'invalid_request',
      'body.simulate: money is simulated in a sandbox deployment only; leave it out',
    );
  }
  await mustTakeMoney(tx, order.ownerId, order.walletId, 'walletId');
  await assertBelowLimit(tx, 'fundings', { ownerId: order.ownerId, subject: order.ownerId, at: cause.at });
  return mode === 'sandbox' ? credit(tx, cause, order) : request(tx, cause, order);
}

export async function fundFromWallet(tx: Tx, cause: Cause, order: WalletOrder): Promise<FundingView> {
  const { id, ownerId, walletId, fromWalletId, amountCents } = order;
  const before = await findFunding(tx, ownerId, id);
  if (before !== null) return before;
  if (fromWalletId === walletId) throw new DomainError('invalid_request', 'body.fromWalletId: is the wallet itself');
  // Two transfers in opposite directions take both wallets in one order.
  for (const one of [walletId, fromWalletId].toSorted()) await heldOpen(tx, ownerId, one);
  await mustTakeMoney(tx, ownerId, walletId, 'id');
  await assertBelowLimit(tx, 'fundings', { ownerId, subject: ownerId, at: cause.at });
  const source = await heldOpen(tx, ownerId, fromWalletId);
  if (source === undefined) throw new DomainError('invalid_request', 'body.fromWalletId: is no wallet of this owner');
  if (source !== 'active')
    throw new DomainError('invalid_state', `body.fromWalletId: wallet ${fromWalletId} is ${source}`);
  const postings = internalTransfer({ fromWalletId, toWalletId: walletId, amountCents });
  const balanceCents = await post(tx, cause, order, { kind: 'internal_transfer', postings });
  const funding = await keep(tx, cause, {
    ...order,
    balanceCents: cents(balanceCents),
    status: 'completed',
    isSimulated: false,
  });
  await recordChanges(tx, cause, [fundedChange(funding, 'wallet')]);
  return funding;
}

async function credit(tx: Tx, cause: Cause, order: OutsideOrder): Promise<FundingView> {
  const { ownerId, walletId, amountCents } = order;
  const postings = fund({ ownerId, to: wallet(walletId), amountCents });
  const balanceCents = await post(tx, cause, order, { kind: 'fund', postings });
  const funding = await keep(tx, cause, {
    ...order,
    balanceCents: cents(balanceCents),
    status: 'completed',
    isSimulated: true,
  });
  await recordChanges(tx, cause, [fundedChange(funding, 'processor'), creditedChange(funding, 'processor')]);
  return funding;
}

async function request(tx: Tx, cause: Cause, order: OutsideOrder): Promise<FundingView> {
  const balanceCents = await balanceOf(tx, order.walletId);
  const funding = await keep(tx, cause, {
    ...order,
    balanceCents: cents(balanceCents),
    status: 'pending',
    isSimulated: false,
  });
  const { id, ownerId, walletId, amountCents, status } = funding;
  const data = { id, ownerId, walletId, status, amountEuros: eurosFromCents(amountCents) };
  await recordChanges(tx, cause, [{ event: 'funding.requested', ownerId: order.ownerId, subjectId: id, data }]);
  return funding;
}

/** Returns the wallet's available money right after. */
async function post(
  tx: Tx,
  cause: Cause,
  { id, journalId, ownerId, walletId }: Order,
  journal: Pick<JournalDraft, 'kind' | 'postings'>,
): Promise<number> {
  const [posted] = await postNew(tx, cause, [
    { ...journal, id: journalId, ownerId, referenceType: 'fund', referenceId: id, cause: `fund:${id}` },
  ]);
  // Money that settled what the owner owed never reached the wallet.
  return posted?.balances[available(wallet(walletId))] ?? balanceOf(tx, walletId);
}

const balanceOf = async (tx: Tx, walletId: string): Promise<number> => {
  const name = available(wallet(walletId));
  return (await balancesOf(tx, [name]))[name] ?? 0;
};

async function mustTakeMoney(tx: Tx, ownerId: string, walletId: string, field: string): Promise<void> {
  const status = await heldOpen(tx, ownerId, walletId);
  if (status === undefined) throw new DomainError('invalid_request', `body.${field}: is no wallet of this owner`);
  if (status === 'closed') throw new DomainError('invalid_state', `wallet ${walletId} is closed; fund another one`);
}

type StoredFunding = Order & {
  readonly fromWalletId?: Id<'wallet'>;
  readonly balanceCents: Cents;
  readonly status: 'completed' | 'pending';
  readonly isSimulated: boolean;
};

async function keep(tx: Tx, cause: Cause, order: StoredFunding): Promise<FundingView> {
  await runSql(
    tx,
    `insert into fundings (id, owner_id, wallet_id, from_wallet_id, amount_cents, balance_cents, status, is_simulated,
       journal_id, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      order.id,
      order.ownerId,
      order.walletId,
      order.fromWalletId ?? null,
      order.amountCents,
      order.balanceCents,
      order.status,
      order.isSimulated,
      order.status === 'completed' ? order.journalId : null,
      cause.at,
    ],
  );
  const stored = await findFunding(tx, order.ownerId, order.id);
  if (stored === null) throw new Error(`funding ${order.id} was not stored`);
  return stored;
}

type Source = 'processor' | 'wallet';

const fundedChange = (funding: FundingView, source: Source): Change => ({
  event: 'wallet.funded',
  ownerId: funding.ownerId,
  subjectId: funding.walletId,
  data: dataOf(funding, source),
  details: { fundingId: funding.id, amountCents: funding.amountCents },
});

const creditedChange = (funding: FundingView, source: Source): Change => ({
  event: 'wallet.credited',
  ownerId: funding.ownerId,
  subjectId: funding.walletId,
  data: { ...dataOf(funding, source), agentId: null, account: available(wallet(funding.walletId)) },
  audited: false,
});

const dataOf = ({ id, ownerId, walletId, amountCents, balanceCents }: FundingView, source: Source) => ({
  id: walletId,
  ownerId,
  walletId,
  amountEuros: eurosFromCents(amountCents),
  balanceEuros: eurosFromCents(balanceCents),
  source,
  fundingId: id,
});
