/**
 * Card request writes: lock the row, decide by the rules, save, record transition, event and workflow run, all in the
 * caller's transaction. The only way a card request changes. The caller has checked the permission.
 * @module
 */
import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChanges } from '../../../events/record.ts';
import type { Own } from '../../../http/caller.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import { actorInWords, type Cause } from '../../../platform/cause.ts';
import { hasMoved, recordTransition } from '../../../platform/transitions.ts';
import { closeWorkflowRun, openWorkflowRun, setWorkflowRunDue } from '../../../platform/workflow-runs.ts';
import type { ApprovalLinks } from '../../identity/approvals/index.ts';
import { lockAgent } from '../../parties/index.ts';
import { findCard } from '../cards/card.queries.ts';
import type { CardRequestBody } from './card-request.contract.ts';
import { CardRequestRow } from './card-request.entity.ts';
import { cardRequestWorkflow, cardRequestWorkflowId } from './card-request.messages.ts';
import { findCardRequest } from './card-request.queries.ts';
import {
  type CardRequestCommand,
  type CardRequestStatus,
  dueAt,
  expiryOf,
  moveCardRequest,
  type RequestedLimits,
} from './card-request.rules.ts';
import { cardRequestData } from './card-request.wire.ts';

type NewCardRequest = { readonly id: CardRequestRow['id']; readonly own: Own; readonly body: CardRequestBody };

/** A repeat with the same id finds the first request. */
export async function createCardRequest(
  tx: Tx,
  { id, own, body }: NewCardRequest,
  cause: Cause,
  links: Pick<ApprovalLinks, 'open'>,
): Promise<Readonly<CardRequestRow>> {
  const known = await findCardRequest(tx, id);
  if (known !== null) return known;
  const { ownerId } = own;
  const agentId = requestingAgent(body, own);
  await assertAgentActive(tx, ownerId, agentId);
  if (body.type === 'limit_change') await assertCardOpen(tx, agentId, body.cardId);
  const counted = { ownerId, subject: agentId, at: cause.at };
  await assertBelowLimit(tx, 'card_requests', counted, { isLocked: true }); // By the agent's row.
  const isNew = body.type === 'new_card';
  const row = tx.create(CardRequestRow, {
    id,
    ownerId,
    agentId,
    type: body.type,
    cardId: isNew ? null : body.cardId,
    status: 'pending',
    reason: body.reason ?? null,
    usage: isNew ? body.usage : null,
    purpose: isNew ? body.purpose : null,
    displayName: isNew ? (body.displayName ?? null) : null,
    maxTransactionCents: body.maxTransactionCents ?? null,
    dailyLimitCents: body.dailyLimitCents ?? null,
    monthlyLimitCents: body.monthlyLimitCents ?? null,
    expiresAt: expiryOf(cause.at),
    requestId: cause.requestId,
    runId: cause.runId ?? null,
    version: 1,
    createdAt: cause.at,
    updatedAt: cause.at,
  });
  await tx.flush();
  await recordTransition(tx, 'card_request', id, { from: null, to: row.status }, cause);
  await links.open(tx, id, cause.at);
  await recordChanges(tx, cause, changesOf(row, 'card_request.created'));
  await openWorkflowRun(tx, {
    id: cardRequestWorkflowId(id),
    workflow: cardRequestWorkflow,
    subjectId: id,
    ownerId,
    agentId,
    stage: row.status,
    dueAt: dueOf(row),
    at: cause.at,
  });
  return row;
}

/** An agent's token requests for its own agent; a key names one. */
function requestingAgent(body: CardRequestBody, own: Own): string {
  const agentId = body.agentId ?? own.agentId;
  if (agentId === undefined) throw new DomainError('invalid_request', 'body.agentId: is missing');
  return agentId;
}

/** The agent's row is locked, so that its requests are counted one after the other. */
async function assertAgentActive(tx: Tx, ownerId: string, agentId: string): Promise<void> {
  const agent = await lockAgent(tx, ownerId, agentId);
  if (agent === undefined) throw notFound('agent', agentId);
  if (agent.status === 'active') return;
  throw new DomainError('invalid_state', `agent ${agentId} is ${agent.status}: it requests no card`);
}

async function assertCardOpen(tx: Tx, agentId: string, cardId: string): Promise<void> {
  const card = await findCard(tx, cardId);
  if (card === null || card.agentId !== agentId || card.isProvisioning) throw notFound('card', cardId);
  if (card.status === 'closed') {
    throw new DomainError('invalid_state', `card ${cardId} is closed: its limits do not change any more`);
  }
}

export type LockedCardRequest = { readonly row: CardRequestRow; readonly seen: boolean };

/** `seen`: the cause has moved the row before. */
export async function lockCardRequest(
  tx: Tx,
  id: string,
  { causeId }: Cause,
  { ownerId }: { readonly ownerId?: string } = {},
): Promise<LockedCardRequest> {
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const wanted = { id: id as CardRequestRow['id'], ...(ownerId !== undefined && { ownerId }) };
  const row = await tx.findOne(CardRequestRow, wanted, options);
  if (row === null) throw notFound('card request', id);
  return { row, seen: await hasMoved(tx, 'card_request', id, causeId) };
}

/** What the owner or the agent asks for to end a request. */
type Revocation = { readonly kind: 'deny'; readonly reason?: string | undefined } | { readonly kind: 'cancel' };

export type CardRequestDecision =
  | { readonly kind: 'approve'; readonly granted: RequestedLimits; readonly cardId: string }
  | Revocation
  | { readonly kind: 'expire' };

type ApplyOptions = { readonly isOwnWorkflow?: boolean };

type Named = { readonly id: ReachedId<'cardRequest'>; readonly ownerId: string };

/** Denies or cancels for a caller: one transaction that works without Temporal; the relay wakes the workflow afterwards. */
export const revokeCardRequest = async (
  tx: Tx,
  { id, ownerId }: Named,
  decision: Revocation,
  cause: Cause,
): Promise<CardRequestRow> =>
  applyToCardRequest(tx, await lockCardRequest(tx, id, cause, { ownerId }), decision, cause);

/** Moves one card request. `already` and `moved` return the row; `refused` throws `invalid_state`. */
export async function applyToCardRequest(
  tx: Tx,
  { row, seen }: LockedCardRequest,
  decision: CardRequestDecision,
  cause: Cause,
  { isOwnWorkflow = false }: ApplyOptions = {},
): Promise<CardRequestRow> {
  const next = nextStatus(row, decision.kind, seen, cause.at);
  if (next === undefined) return row;
  const from = row.status;
  row.status = next;
  row.decidedBy = actorInWords(cause.actor);
  row.decidedAt = cause.at;
  row.updatedAt = cause.at;
  if (decision.kind === 'deny') row.decisionReason = decision.reason ?? null;
  if (decision.kind === 'approve') {
    row.cardId = decision.cardId;
    row.grantedMaxTransactionCents = decision.granted.maxTransactionCents;
    row.grantedDailyLimitCents = decision.granted.dailyLimitCents;
    row.grantedMonthlyLimitCents = decision.granted.monthlyLimitCents;
  }
  await tx.flush();
  await recordTransition(tx, 'card_request', row.id, { from, to: next }, cause);
  await recordChanges(tx, cause, changesOf(row, next === 'expired' ? 'card_request.expired' : 'card_request.decided'));
  await closeWorkflowRun(tx, cardRequestWorkflowId(row.id), { isOwnStep: isOwnWorkflow });
  return row;
}

/** Undefined where nothing changes. Past the deadline only `expire` moves the row. */
export function nextStatus(
  row: Readonly<CardRequestRow>,
  command: CardRequestCommand,
  seen: boolean,
  at: Date,
): CardRequestStatus | undefined {
  const move = moveCardRequest(row.status, command, seen);
  if (move.outcome === 'refused') throw new DomainError('invalid_state', move.why);
  if (move.outcome === 'already') return undefined;
  if (command === 'expire' && row.expiresAt > at) {
    throw new DomainError('invalid_state', `the card request expires at ${row.expiresAt.toISOString()}, not before`);
  }
  if (command !== 'expire' && row.expiresAt <= at) {
    throw new DomainError('invalid_state', `cannot ${command} a card request that is expired`);
  }
  return move.next;
}

/** Once per request: an event tells the owner's subscribers that the request still waits. */
export async function remindOfCardRequest(tx: Tx, id: string, cause: Cause): Promise<CardRequestRow> {
  const { row } = await lockCardRequest(tx, id, cause);
  if (row.status !== 'pending' || row.remindedAt != null) return row;
  row.remindedAt = cause.at;
  row.updatedAt = cause.at;
  await tx.flush();
  await recordChanges(tx, cause, [changeOf(row, 'card_request.reminded')]);
  await setWorkflowRunDue(tx, cardRequestWorkflowId(row.id), dueOf(row));
  return row;
}

const dueOf = (row: CardRequestRow) => dueAt({ ...row, remindedAt: row.remindedAt ?? null });

type Name = 'card_request.created' | 'card_request.decided' | 'card_request.expired' | 'card_request.reminded';

const changeOf = (row: Readonly<CardRequestRow>, event: Name): Change => ({
  event,
  ownerId: row.ownerId,
  agentId: row.agentId,
  subjectId: row.id,
  data: cardRequestData(row),
  details: { status: row.status, ...(row.cardId == null ? {} : { cardId: row.cardId }) },
});

/** Each move of a limit change has the event of the specification as well. */
export const changesOf = (row: Readonly<CardRequestRow>, event: Name): Change[] => [
  changeOf(row, event),
  ...(row.type === 'limit_change' ? [{ ...changeOf(row, event), event: limitEvent, audited: false } as Change] : []),
];

const limitEvent = 'card_limit_request.updated';
