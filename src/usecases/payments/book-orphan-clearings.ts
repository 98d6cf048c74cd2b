/**
 * Books clearings whose authorization has not come within a day. Clearings of 0 alone have collected nothing and wait
 * further. If the authorization comes later, the collected amount stays booked and the rules decide on the rest.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { runSql } from '../../db/statement.ts';
import { rows, type Tx } from '../../db/tx.ts';
import {
  type AuthorizationAnswer,
  blankTransaction,
  cardRefOfAuthorization,
  clearingMessage,
  type EarlyMessage,
  findByAuthorization,
  lockSpending,
  messageMisfits,
  recordCreated,
  storeMissingAuthorization,
  TransactionRow,
} from '../../domains/payments/index.ts';
import { newId } from '../../kernel/ids.ts';
import { day } from '../../kernel/instant.ts';
import type { Cause } from '../../platform/cause.ts';
import { bookEarlyMessages } from './book-early-messages.ts';
import { forEachCollectingErrors } from './for-each-collecting-errors.ts';

export type BookOrphansDeps = { readonly database: Database };

const waitsMs = day;
const batch = 100;

type Orphan = { readonly adapter: string; readonly authorizationId: string; readonly cardRef: string };

/** `at` is business time; `done` counts authorizations. The next pass tries the failed ones again. */
export const bookOrphanClearings =
  ({ database }: BookOrphansDeps) =>
  async (at: Date): Promise<{ done: number; failures: unknown[] }> => {
    const since = new Date(at.getTime() - waitsMs);
    const found = await rows<Orphan>(
      database.read(),
      `select distinct adapter, authorization_id as "authorizationId", card_ref as "cardRef" from network_messages
     where is_waiting and kind = 'clearing' and received_at <= $1 and (body ->> 'amountCents')::bigint > 0
     limit ${batch}`,
      [since],
    );
    const failures = await forEachCollectingErrors(found, (orphan) => database.write((tx) => book(tx, orphan, at)));
    return { done: found.length - failures.length, failures };
  };

async function book(tx: Tx, { adapter, authorizationId, cardRef }: Orphan, at: Date): Promise<void> {
  await runSql(tx, 'select lock_authorization($1, $2)', [adapter, authorizationId]);
  if ((await findByAuthorization(tx, adapter, authorizationId)) !== null) return; // It came meanwhile.
  const early = await waitingFor(tx, adapter, authorizationId);
  const authorizedCard = await cardRefOfAuthorization(tx, adapter, authorizationId);
  if (authorizedCard !== undefined && authorizedCard !== cardRef) {
    // It was declined as of a card that is not known, and another card's clearing does not fit it.
    for (const { id, kind } of early.filter((message) => message.cardRef === cardRef)) {
      await messageMisfits(tx, { adapter, id, kind }, 'other_card');
    }
    return;
  }
  const [holder] = await rows<Holder>(tx, holderOfCard, [cardRef]);
  const clearing = early.find((message) => message.kind === 'clearing' && message.cardRef === cardRef);
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
  await recordCreated(tx, row, cause);
  const answer: AuthorizationAnswer = {
    decision: 'approved',
    approvedCents: 0,
    transactionId: row.id,
    rule: 'cleared_before',
    reason: 'the network collected without asking',
  };
  await storeMissingAuthorization(tx, { adapter, authorizationId, cardRef }, { transactionId: row.id, answer, at });
  await bookEarlyMessages(tx, { adapter, cause, cardRef, early, transactionId: row.id });
}

type Holder = { ownerId: string; agentId: string; cardId: string; walletId: string; fundingSource: string };

const holderOfCard = `select c.owner_id as "ownerId", c.agent_id as "agentId", c.id as "cardId", a.wallet_id as "walletId",
    funding_source_of(a) as "fundingSource"
  from cards c join agents a on a.id = c.agent_id where c.card_ref = $1`;

const waitingFor = (tx: Tx, adapter: string, authorizationId: string): Promise<EarlyMessage[]> =>
  rows<EarlyMessage>(
    tx,
    `select id, kind, card_ref as "cardRef", body, request_id as "requestId" from network_messages
     where adapter = $1 and authorization_id = $2 and is_waiting order by received_at, id`,
    [adapter, authorizationId],
  );
