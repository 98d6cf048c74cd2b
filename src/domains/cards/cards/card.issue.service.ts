/**
 * A card from the wish to the processor's answer, and what the processor was told since. Nothing here dials out: the
 * worker asks the processor between these transactions.
 * @module
 */
import { rows, type Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cause } from '../../../platform/cause.ts';
import { closeProcess, dueProcess, openProcess } from '../../../platform/processes.ts';
import { recordTransition } from '../../../platform/transitions.ts';
import { CardRow } from './card.entity.ts';
import { cardProcessId, cardWorkflow } from './card.messages.ts';
import type { CardStateOutcome, CardUsage, IssuedCard } from './card.port.ts';
import { findCard } from './card.queries.ts';
import type { CardStatus } from './card.rules.ts';
import { applyToCard, lockCard, recordCardEvents } from './card.service.ts';

export type NewCard = {
  readonly cardId: Id<'card'>;
  readonly ownerId: string;
  readonly agentId: string;
  readonly usage: CardUsage;
  /** Unique among the agent's cards that are not closed. */
  readonly name: string;
  readonly displayName?: string | null | undefined;
  readonly purpose?: string | null | undefined;
  readonly scope?: string | null | undefined;
  readonly limits?:
    | {
        readonly maxTransactionCents?: number | null | undefined;
        readonly dailyLimitCents?: number | null | undefined;
        readonly monthlyLimitCents?: number | null | undefined;
      }
    | undefined;
};
export type PreparedCard = { readonly cardId: Id<'card'>; readonly processId: string };

/** Reserves the card, unseen, and opens the process that issues it. A repeat finds the reservation. */
export async function prepareCard(tx: Tx, cause: Cause, wish: NewCard): Promise<PreparedCard> {
  const prepared = { cardId: wish.cardId, processId: cardProcessId(wish.cardId) };
  const known = await tx.findOne(CardRow, { id: wish.cardId, ownerId: wish.ownerId });
  if (known !== null) return prepared;
  await refuseTakenName(tx, wish);
  const isPrimary = await takePrimacy(tx, wish.agentId);
  tx.create(CardRow, {
    id: wish.cardId,
    ownerId: wish.ownerId,
    agentId: wish.agentId,
    status: 'active',
    usage: wish.usage,
    isPrimary,
    name: wish.name,
    displayName: wish.displayName ?? null,
    purpose: wish.purpose ?? null,
    scope: wish.scope ?? null,
    maxTransactionCents: wish.limits?.maxTransactionCents ?? null,
    dailyLimitCents: wish.limits?.dailyLimitCents ?? null,
    monthlyLimitCents: wish.limits?.monthlyLimitCents ?? null,
    isProvisioning: true,
    origin: { requestId: cause.requestId, runId: cause.runId ?? null, actor: cause.actor },
    version: 1,
    createdAt: cause.at,
    updatedAt: cause.at,
  });
  await tx.flush();
  await openProcess(tx, {
    id: prepared.processId,
    workflow: cardWorkflow,
    subjectId: wish.cardId,
    ownerId: wish.ownerId,
    agentId: wish.agentId,
    stage: 'issuing',
    dueAt: cause.at,
    at: cause.at,
  });
  return prepared;
}

/** What must happen before the card is heard of: its agent becomes visible, if this is its first card. */
export type OnActivated = (
  tx: Tx,
  cause: Cause,
  card: { cardId: string; agentId: string; ownerId: string },
) => Promise<unknown>;

/** Stores the processor's answer: from here on the card exists for everybody, unless it was closed meanwhile. */
export async function storeIssuedCard(
  tx: Tx,
  cardId: string,
  issued: IssuedCard,
  at: Date,
  onActivated: OnActivated,
): Promise<CardRow> {
  await lockAgentOf(tx, cardId);
  const row = await lockCard(tx, cardId);
  if ((row.toldState ?? null) !== null) return row;
  const isWanted = row.status !== 'closed';
  Object.assign(row, issued, { toldState: 'active', isProvisioning: !isWanted, updatedAt: at });
  row.version += 1;
  await tx.flush();
  if (row.status === 'active') await dueProcess(tx, cardProcessId(cardId), null);
  if (!isWanted) return row;
  const { requestId, runId, actor } = row.origin;
  const cause: Cause = { causeId: `issue/${cardId}`, requestId, runId: runId ?? undefined, actor, at };
  await recordTransition(tx, 'card', cardId, { from: null, to: row.status }, cause);
  await onActivated(tx, cause, { cardId, agentId: row.agentId, ownerId: row.ownerId });
  await recordCardEvents(tx, cause, [cardId], 'card.issued');
  await recordCardEvents(tx, cause, [cardId], row.status === 'active' ? 'card.activated' : 'card.frozen', {}, false);
  return row;
}

/** Notes what the processor knows now. A card that it has closed by itself is closed here too. */
export async function noteTold(
  tx: Tx,
  cardId: string,
  told: CardStatus,
  outcome: CardStateOutcome,
  at: Date,
): Promise<CardRow> {
  const isClosedThere = outcome.outcome === 'refused' && outcome.reason === 'closed';
  const cause: Cause = { causeId: 'processor', requestId: cardProcessId(cardId), actor: { kind: 'system' }, at };
  if (isClosedThere) await applyToCard(tx, cardId, { kind: 'close' }, cause);
  const row = await lockCard(tx, cardId);
  // A processor that does not know the card has nothing left to be told.
  row.toldState = isClosedThere ? 'closed' : told;
  row.updatedAt = at;
  await tx.flush();
  if (row.toldState !== row.status) return row;
  await (row.status === 'closed'
    ? closeProcess(tx, cardProcessId(cardId), { isOwnStep: true })
    : dueProcess(tx, cardProcessId(cardId), null));
  return row;
}

async function refuseTakenName(tx: Tx, { agentId, name }: NewCard): Promise<void> {
  const taken = await rows(tx, `select 1 from cards where agent_id = $1 and name = $2 and status <> 'closed'`, [
    agentId,
    name,
  ]);
  if (taken.length > 0)
    throw new DomainError('invalid_state', 'the agent has a card of that name; choose another name');
}

/** The first card is the primary one; when that is closed, the next one issued takes its place. */
async function takePrimacy(tx: Tx, agentId: string): Promise<boolean> {
  await rows(tx, `update cards set is_primary = false where agent_id = $1 and is_primary and status = 'closed'`, [
    agentId,
  ]);
  const primary = await rows(tx, 'select 1 from cards where agent_id = $1 and is_primary', [agentId]);
  return primary.length === 0;
}

async function lockAgentOf(tx: Tx, cardId: string): Promise<void> {
  const card = await findCard(tx, cardId);
  if (card !== null) await rows(tx, 'select 1 from agents where id = $1 for no key update', [card.agentId]);
}
