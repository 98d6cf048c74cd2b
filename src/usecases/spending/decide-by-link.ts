/**
 * What a person does under an approver's link: read what is asked, approve it with a passkey, deny it. The link stands
 * for its one intent and no other; it serves as long as that waits, and tells the outcome afterwards.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { approvesFrom, enrolledPasskeys, lastGoneAt, type RelyingParty } from '../../domains/identity/index.ts';
import { agentNames } from '../../domains/parties/index.ts';
import {
  type ApprovalDeps,
  type ApprovalWire,
  approvedWithOf,
  passkeyState,
} from '../../domains/spending/approvals/index.ts';
import {
  applyToIntent,
  findIntent,
  type IntentRow,
  type IntentStatus,
  intentBehind,
  maxChargeCentsOf,
  stateOf,
  statusAsOf,
} from '../../domains/spending/intents/index.ts';
import { policyOfAgent } from '../../domains/spending/policies/index.ts';
import { businessTimeInWords } from '../../http/business-time.ts';
import type { Call } from '../../http/caller.ts';
import { DomainError } from '../../kernel/errors.ts';
import { eurosFromCents } from '../../kernel/money.ts';
import type { ApproveIntent } from './approve-intent.ts';
import type { IntentChallenge } from './attest-intent.ts';
import { demandsPasskey } from './refuse-unattested.ts';

type Deps = {
  readonly database: Database;
  readonly relyingParty: RelyingParty;
  readonly challenge: IntentChallenge;
  readonly approve: ApproveIntent;
};

export function decideByLink({ database, relyingParty, challenge, approve }: Deps): ApprovalDeps {
  const intentOf = async (token: string): Promise<IntentRow> => {
    const tx = database.read();
    const id = await intentBehind(tx, token);
    const intent = id === undefined ? null : await findIntent(tx, id);
    if (intent === null) throw new DomainError('not_found', 'no request has this link');
    return intent;
  };
  const read = async (token: string, { now }: Pick<Call, 'now'>): Promise<ApprovalWire> =>
    toldOf(database, relyingParty, await intentOf(token), await now());

  return {
    read,
    challenge: async (token, { newId, cause: { at, sourceAddress } }) => {
      const intent = await intentOf(token);
      refuseDecided(intent, at);
      const askedBy = { kind: 'link', address: sourceAddress } as const;
      return challenge(intent, { challengeId: newId('challenge'), askedBy, at });
    },
    approve: async (token, envelope, call) => {
      const intent = await intentOf(token);
      const isDone = intent.status === 'approved';
      if (!isDone) refuseDecided(intent, call.cause.at);
      if (!isDone) await approve(intent, envelope, call.cause);
      return read(token, call);
    },
    deny: async (token, reason, call) => {
      const intent = await intentOf(token);
      const cause = { ...call.cause, actor: { kind: 'approval-link' } } as const;
      if (intent.status !== 'denied') refuseDecided(intent, cause.at);
      await database.write((tx) => applyToIntent(tx, intent.id, { kind: 'deny', reason }, cause));
      return read(token, call);
    },
  };
}

function refuseDecided(intent: IntentRow, at: Date): void {
  const status = statusAsOf(stateOf(intent), at);
  if (status === 'pending_approval') return;
  throw new DomainError('invalid_state', `there is nothing left to decide: the request is ${status}`);
}

async function toldOf(
  database: Database,
  { origin }: RelyingParty,
  intent: IntentRow,
  now: Date,
): Promise<ApprovalWire> {
  const status = statusAsOf(stateOf(intent), now);
  const businessTime = businessTimeInWords(now) ?? null;
  const named = { intentId: intent.id, status, businessTime };
  if (status !== 'pending_approval')
    return { ...named, request: null, passkey: null, outcome: outcomeOf(intent, status) };
  const tx = database.read();
  const enrolled = await enrolledPasskeys(tx, intent.ownerId);
  const next = approvesFrom(now, await lastGoneAt(tx, intent.ownerId));
  const { state, blockedUntil } = passkeyState(enrolled, next, now);
  return {
    ...named,
    request: {
      agentName: (await agentNames(tx, intent.ownerId, [intent.agentId])).get(intent.agentId) ?? intent.agentId,
      purpose: intent.purpose,
      amountEuros: eurosFromCents(intent.expectedAmountCents),
      maxChargeEuros: eurosFromCents((await maxChargeCentsOf(tx, [intent]))(intent)),
      cadence: intent.recurring?.cadence ?? null,
      merchant: intent.recurring?.merchantMatch === false ? null : (intent.expectedMerchant ?? null),
      rule: intent.policyCheck.reason,
      demandsPasskey: demandsPasskey(await policyOfAgent(tx, intent.agentId)),
      decideBy: intent.expiresAt.toISOString(),
    },
    passkey: { state, blockedUntil: blockedUntil?.toISOString() ?? null, origin },
    outcome: null,
  };
}

/** `told`: it is over from its deadline on, whenever its process marks that. */
function outcomeOf({ approvedBy, approvedAt, completedAt, expiresAt, updatedAt }: IntentRow, told: IntentStatus) {
  const ended = told === 'approved' ? approvedAt : completedAt;
  const at = told === 'expired' ? expiresAt : (ended ?? updatedAt);
  return { at: at.toISOString(), approvedWith: approvedWithOf(approvedBy ?? null) };
}
