/**
 * Puts money into a wallet by one atomic write. In a sandbox the money is there at once; in live mode the call is stored
 * and waits for the bank transfer. From another wallet it is an internal transfer in both.
 * @module
 */
import * as z from 'zod';
import type { Database } from '../../../db/database.ts';
import { centsValue, idValue } from '../../../db/row-values.ts';
import type { Tx } from '../../../db/tx.ts';
import { type ChangeRecords, draftRecords } from '../../../events/record.ts';
import { type AtomicWrite, atomicWrites, type Written } from '../../../http/atomic.ts';
import type { Call } from '../../../http/caller.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import { atLimitInWords } from '../../../platform/assert-limit.ts';
import { limits } from '../../../platform/limits.ts';
import type { Mode } from '../../../platform/mode.ts';
import { wallet } from '../ledger/account.rules.ts';
import { fund, internalTransfer } from '../ledger/ledger.rules.ts';
import { type JournalDraft, journalRecord, postingRefusal } from '../ledger/ledger.service.ts';
import { creditorReference } from './creditor-reference.rules.ts';
import { creditedChange, fundedChange, requestedChange } from './funding.changes.ts';
import type { FundingView } from './funding.queries.ts';

/** The statement compares the owner of both wallets. */
export type FundingOrder = {
  readonly id: Id<'funding'>;
  readonly journalId: Id<'journal'>;
  readonly ownerId: Id<'owner'>;
  readonly walletId: Id<'wallet'>;
  /** Absent: from outside. */
  readonly fromWalletId?: Id<'wallet'> | undefined;
  readonly amountCents: Cents;
  readonly simulate?: boolean | undefined;
};

/** `field`: where the request names the wallet. `tx`: where the wallet is made in the same transaction. */
export type FundWallet = (
  call: Call,
  order: FundingOrder,
  field?: 'path' | 'body.walletId',
  tx?: Tx,
) => Promise<Written<FundingView>>;

type Deps = { readonly database: Database; readonly mode: Mode };

/** One for all operations that fund, because they share one queue. */
export function fundWallet({ database, mode }: Deps): FundWallet {
  const write = fundings(database);
  return (call, order, field = 'path', tx = undefined) => {
    if (order.fromWalletId === undefined) assertMaySimulate(mode, order);
    return write(call, { ...itemOf(call, mode, order), field }, tx);
  };
}

function assertMaySimulate(mode: Mode, { simulate }: Pick<FundingOrder, 'simulate'>): void {
  if (mode !== 'live' || simulate !== true) return;
  const why = 'body.simulate: money is simulated in a sandbox deployment only; leave it out';
  throw new DomainError('invalid_request', why);
}

type Stored = Omit<FundingOrder, 'simulate' | 'journalId'> & {
  readonly journalId: Id<'journal'> | null;
  readonly status: 'completed' | 'pending';
  readonly isSimulated: boolean;
  /** Of a pending one: what the bank transfer says, and what an incoming credit is matched by. */
  readonly reference: string | null;
  readonly createdAt: Date;
};

/** As the database function `fund_wallets` takes it. */
type Item = ChangeRecords & {
  readonly funding: Stored;
  readonly most: number;
  readonly journal: object | null;
  readonly field: string;
};

function itemOf({ cause }: Call, mode: Mode, { simulate: _, journalId, ...order }: FundingOrder): Omit<Item, 'field'> {
  const source = order.fromWalletId === undefined ? 'processor' : 'wallet';
  const isPending = source === 'processor' && mode === 'live';
  const funding: Stored = {
    ...order,
    journalId: isPending ? null : journalId,
    status: isPending ? 'pending' : 'completed',
    isSimulated: source === 'processor' && !isPending,
    reference: isPending ? creditorReference(order.id) : null,
    createdAt: cause.at,
  };
  const changes = isPending
    ? [requestedChange(order)]
    : [fundedChange(order, source), ...(source === 'processor' ? [creditedChange(order, source)] : [])];
  return {
    ...draftRecords(cause, changes),
    funding,
    most: limits.fundings.most,
    journal: isPending ? null : journalRecord(journalOf(order, journalId), cause),
  };
}

function journalOf(
  { id, ownerId, walletId, fromWalletId, amountCents }: Omit<FundingOrder, 'journalId'>,
  journalId: Id<'journal'>,
): JournalDraft {
  const of = { id: journalId, ownerId, referenceType: 'fund', referenceId: id, cause: `fund:${id}` } as const;
  return fromWalletId === undefined
    ? { ...of, kind: 'fund', postings: fund({ ownerId, to: wallet(walletId), amountCents }) }
    : {
        ...of,
        kind: 'internal_transfer',
        postings: internalTransfer({ fromWalletId, toWalletId: walletId, amountCents }),
      };
}

/** One queue for each database that is open. */
const queues = new WeakMap<Database, AtomicWrite<Item, FundingView>>();

function fundings(database: Database): AtomicWrite<Item, FundingView> {
  const made = queues.get(database) ?? atomicWrites({ database, function: 'fund_wallets', result, ownerOf, refusalOf });
  queues.set(database, made);
  return made;
}

const result: z.ZodType<FundingView> = z.object({
  id: idValue('funding'),
  ownerId: idValue('owner'),
  walletId: idValue('wallet'),
  amountCents: centsValue,
  balanceCents: centsValue,
  status: z.enum(['completed', 'pending']),
  isSimulated: z.boolean(),
  reference: z.string().nullable(),
  createdAt: z.coerce.date(),
  iban: z.string().nullable(),
  bic: z.string().nullable(),
});

const ownerOf = ({ funding: { ownerId } }: Item): string => ownerId;

const atLimit = z.object({ used: z.int(), most: z.int() });

function refusalOf(outcome: string, detail: unknown, { funding, field }: Item): DomainError | undefined {
  const { walletId, fromWalletId } = funding;
  if (outcome === 'no_wallet') {
    if (field === 'path') return notFound('wallet', walletId);
    return new DomainError('invalid_request', `${field}: is no wallet of this owner`);
  }
  if (outcome === 'same_wallet') return new DomainError('invalid_request', 'body.fromWalletId: is the wallet itself');
  if (outcome === 'no_source') {
    return new DomainError('invalid_request', 'body.fromWalletId: is no wallet of this owner');
  }
  if (outcome === 'closed') return new DomainError('invalid_state', `wallet ${walletId} is closed; fund another one`);
  if (outcome === 'source_closed' || outcome === 'source_frozen') {
    const state = outcome.slice('source_'.length);
    return new DomainError('invalid_state', `body.fromWalletId: wallet ${fromWalletId} is ${state}`);
  }
  if (outcome === 'limit') {
    return new DomainError('invalid_state', atLimitInWords({ name: 'fundings', ...atLimit.parse(detail) }));
  }
  return postingRefusal(outcome, detail);
}
