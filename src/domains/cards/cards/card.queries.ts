/**
 * Card reads with the agent's name and its wallet's balance. The number of statements does not depend on the number of
 * cards.
 * @module
 */
import { type NotNull, sql } from 'kysely';
import { type Db, type Given, query } from '../../../db/db.ts';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { countRow } from '../../../db/row-values.ts';
import { oneRowOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { availableCentsOf } from '../../treasury/index.ts';
import { CardRow } from './card.entity.ts';
import type { CardStatus } from './card.rules.ts';

const columns = [
  'c.id',
  'c.ownerId',
  'c.agentId',
  'a.name as agentName',
  'c.status',
  'c.frozenBy',
  'c.usage',
  'c.isPrimary',
  'c.name',
  'c.displayName',
  'c.purpose',
  'c.scope',
  'c.maxTransactionCents',
  'c.dailyLimitCents',
  'c.monthlyLimitCents',
  'c.createdAt',
  'c.closedAt',
] as const;

/** Cards that the processor has issued, which have all that it gives. */
const issuedCards = (from: Db) =>
  from
    .selectFrom('cards as c')
    .innerJoin('agents as a', 'a.id', 'c.agentId')
    .select(columns)
    .select(availableCentsOf(sql.ref('a.walletId')).as('walletBalanceCents'))
    .select(['c.cardRef', 'c.last4', 'c.brand', 'c.expiryMonth', 'c.expiryYear'])
    .$narrowType<{ cardRef: NotNull; last4: NotNull; brand: NotNull; expiryMonth: NotNull; expiryYear: NotNull }>()
    .where('c.isProvisioning', '=', sql.lit(false));

/** The row, also of a card that is being issued. */
export const findCard = (tx: Tx, id: string, ofOwner: { readonly ownerId?: string } = {}): Promise<CardRow | null> =>
  tx.findOne(CardRow, { id: id as CardRow['id'], ...ofOwner });

const reference = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('cards').select('cardRef').where('id', '=', given('id')).$narrowType<{ cardRef: NotNull }>(),
);

const onRecord = query((from, given: Given<{ id: string }>) =>
  from
    .selectFrom('cards')
    .select(['cardRef', 'brand', 'last4', 'expiryMonth', 'expiryYear'])
    .where('id', '=', given('id'))
    .where('isProvisioning', '=', sql.lit(false))
    .$narrowType<{ cardRef: NotNull; brand: NotNull; last4: NotNull; expiryMonth: NotNull; expiryYear: NotNull }>(),
);

export type CardOnRecord = NonNullable<Awaited<ReturnType<typeof onRecord.first>>>;

/** What the processor has given for an issued card. */
export async function cardOnRecord(tx: Tx, id: string): Promise<CardOnRecord> {
  const found = await onRecord.first(tx, { id });
  if (found === null) throw new Error(`no card ${id}`);
  return found;
}

/** What the processor and the network know an issued card by. */
export async function cardRefOf(tx: Tx, id: string): Promise<string> {
  const found = await reference.first(tx, { id });
  if (found === null) throw new Error(`no card ${id}`);
  return found.cardRef;
}

export async function cardRecord(tx: Tx, id: string): Promise<CardRecord | null> {
  const [card] = await cardRecords(tx, [id]);
  return card ?? null;
}

const byIds = query((from, given: Given<{ ids: readonly string[] }>) =>
  issuedCards(from)
    .where(sql<boolean>`c.id = any(${given('ids')}::text[])`)
    .orderBy('c.createdAt')
    .orderBy('c.id'),
);

export const cardRecords = (tx: Tx, ids: readonly string[]): Promise<CardRecord[]> => byIds.all(tx, { ids });

const byAgent = query((from, given: Given<{ agentId: string }>) =>
  issuedCards(from).where('c.agentId', '=', given('agentId')).orderBy('c.createdAt').orderBy('c.id'),
);

/** All cards of an agent, the first one first. */
export const cardsOfAgent = (tx: Tx, agentId: string): Promise<CardRecord[]> => byAgent.all(tx, { agentId });

/** Those that take a place in the plan: open ones; a card that is to take another's place is none more. */
export async function cardsInPlan(tx: Tx, ownerId: string): Promise<number> {
  const { count } = await oneRowOf(
    tx,
    countRow,
    `select count(*) from cards
     where owner_id = $1 and status <> 'closed' and not (is_provisioning and replaces_card_id is not null)`,
    [ownerId],
  );
  return count;
}

export type CardFilter = { ownerId: string; agentId?: string | undefined; status?: CardStatus | undefined };

const cards = list((from, given: Filters<CardFilter>) => {
  let wanted = issuedCards(from).where('c.ownerId', '=', given('ownerId'));
  if (given.has('agentId')) wanted = wanted.where('c.agentId', '=', given('agentId'));
  if (given.has('status')) wanted = wanted.where('c.status', '=', given('status'));
  return wanted;
}, newestFirst('c'));

/** Newest first. */
export const listCards = (tx: Tx, filter: CardFilter, pageQuery: PageQuery): Promise<Page<CardRecord>> =>
  page(tx, cards, filter, pageQuery);

export type PrimaryCard = { cardId: Id<'card'>; agentId: string; last4: string; status: CardStatus };

const primary = query((from, given: Given<{ agentId: string }>) =>
  from
    .selectFrom('cards')
    .select(['id as cardId', 'agentId', 'last4', 'status'])
    .where('agentId', '=', given('agentId'))
    .where('isPrimary', '=', sql.lit(true))
    .where('isProvisioning', '=', sql.lit(false))
    .$narrowType<{ last4: NotNull }>(),
);

/** The card that an agent's own record names. */
export const primaryCardOf = (tx: Tx, agentId: string): Promise<PrimaryCard | null> => primary.first(tx, { agentId });

export type CardHolder = { ownerId: string; agentId: string; status: 'active' | 'frozen' | 'closed' };

const holder = query((from, given: Given<{ agentId: string }>) =>
  from
    .selectFrom('agents')
    .select(['ownerId', 'id as agentId', 'status'])
    .where('id', '=', given('agentId'))
    .where('isProvisioning', '=', sql.lit(false)),
);

/** The agent; null while it is being issued itself. */
export const cardHolder = (tx: Tx, agentId: string): Promise<CardHolder | null> => holder.first(tx, { agentId });

/** An issued card with the agent's name and the balance of its wallet. */
export type CardRecord = Awaited<ReturnType<typeof byAgent.all>>[number];

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly card: CardRecord;
  }
}
