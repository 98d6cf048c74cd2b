/**
 * What the tables of the real stack say, in the words of the model: one list of differences for each kind of record,
 * empty where the product is where the model is.
 * @module
 */
import assert from 'node:assert/strict';
import type { Commander } from './payment-calls.ts';
import type { PaymentModel } from './payment-model.ts';
import { isLegal, type ModelIntent, type Payment } from './payment-shapes.ts';
import type { World } from './world.ts';

/** What is shown of a payment, and which intent it pays for. */
export const asRow = (payment: Payment) => ({
  status: payment.status,
  type: payment.type,
  amount: payment.amountCents,
  approved: payment.approvedCents,
  held: payment.heldCents,
  cleared: payment.clearedCents,
  reversed: payment.reversedCents,
  refunded: payment.refundedCents,
  isFinal: payment.isFinal,
  intentId: payment.intent?.id ?? null,
});

export const rowOf = async ({ sql }: World, { authorizationId }: Payment) =>
  (
    await sql(
      `select status, type, amount_cents::int as amount, approved_cents::int as approved, held_cents::int as held,
         cleared_cents::int as cleared,
         reversed_cents::int as reversed, refunded_cents::int as refunded, is_final as "isFinal", intent_id as "intentId"
       from transactions where authorization_id = $1`,
      [authorizationId],
    )
  )[0];

/** Each record that is not as the model has it, as both have it. */
function differences(found: readonly object[], wanted: readonly object[]): unknown[] {
  const [product, model] = [found, wanted].map((rows) => rows.map((row) => JSON.stringify(row)));
  const only = (these: readonly string[] = [], those: readonly string[] = []) =>
    these.filter((row) => !those.includes(row));
  return [
    ...only(product, model).map((row) => `only the product: ${row}`),
    ...only(model, product).map((row) => `only the model: ${row}`),
  ];
}

type IntentRow = {
  readonly id: string;
  readonly status: string;
  readonly matchedBy: string | null;
  readonly cardId: string;
};

export async function intentsOf(
  { sql }: World,
  ownerId: string,
  { intents }: PaymentModel,
  { cards }: Pick<Commander, 'cards'>,
): Promise<unknown[]> {
  const rows = await sql<IntentRow>(
    `select i.id, i.status, t.authorization_id as "matchedBy", i.card_id as "cardId"
     from intents i left join transactions t on t.id = i.matched_transaction_id where i.owner_id = $1`,
    [ownerId],
  );
  const wanted = intents.map(({ id, status, matchedBy, card }) => ({ id, status, matchedBy, cardId: cards[card]?.id }));
  return differences(rows, wanted);
}

type WindowRow = {
  readonly intentId: string;
  readonly number: number;
  readonly status: string;
  readonly paidBy: string | null;
  readonly isOver: boolean;
};

/** A window that nothing pays for may have a row: it is free again, or missed where it or its intent is over. */
export async function windowsOf(
  { sql }: World,
  ownerId: string,
  { intents }: PaymentModel,
  now: Date,
): Promise<unknown[]> {
  const rows = await sql<WindowRow>(
    `select w.intent_id as "intentId", w.number, w.status, t.authorization_id as "paidBy",
       w.to_at <= $2 or i.status <> 'approved' as "isOver"
     from intent_windows w join intents i on i.id = w.intent_id left join transactions t on t.id = w.transaction_id
     where i.owner_id = $1`,
    [ownerId, now],
  );
  const isPaid = ({ status }: { status: string }): boolean => status === 'matched' || status === 'completed';
  const paid = rows
    .filter(isPaid)
    .map(({ intentId, number, status, paidBy }) => ({ intentId, number, status, paidBy }));
  const wanted = intents.flatMap(({ id, recurring }: ModelIntent) =>
    [...(recurring?.paid ?? [])].map(([number, { status, paidBy }]) => ({ intentId: id, number, status, paidBy })),
  );
  const missedEarly = rows.filter(({ status, isOver }) => status === 'missed' && !isOver);
  return [...differences(paid, wanted), ...missedEarly];
}

export async function cardsOf(
  { sql }: World,
  { owner, cards, agentIds }: Commander,
  model: PaymentModel,
): Promise<unknown[]> {
  const rows = await sql(
    `select id, agent_id as "agentId", status, frozen_by as "frozenBy", usage, replaced_by_card_id as "replacedBy"
     from cards where owner_id = $1`,
    [owner.ownerId],
  );
  const wanted = model.cards.map(({ agent, status, frozenBy, usage, replacedBy }, index) => ({
    ...{ id: cards[index]?.id, agentId: agentIds[agent], status, frozenBy, usage },
    replacedBy: replacedBy === null ? null : cards[replacedBy]?.id,
  }));
  return differences(rows, wanted);
}

export async function agentsOf({ sql }: World, { agentIds }: Commander): Promise<(string | undefined)[]> {
  const rows = await sql<{ id: string; status: string }>('select id, status from agents where id = any($1)', [
    agentIds,
  ]);
  return agentIds.map((id) => rows.find((row) => row.id === id)?.status);
}

/** By the balances that the accounts have, which must be the sums of their entries. */
export async function accountsOf({ sql }: World, ownerId: string, walletId: string) {
  const rows = await sql<{ name: string; balance: number; entered: number }>(
    `select a.name, a.balance_cents::int as balance, coalesce(sum(e.amount_cents), 0)::int as entered
     from ledger_accounts a left join ledger_entries e on e.account = a.name where a.owner_id = $1 group by a.name`,
    [ownerId],
  );
  for (const { name, balance, entered } of rows)
    assert.equal(balance, name.startsWith('owner:') ? 0 - entered : entered);
  const of = (name: string): number => rows.find((row) => row.name === name)?.balance ?? 0;
  return {
    available: of(`wallet:${walletId}:available`),
    held: of(`wallet:${walletId}:held`),
    receivable: of(`owner:${ownerId}:receivable`),
  };
}

export async function illegalMoves({ sql }: World, ownerId: string): Promise<unknown[]> {
  const moves = await sql<{ id: string; from: string | null; to: string; isVerification: boolean }>(
    `select t.id, m.from_status as "from", m.to_status as "to", t.is_verification as "isVerification"
     from transitions m join transactions t on t.id = m.row_id
     where m.noun = 'transaction' and t.owner_id = $1 and t.type <> 'refund'`,
    [ownerId],
  );
  return moves.filter(({ from, to, isVerification }) => !isLegal(String(from), to, { isVerification }));
}
