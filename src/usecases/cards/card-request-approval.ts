/**
 * The card request as an approval subject: the content of its approver's page, and the effect of a decision.
 * @module
 */

import type { Tx } from '../../db/tx.ts';
import type { CardRequestRow } from '../../domains/cards/card-requests/card-request.entity.ts';
import { findCardRequest } from '../../domains/cards/card-requests/card-request.queries.ts';
import {
  type CardRequestStatus,
  statusAsOf as cardRequestStatusAsOf,
  limitNames,
  type RequestedLimits,
} from '../../domains/cards/card-requests/card-request.rules.ts';
import { applyToCardRequest, lockCardRequest } from '../../domains/cards/card-requests/card-request.service.ts';
import { requestedOf } from '../../domains/cards/card-requests/card-request.wire.ts';
import { findCard } from '../../domains/cards/cards/card.queries.ts';
import type { ApprovalCase, ApprovalSubject, Ending } from '../../domains/identity/approvals/approval-subject.ts';
import { policyOfAgent } from '../../domains/spending/policies/policy.queries.ts';
import { type Cents, eurosFromCents, inWords } from '../../kernel/money.ts';
import { demandsPasskey } from '../spending/refuse-unattested.ts';
import { type ApproveCardRequest, matterOf } from './approve-card-request.ts';

type Deps = { readonly approve: ApproveCardRequest };

export const cardRequestApproval = ({ approve }: Deps): ApprovalSubject => ({
  kind: 'card_request',
  idKind: 'cardRequest',
  find: async (tx, id) => {
    const row = await findCardRequest(tx, id);
    return row === null ? null : caseOf(row, approve);
  },
});

const caseOf = (row: Readonly<CardRequestRow>, approve: ApproveCardRequest): ApprovalCase => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  standing: (at) => {
    const status = cardRequestStatusAsOf(row, at);
    const isApproved = row.status === 'approved';
    return {
      status,
      isWaiting: status === 'pending',
      isApproved,
      isDenied: row.status === 'denied',
      outcome: {
        at: status === 'expired' ? row.expiresAt : (row.decidedAt ?? row.updatedAt),
        approvedBy: isApproved ? (row.decidedBy ?? null) : null,
        ...endings[status](row),
      },
    };
  },
  show: async (tx) => ({
    ...titles[row.type],
    purpose: row.purpose ?? row.reason ?? null,
    amountEuros: null,
    maxChargeEuros: null,
    cadence: null,
    lastChargeOn: null,
    facts: row.type === 'new_card' ? factsOfNewCard(row) : await factsOfCard(tx, row),
    changes: changesOf(row),
    rule: 'an agent cannot give itself cards or limits: its owner decides',
    demandsPasskey: demandsPasskey(await policyOfAgent(tx, row.agentId)),
    decideBy: row.expiresAt.toISOString(),
  }),
  summary: async (tx) => ({
    ...{ amountEuros: null, maxChargeEuros: null, cadence: null, lastChargeOn: null },
    facts: row.type === 'new_card' ? [usageOf(row)] : await cardOf(tx, row),
  }),
  matter: async (_tx, changes) => matterOf(row, changes),
  approve: (envelope, changes = {}, cause) => approve(row, { changes, envelope }, cause),
  deny: async (tx, reason, cause) =>
    applyToCardRequest(tx, await lockCardRequest(tx, row.id, cause), { kind: 'deny', reason }, cause),
});

const titles = {
  new_card: { title: 'Approve a card', asks: 'asks for a new card', denies: 'Deny the card' },
  limit_change: { title: 'Approve card limits', asks: 'asks for other limits on a card', denies: 'Deny the change' },
} as const;

type Fact = Awaited<ReturnType<ApprovalCase['show']>>['facts'][number];

const fact = (name: string, label: string, text: string, isQuoted = false): Fact => ({ name, label, text, isQuoted });

const usages = { single: 'for one payment, then it closes', multi: 'for many payments' } as const;

const usageOf = ({ usage }: Readonly<CardRequestRow>): Fact => fact('usage', 'Use', usages[usage ?? 'multi']);

function factsOfNewCard(row: Readonly<CardRequestRow>): Fact[] {
  const requested = requestedOf(row);
  return [
    usageOf(row),
    ...(row.displayName == null ? [] : [fact('displayName', 'Name of the card', row.displayName, true)]),
    ...(row.reason == null ? [] : [fact('reason', 'Its reason', row.reason, true)]),
    ...eachLimit((field) => limitInWords(requested[field])),
  ];
}

/** Each limit as it is and as it is requested, because an approval keeps the limits that the request does not name. */
async function factsOfCard(tx: Tx, row: Readonly<CardRequestRow>): Promise<Fact[]> {
  const card = row.cardId == null ? null : await findCard(tx, row.cardId);
  if (card === null) return [];
  const requested = requestedOf(row);
  const limits = eachLimit((field) => {
    const now = limitInWords(card[field] ?? null);
    return requested[field] === null ? `${now}, unchanged` : `${limitInWords(requested[field])} instead of ${now}`;
  });
  return [cardFact(card), ...limits];
}

/** Its limits may be others by now. */
async function cardOf(tx: Tx, { cardId }: Readonly<CardRequestRow>): Promise<Fact[]> {
  const card = cardId == null ? null : await findCard(tx, cardId);
  return card === null ? [] : [cardFact(card)];
}

const cardFact = ({ name, last4 }: { readonly name: string; readonly last4?: string | null | undefined }): Fact =>
  fact('card', 'Card', `${name}, ending in ${last4 ?? ''}`);

const eachLimit = (text: (field: keyof RequestedLimits) => string): Fact[] =>
  Object.entries(limitNames).map(([name, { field, label }]) => fact(name, label, text(field)));

const limitInWords = (amount: Cents | null): string => (amount === null ? 'no limit' : `${inWords(amount)} EUR`);

function changesOf(row: Readonly<CardRequestRow>) {
  const requested = requestedOf(row);
  return Object.entries(limitNames).map(([name, { field, label }]) => {
    const amount = requested[field];
    return { name, label, requestedEuros: amount === null ? null : eurosFromCents(amount) };
  });
}

const ending = (title: string, verb: string, meaning: string, tone: Ending['tone']) => (): Ending => ({
  title,
  verb,
  meaning,
  tone,
});

const endings: Readonly<Record<CardRequestStatus, (row: Readonly<CardRequestRow>) => Ending>> = {
  pending: ending('Waiting', 'Waiting', 'Load the page again.', 'calm'),
  approved: ({ type }) => ({
    title: 'Approved',
    verb: 'Approved',
    meaning: type === 'new_card' ? 'The agent has its card.' : 'The card has its new limits.',
    tone: 'good',
  }),
  denied: ending('Denied', 'Denied', 'Nothing changes.', 'bad'),
  cancelled: ending('Cancelled', 'Cancelled', 'The request was withdrawn. Nothing changes.', 'calm'),
  expired: ending('Expired', 'Expired', 'The deadline passed without a decision. Nothing changes.', 'calm'),
};
