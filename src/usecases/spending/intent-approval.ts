/** The intent as an approval subject: the content of its approver's page, and the effect of a decision. @module */
import type { Tx } from '../../db/tx.ts';
import { type CardRecord, cardRecord } from '../../domains/cards/cards/card.queries.ts';
import type { ApprovalRequestWire } from '../../domains/identity/approvals/approval.contract.ts';
import type {
  ApprovalCase,
  ApprovalSubject,
  DecidedFacts,
  Ending,
} from '../../domains/identity/approvals/approval-subject.ts';
import type { ApproverChanges } from '../../domains/identity/approvals/decision.messages.ts';
import type { DeclinedCharge } from '../../domains/spending/intents/allow-once.rules.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { findIntent } from '../../domains/spending/intents/intent.queries.ts';
import { type IntentStatus, statusAsOf, whyUnpayable } from '../../domains/spending/intents/intent.rules.ts';
import { applyToIntent } from '../../domains/spending/intents/intent.service.ts';
import { stateOf } from '../../domains/spending/intents/intent.state.service.ts';
import { scheduleOf } from '../../domains/spending/intents/matchable-intent.rules.ts';
import { maxChargeCentsOf } from '../../domains/spending/intents/max-charge.queries.ts';
import { lastInstantOf } from '../../domains/spending/intents/windows/recurrence.rules.ts';
import { policyOfAgent } from '../../domains/spending/policies/policy.queries.ts';
import { DomainError } from '../../kernel/errors.ts';
import { eurosFromCents } from '../../kernel/money.ts';
import type { ApproveIntent } from './approve-intent.ts';
import { matterOf } from './attest-intent.ts';
import { demandsPasskey } from './refuse-unattested.ts';

type Deps = { readonly approve: ApproveIntent };

export const intentApproval = ({ approve }: Deps): ApprovalSubject => ({
  kind: 'intent',
  idKind: 'intent',
  find: async (tx, id) => {
    const intent = await findIntent(tx, id);
    return intent === null ? null : caseOf(intent, approve);
  },
});

const caseOf = (intent: IntentRow, approve: ApproveIntent): ApprovalCase => ({
  id: intent.id,
  ownerId: intent.ownerId,
  agentId: intent.agentId,
  standing: (at) => {
    const status = statusAsOf(stateOf(intent), at);
    return {
      status,
      isWaiting: status === 'pending_approval',
      isApproved: intent.status === 'approved',
      isDenied: intent.status === 'denied',
      outcome: {
        at: endedAt(intent, status),
        approvedBy: intent.approvedBy ?? null,
        ...endings[status](intent.approvedBy != null),
      },
    };
  },
  show: async (tx, at) => {
    const terms = await termsOf(tx, intent, at);
    return {
      ...terms,
      title: 'Approve a payment',
      asks: 'asks to spend',
      purpose: intent.purpose,
      facts: [
        ...terms.facts,
        ...(intent.declinedCharge == null
          ? []
          : chargeFacts(intent.declinedCharge, await cardRecord(tx, intent.cardId))),
      ],
      changes: [],
      rule: intent.policyCheck.reason,
      demandsPasskey: demandsPasskey(await policyOfAgent(tx, intent.agentId)),
      denies: 'Deny the payment',
      decideBy: intent.expiresAt.toISOString(),
    };
  },
  summary: async (tx, at) => {
    const terms = await termsOf(tx, intent);
    // The policy in force bounds a charge to come; of one that was, it says nothing.
    return mayBeCharged(intent, at) ? terms : { ...terms, maxChargeEuros: null };
  },
  matter: async (tx, changes) => {
    refuseChanges(changes);
    return matterOf(tx, intent);
  },
  approve: async (envelope, changes, cause) => {
    refuseChanges(changes);
    await approve(intent, envelope, cause);
  },
  deny: (tx, reason, cause) => applyToIntent(tx, intent.id, { kind: 'deny', reason }, cause),
});

/** Also one that lets a declined charge pass once, which no other payment may use. */
const mayBeCharged = (intent: IntentRow, at: Date): boolean =>
  whyUnpayable({ ...stateOf(intent), allowsOnceOf: null }, at) === undefined;

/** A charge that was declined for the lack of a person: what the network named, and the rule with its figures. */
const chargeFacts = (
  { transactionId, merchant, rule }: DeclinedCharge,
  card: Pick<CardRecord, 'name' | 'last4'> | null,
): ApprovalRequestWire['facts'] => [
  fact('merchantMcc', 'Merchant category', merchant.mcc),
  fact('merchantCountry', 'Country', merchant.country),
  ...(card === null ? [] : [fact('card', 'Card', `${card.name}, ends with ${card.last4}`)]),
  fact('declinedTransactionId', 'Declined charge', transactionId),
  fact('rule', 'Declined by the rule', rule),
];

const fact = (name: string, label: string, text: string) => ({ name, label, text, isQuoted: false });

/** `approvedAt`: from when its repeated payments count while no person has approved it. */
async function termsOf(tx: Tx, intent: IntentRow, approvedAt?: Date): Promise<DecidedFacts> {
  const merchant = intent.recurring?.merchantMatch === false ? null : (intent.expectedMerchant ?? null);
  const schedule = scheduleOf({ ...intent, anchorAt: intent.anchorAt ?? approvedAt });
  return {
    amountEuros: eurosFromCents(intent.expectedAmountCents),
    maxChargeEuros: eurosFromCents((await maxChargeCentsOf(tx, [intent]))(intent)),
    cadence: intent.recurring?.cadence ?? null,
    lastChargeOn: (schedule === undefined ? undefined : lastInstantOf(schedule)?.toISOString().slice(0, 10)) ?? null,
    facts: [
      {
        name: 'merchant',
        label: 'Where',
        text: merchant ?? 'any merchant: it named none',
        isQuoted: merchant !== null && intent.declinedCharge == null,
      },
    ],
  };
}

/** An approver takes or refuses the amount of an intent. */
export function refuseChanges(changes: ApproverChanges | undefined): void {
  if (changes === undefined || Object.keys(changes).length === 0) return;
  throw new DomainError('invalid_request', 'an approver changes nothing of an intent: approve it as it is, or deny it');
}

/** `status`: an intent has ended at its deadline, whether or not its workflow marked that. */
function endedAt({ approvedAt, completedAt, expiresAt, updatedAt }: IntentRow, status: IntentStatus): Date {
  if (status === 'expired') return expiresAt;
  return (status === 'approved' ? approvedAt : completedAt) ?? updatedAt;
}

const endings: Readonly<Record<IntentStatus, (wasApproved: boolean) => Ending>> = {
  pending_approval: () => ({ title: 'Waiting', verb: 'Waiting', meaning: 'Load the page again.', tone: 'calm' }),
  approved: () => ({ title: 'Approved', verb: 'Approved', meaning: 'The agent may now pay.', tone: 'good' }),
  completed: () => ({
    title: 'Approved and paid',
    verb: 'Paid',
    meaning: 'There is nothing left to decide.',
    tone: 'good',
  }),
  denied: () => ({ title: 'Denied', verb: 'Denied', meaning: 'Nothing is paid.', tone: 'bad' }),
  failed: () => ({
    title: 'Not paid',
    verb: 'Declined',
    meaning: 'It was approved, but the payment was declined.',
    tone: 'bad',
  }),
  cancelled: () => ({
    title: 'Cancelled',
    verb: 'Cancelled',
    meaning: 'The request was withdrawn. Nothing is paid.',
    tone: 'calm',
  }),
  expired: (wasApproved) => ({
    title: 'Expired',
    verb: 'Expired',
    meaning: wasApproved
      ? 'It was approved, but not paid in time.'
      : 'The deadline passed without a decision. Nothing is paid.',
    tone: 'calm',
  }),
};
