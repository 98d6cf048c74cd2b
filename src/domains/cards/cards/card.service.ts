/**
 * State changes of issued cards: lock, decide by the rules, save, record transition, event and wake, all in the
 * caller's transaction, so that every revoking command works while Temporal is down. Always locks an agent before its
 * cards.
 * @module
 */
import { LockMode } from '@mikro-orm/core';
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';
import { idRow } from '../../../db/row-values.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { EventsLike } from '../../../events/catalog.ts';
import { recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import { hasMoved, recordTransition } from '../../../platform/transitions.ts';
import { wakeWorkflowRun, wakeWorkflowRuns } from '../../../platform/workflow-runs.ts';
import { lockAgent } from '../../parties/index.ts';
import { CardRow } from './card.entity.ts';
import { cardWorkflowId } from './card.messages.ts';
import { cardRecords, findCard } from './card.queries.ts';
import {
  type CardCommand,
  type CardState,
  type CardStatus,
  type FrozenBy,
  frozenByAfter,
  moveCard,
} from './card.rules.ts';
import { cardEventData } from './card.wire.ts';

type Named = { readonly cardId: ReachedId<'card'>; readonly ownerId: string };

/** The command of a caller on a card that it named. */
export const moveNamedCard = (tx: Tx, { cardId, ownerId }: Named, command: CardCommand, cause: Cause) =>
  applyToCard(tx, cardId, command, cause, { ownerId });

/**
 * Moves one card. `already` and `moved` return the row; `refused` throws `invalid_state`. Without an owner for commands
 * of the network, of workflows and of the caller's own rows.
 */
export async function applyToCard(
  tx: Tx,
  cardId: string,
  command: CardCommand,
  cause: Cause,
  ofOwner: OfOwner = {},
): Promise<CardRow> {
  const agentStatus = command.kind === 'unfreeze' ? await lockHolder(tx, cardId, ofOwner) : 'active';
  const row = await lockCard(tx, cardId, ofOwner);
  const from: CardState = { status: row.status, frozenBy: row.frozenBy ?? null };
  const move = moveCard(from, command, agentStatus, await hasMoved(tx, 'card', cardId, cause.causeId));
  if (move.outcome === 'refused') throw new DomainError('invalid_state', move.why);
  if (move.outcome === 'already') {
    const holder = frozenByAfter(from, command);
    if (command.kind !== 'freeze' || row.status !== 'frozen' || holder === from.frozenBy) return row;
    Object.assign(row, { frozenBy: holder, updatedAt: cause.at });
    await tx.flush();
    // To update the details; the processor gets no new state, so nothing is due.
    await wakeWorkflowRun(tx, cardWorkflowId(cardId));
    return row;
  }
  row.status = move.next;
  row.frozenBy = frozenByAfter(from, command);
  row.closedAt = move.next === 'closed' ? cause.at : null;
  row.updatedAt = cause.at;
  await tx.flush();
  await recordTransition(tx, 'card', cardId, { from: from.status, to: row.status }, cause);
  await recordCardEvents(tx, cause, [cardId], eventOf[command.kind], { frozenBy: row.frozenBy });
  // The state that the processor has is right again: nothing is due, and no confirmation would come.
  await wakeWorkflowRun(tx, cardWorkflowId(cardId), row.syncedState === row.status ? null : cause.at);
  return row;
}

/** For a command of a caller: `ownerId` of another owner finds nothing. */
type OfOwner = { readonly ownerId?: string };

export async function lockCard(tx: Tx, cardId: string, ofOwner: OfOwner = {}): Promise<CardRow> {
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const wanted = { id: cardId as CardRow['id'], ...ofOwner };
  const row = await tx.findOne(CardRow, wanted, options);
  if (row === null) throw notFound('card', cardId);
  return row;
}

/** For decisions about all cards of an agent at once. */
export const lockCardsOf = (tx: Tx, agentId: string): Promise<unknown> =>
  runSql(tx, `select 1 from cards where agent_id = $1 and status <> 'closed' order by id for update`, [agentId]);

/** The revoking command of an agent: its active cards freeze with it. */
export const freezeCardsOf = (tx: Tx, cause: Cause, agentId: string): Promise<string[]> =>
  moveCardsOf(tx, cause, agentId, 'freeze', frozenBy('agent'));

/**
 * A policy that expired. What was frozen with the agent stays frozen when the agent is unfrozen, and counts as well.
 */
export async function freezeCardsByPolicy(tx: Tx, cause: Cause, agentId: string): Promise<string[]> {
  const moved = await moveCardsOf(tx, cause, agentId, 'freeze', frozenBy('policy'));
  const takenOver = await rowsOf(
    tx,
    idRow,
    `update cards set frozen_by = 'policy', updated_at = $2
     where agent_id = $1 and status = 'frozen' and frozen_by = 'agent' returning id`,
    [agentId, cause.at],
  );
  const ids = takenOver.map(({ id }) => id);
  // To update the details; the processor gets no new state, so nothing is due.
  await wakeWorkflowRuns(tx, ids.map(cardWorkflowId));
  return [...moved, ...ids];
}

/** Only what was frozen with the agent; a card that its owner froze stays so. */
export const unfreezeCardsOf = (tx: Tx, cause: Cause, agentId: string): Promise<string[]> =>
  moveCardsOf(tx, cause, agentId, 'unfreeze', {
    which: `status = 'frozen' and frozen_by = 'agent'`,
    set: `status = 'active', frozen_by = null`,
    to: 'active',
  });

/** Part of the revoking command that closes an agent. */
export const closeCardsOf = (tx: Tx, cause: Cause, agentId: string): Promise<string[]> =>
  moveCardsOf(tx, cause, agentId, 'close', {
    which: `status <> 'closed'`,
    set: `status = 'closed', frozen_by = null, closed_at = $2`,
    to: 'closed',
  });

type SetMove = {
  readonly which: string;
  readonly set: string;
  readonly to: CardStatus;
  readonly details?: Record<string, unknown>;
};

const frozenBy = (by: FrozenBy): SetMove => ({
  which: `status = 'active'`,
  set: `status = 'frozen', frozen_by = '${by}'`,
  to: 'frozen',
  details: { frozenBy: by },
});

const movedCard = columnRow({ id: z.string(), isProvisioning: z.boolean(), isSynced: z.boolean() });

/**
 * As many statements for many cards as for one; a card that is being issued moves too, without an event. Returns the
 * moved cards.
 */
async function moveCardsOf(
  tx: Tx,
  cause: Cause,
  agentId: string,
  kind: CardCommand['kind'],
  { which, set, to, details = {} }: SetMove,
): Promise<string[]> {
  await tx.flush();
  const moved = await rowsOf(
    tx,
    movedCard,
    `with locked as (
       select id, status from cards where agent_id = $1 and ${which}
         and not exists (select 1 from transitions t where t.noun = 'card' and t.row_id = cards.id and t.cause_id = $3)
       order by id for update),
     moved as (
       update cards c set ${set}, updated_at = $2 from locked
       where c.id = locked.id
       returning c.id, c.is_provisioning, coalesce(c.synced_state = c.status, false) as is_synced, locked.status as was),
     seen as (insert into transitions select 'card', id, $3, was, '${to}', $2 from moved)
     select id, is_provisioning, is_synced from moved order by id`,
    [agentId, cause.at, cause.causeId],
  );
  const visible = moved.filter((card) => !card.isProvisioning).map(({ id }) => id);
  await recordCardEvents(tx, cause, visible, eventOf[kind], details);
  const wake = (cards: typeof moved, dueAt: Date | null) =>
    wakeWorkflowRuns(
      tx,
      cards.map(({ id }) => cardWorkflowId(id)),
      dueAt,
    );
  await wake(
    moved.filter((card) => !card.isSynced),
    cause.at,
  );
  await wake(
    moved.filter((card) => card.isSynced),
    null,
  );
  return moved.map(({ id }) => id);
}

const eventOf = { freeze: 'card.frozen', unfreeze: 'card.unfrozen', close: 'card.closed' } as const satisfies Record<
  CardCommand['kind'],
  EventsLike<'card.issued'>
>;

/** One event of that name per card, with the card as it is now. */
export async function recordCardEvents(
  tx: Tx,
  cause: Cause,
  cardIds: readonly string[],
  event: EventsLike<'card.issued'>,
  details: Record<string, unknown> = {},
  audited = true,
): Promise<void> {
  if (cardIds.length === 0) return;
  const cards = await cardRecords(tx, cardIds);
  const changes = cards.map((card) => ({
    event,
    ownerId: card.ownerId,
    agentId: card.agentId,
    subjectId: card.id,
    data: cardEventData(card),
    details,
    audited,
  }));
  await recordChanges(tx, cause, changes);
}

/** Holds the card's agent as it is until the end of the transaction; an agent not there yet is as good as frozen. */
async function lockHolder(tx: Tx, cardId: string, ofOwner: OfOwner): Promise<'active' | 'frozen' | 'closed'> {
  const card = await findCard(tx, cardId, ofOwner);
  const agent = card === null ? undefined : await lockAgent(tx, card.ownerId, card.agentId);
  return agent?.status ?? 'frozen';
}
