/**
 * Clearings whose authorization has not come within a day: the network has collected, so they are booked without one.
 * The authorization, should it come after all, is answered from there.
 * @module
 */
import type { Database } from '../db/database.ts';
import { rows, type Tx } from '../db/tx.ts';
import {
  type AuthorizationAnswer,
  blankTransaction,
  type CloseUsedCard,
  clearingMessage,
  type EarlyMessage,
  findByAuthorization,
  keepUnasked,
  lockSpending,
  TransactionRow,
} from '../domains/payments/index.ts';
import { newId } from '../kernel/ids.ts';
import { day } from '../kernel/instant.ts';
import type { Cause } from '../platform/cause.ts';
import { bookEarlyMessages } from './book-early-messages.ts';
import { oneByOne } from './one-by-one.ts';

export type BookOrphansDeps = { readonly database: Database; readonly closeUsedCard: CloseUsedCard };

const waitsMs = day;
const batch = 100;

type Orphan = { readonly adapter: string; readonly authorizationId: string; readonly cardRef: string };

/** `at` is business time; `done` counts authorizations. One that fails is tried again by the next pass. */
export async function bookOrphanClearings(
  { database, closeUsedCard }: BookOrphansDeps,
  at: Date,
): Promise<{ done: number; failures: unknown[] }> {
  const since = new Date(at.getTime() - waitsMs);
  const found = await rows<Orphan>(
    database.read(),
    `select distinct adapter, authorization_id as "authorizationId", card_ref as "cardRef" from network_messages
     where is_waiting and kind = 'clearing' and received_at <= $1 limit ${batch}`,
    [since],
  );
  const failures = await oneByOne(found, (orphan) => database.write((tx) => book(tx, orphan, closeUsedCard, at)));
  return { done: found.length - failures.length, failures };
}

async function book(
  tx: Tx,
  { adapter, authorizationId, cardRef }: Orphan,
  closeUsedCard: CloseUsedCard,
  at: Date,
): Promise<void> {
  await rows(tx, 'select lock_authorization($1, $2)', [adapter, authorizationId]);
  if ((await findByAuthorization(tx, adapter, authorizationId)) !== null) return; // It came meanwhile.
  const early = await waitingFor(tx, adapter, authorizationId);
  const [holder] = await rows<Holder>(tx, holderOfCard, [cardRef]);
  const clearing = early.find(({ kind }) => kind === 'clearing');
  if (holder === undefined || clearing === undefined) return;
  const { merchant } = clearingMessage.parse(clearing.body);
  const cause: Cause = {
    causeId: `orphan:${adapter}:${authorizationId}`,
    requestId: clearing.requestId ?? `orphan/${authorizationId}`,
    actor: { kind: 'deadline' },
    at,
  };

  await lockSpending(tx, holder.agentId);
  const row = tx.create(
    TransactionRow,
    blankTransaction({
      ...holder,
      id: newId('transaction'),
      adapter,
      authorizationId,
      merchantId: merchant?.id ?? null,
      merchant: merchant?.name ?? null,
      merchantMcc: merchant?.mcc ?? null,
      merchantCountry: merchant?.country ?? null,
      requestId: cause.requestId,
      createdAt: at,
      updatedAt: at,
    }),
  );
  await tx.flush();
  const answer: AuthorizationAnswer = {
    decision: 'approved',
    approvedCents: 0,
    transactionId: row.id,
    rule: 'cleared_before',
    reason: 'the network collected without asking',
  };
  await keepUnasked(tx, { adapter, authorizationId, cardRef }, { transactionId: row.id, answer, at });
  await bookEarlyMessages(tx, { adapter, cause, early, transactionId: row.id }, closeUsedCard);
}

type Holder = { ownerId: string; agentId: string; cardId: string; walletId: string; purse: string };

const holderOfCard = `select c.owner_id as "ownerId", c.agent_id as "agentId", c.id as "cardId", a.wallet_id as "walletId",
    purse_of(a) as purse
  from cards c join agents a on a.id = c.agent_id where c.card_ref = $1`;

const waitingFor = (tx: Tx, adapter: string, authorizationId: string): Promise<EarlyMessage[]> =>
  rows(
    tx,
    `select id, kind, body, request_id as "requestId" from network_messages
     where adapter = $1 and authorization_id = $2 and is_waiting order by received_at, id`,
    [adapter, authorizationId],
  );
