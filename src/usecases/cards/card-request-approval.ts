/** The card request as an approval subject: what the approver's page shows of it, and what a decision does. @module */

import type { Tx } from '../../db/tx.ts';
import {
  applyToCardRequest,
  type CardRequestRow,
  type CardRequestStatus,
  cardRequestStatusAsOf,
  findCard,
  findCardRequest,
  limitNames,
  lockCardRequest,
  requestedOf,
} from '../../domains/cards/index.ts';
import type { ApprovalCase, ApprovalSubject, Ending } from '../../domains/identity/approvals/index.ts';
import { policyOfAgent } from '../../domains/spending/policies/index.ts';
import { eurosFromCents, inWords } from '../../kernel/money.ts';
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
    facts: row.type === 'new_card' ? factsOfNewCard(row) : await factsOfCard(tx, row),
    changes: changesOf(row),
    rule: 'an agent gets cards and limits only from its owner',
    demandsPasskey: demandsPasskey(await policyOfAgent(tx, row.agentId)),
    decideBy: row.expiresAt.toISOString(),
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

const factsOfNewCard = ({ usage, displayName, reason }: Readonly<CardRequestRow>): Fact[] => [
  fact('usage', 'Use', usages[usage ?? 'multi']),
  ...(displayName == null ? [] : [fact('displayName', 'Called', displayName, true)]),
  ...(reason == null ? [] : [fact('reason', 'Its reason', reason, true)]),
];

/** The limits as they are now, so that the approver sees what changes. */
async function factsOfCard(tx: Tx, { cardId }: Readonly<CardRequestRow>): Promise<Fact[]> {
  const card = cardId == null ? null : await findCard(tx, cardId);
  if (card === null) return [];
  const now = Object.entries(limitNames).map(([name, { field, label }]) => {
    const amount = card[field] ?? null;
    return fact(`current.${name}`, `${label} now`, amount === null ? 'no limit' : `${inWords(amount)} EUR`);
  });
  return [fact('card', 'Card', `${card.name}, ending in ${card.last4 ?? ''}`), ...now];
}

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
  expired: ending('Expired', 'Expired', 'Nobody decided in time. Nothing changes.', 'calm'),
};
