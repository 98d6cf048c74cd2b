/** Card reads, as many statements for one card as for a hundred: with the agent's name and its wallet's balance. @module */
import { oneRow, rows, type Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { PageQuery } from '../../../kernel/page.ts';
import { available, balancesOf, wallet } from '../../treasury/index.ts';
import { CardRow } from './card.entity.ts';
import type { CardUsage } from './card.port.ts';
import type { CardStatus, FrozenBy } from './card.rules.ts';

/** An issued card with what surrounds it. */
export type CardRecord = {
  id: Id<'card'>;
  ownerId: string;
  agentId: string;
  agentName: string;
  cardRef: string;
  last4: string;
  brand: string;
  expiryMonth: number;
  expiryYear: number;
  status: CardStatus;
  frozenBy: FrozenBy | null;
  usage: CardUsage;
  isPrimary: boolean;
  name: string;
  displayName: string | null;
  purpose: string | null;
  scope: string | null;
  maxTransactionCents: number | null;
  dailyLimitCents: number | null;
  monthlyLimitCents: number | null;
  walletBalanceCents: number;
  createdAt: Date;
  closedAt: Date | null;
};

/** The row, also of a card that is being issued. */
export const findCard = (tx: Tx, id: string): Promise<CardRow | null> =>
  tx.findOne(CardRow, { id: id as CardRow['id'] });

/** What the processor and the network know an issued card by. */
export async function cardRefOf(tx: Tx, id: string): Promise<string> {
  const { cardRef } = await oneRow<{ cardRef: string }>(tx, 'select card_ref as "cardRef" from cards where id = $1', [
    id,
  ]);
  return cardRef;
}

export async function cardRecord(tx: Tx, id: string): Promise<CardRecord | null> {
  const [card] = await cardRecords(tx, [id]);
  return card ?? null;
}

export const cardRecords = (tx: Tx, ids: readonly string[]): Promise<CardRecord[]> =>
  read(tx, 'where c.id = any($1::text[]) and not c.is_provisioning order by c.created_at, c.id', [[...ids]]);

/** All cards of an agent, the first one first. */
export const cardsOfAgent = (tx: Tx, agentId: string): Promise<CardRecord[]> =>
  read(tx, 'where c.agent_id = $1 and not c.is_provisioning order by c.created_at, c.id', [agentId]);

export type CardFilter = { ownerId: string; agentId?: string | undefined; status?: CardStatus | undefined };

/** Up to `limit + 1` cards, newest first. */
export const listCards = (
  tx: Tx,
  { ownerId, agentId, status }: CardFilter,
  { limit, after }: PageQuery,
): Promise<CardRecord[]> =>
  read(
    tx,
    `where c.owner_id = $1 and not c.is_provisioning
       and ($2::text is null or c.agent_id = $2) and ($3::text is null or c.status = $3)
       and ($4::timestamptz is null or (c.created_at, c.id) < ($4, $5))
     order by c.created_at desc, c.id desc limit $6`,
    [ownerId, agentId ?? null, status ?? null, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  );

export type PrimaryCard = { cardId: Id<'card'>; agentId: string; last4: string; status: CardStatus };

/** The card that an agent's own record names; set-based. */
const primaryCardsOf = (tx: Tx, agentIds: readonly string[]): Promise<PrimaryCard[]> =>
  rows(
    tx,
    `select id as "cardId", agent_id as "agentId", last4, status from cards
     where agent_id = any($1::text[]) and is_primary and not is_provisioning`,
    [[...agentIds]],
  );

export async function primaryCardOf(tx: Tx, agentId: string): Promise<PrimaryCard | null> {
  const [card] = await primaryCardsOf(tx, [agentId]);
  return card ?? null;
}

export type CardHolder = { ownerId: string; agentId: string; status: 'active' | 'frozen' | 'closed' };

/** The agent; null while it is being issued itself. */
export async function cardHolder(tx: Tx, agentId: string): Promise<CardHolder | null> {
  const [agent] = await rows<CardHolder>(
    tx,
    'select owner_id as "ownerId", id as "agentId", status from agents where id = $1 and not is_provisioning',
    [agentId],
  );
  return agent ?? null;
}

async function read(tx: Tx, where: string, params: readonly unknown[]): Promise<CardRecord[]> {
  const found = await rows<CardRecord & { walletId: string }>(tx, `${selection} ${where}`, params);
  const balances = await balancesOf(tx, [...new Set(found.map(({ walletId }) => available(wallet(walletId))))]);
  return found.map(({ walletId, ...card }) => ({
    ...card,
    walletBalanceCents: balances[available(wallet(walletId))] ?? 0,
  }));
}

const selection = `
  select c.id, c.owner_id as "ownerId", c.agent_id as "agentId", a.name as "agentName", a.wallet_id as "walletId",
    c.card_ref as "cardRef", c.last4, c.brand, c.expiry_month as "expiryMonth", c.expiry_year as "expiryYear",
    c.status, c.frozen_by as "frozenBy", c.usage, c.is_primary as "isPrimary", c.name,
    c.display_name as "displayName", c.purpose, c.scope, c.max_transaction_cents as "maxTransactionCents",
    c.daily_limit_cents as "dailyLimitCents", c.monthly_limit_cents as "monthlyLimitCents",
    c.created_at as "createdAt", c.closed_at as "closedAt"
  from cards c join agents a on a.id = c.agent_id`;
