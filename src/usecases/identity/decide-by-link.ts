/**
 * A person's calls with an approver's link: read the request, approve it with a passkey, deny it. The link is for one
 * record; after the decision it returns the outcome, and what was decided without the agent's words. The record's subject carries the decision out.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { ApprovalWire } from '../../domains/identity/approvals/approval.contract.ts';
import type { ApprovalDeps } from '../../domains/identity/approvals/approval.routes.ts';
import { approvedWithOf, passkeyState } from '../../domains/identity/approvals/approval.rules.ts';
import { subjectBehind } from '../../domains/identity/approvals/approval-link.service.ts';
import {
  type ApprovalCase,
  type ApprovalSubjects,
  subjectOfId,
} from '../../domains/identity/approvals/approval-subject.ts';
import { enrolledPasskeys, lastGoneAt, passkeyNameOf } from '../../domains/identity/passkeys/passkey.queries.ts';
import { approvesFrom } from '../../domains/identity/passkeys/passkey.rules.ts';
import type { RelyingParty } from '../../domains/identity/passkeys/relying-party.ts';
import { agentNames } from '../../domains/parties/agents/agent.queries.ts';
import { businessNameOf } from '../../domains/parties/customers/customer.queries.ts';
import { businessTimeInWords } from '../../http/business-time.ts';
import { DomainError } from '../../kernel/errors.ts';
import { challengeSubject } from './challenge-subject.ts';

type Deps = {
  readonly database: Database;
  readonly relyingParty: RelyingParty;
  readonly subjects: ApprovalSubjects;
};

type Found = { readonly kind: string; readonly approval: ApprovalCase };

export const readByLink =
  (deps: Deps): ApprovalDeps['read'] =>
  async (token, { now }) =>
    wireOf(deps, await caseOf(deps, token), await now());

export const challengeByLink = (deps: Deps): ApprovalDeps['challenge'] => {
  const challengeFor = challengeSubject(deps);
  return async (token, changes, { newId, cause: { at, sourceAddress } }) => {
    const { approval } = await caseOf(deps, token);
    refuseDecided(approval, at);
    const asked = { kind: 'link', address: sourceAddress } as const;
    return challengeFor(
      { ownerId: approval.ownerId, matter: (tx) => approval.matter(tx, changes) },
      { challengeId: newId('challenge'), askedBy: asked, at },
    );
  };
};

export const approveByLink = (deps: Deps): ApprovalDeps['approve'] => {
  const read = readByLink(deps);
  return async (token, { webauthnAssertion, changes }, call) => {
    const { approval } = await caseOf(deps, token);
    const { at } = call.cause;
    const isDone = approval.standing(at).isApproved;
    if (!isDone) refuseDecided(approval, at);
    if (!isDone) await approval.approve(webauthnAssertion, changes, call.cause);
    return read(token, call);
  };
};

export const denyByLink = (deps: Deps): ApprovalDeps['deny'] => {
  const read = readByLink(deps);
  return async (token, reason, call) => {
    const { approval } = await caseOf(deps, token);
    const cause = { ...call.cause, actor: { kind: 'approval-link' } } as const;
    if (!approval.standing(cause.at).isDenied) refuseDecided(approval, cause.at);
    await deps.database.write((tx) => approval.deny(tx, reason, cause));
    return read(token, call);
  };
};

async function caseOf({ database, subjects }: Pick<Deps, 'database' | 'subjects'>, token: string): Promise<Found> {
  const tx = database.read();
  const id = await subjectBehind(tx, token);
  const subject = id === undefined ? undefined : subjectOfId(subjects, id);
  const approval = id === undefined ? undefined : await subject?.find(tx, id);
  if (subject === undefined || approval == null) throw new DomainError('not_found', 'no request has this link');
  return { kind: subject.kind, approval };
}

function refuseDecided(approval: ApprovalCase, at: Date): void {
  const { status, isWaiting } = approval.standing(at);
  if (isWaiting) return;
  throw new DomainError('invalid_state', `there is nothing left to decide: the request is ${status}`);
}

async function wireOf(
  { database, relyingParty: { origin } }: Pick<Deps, 'database' | 'relyingParty'>,
  { kind, approval }: Found,
  now: Date,
): Promise<ApprovalWire> {
  const { id, ownerId, agentId } = approval;
  const { status, isWaiting, outcome } = approval.standing(now);
  const tx = database.read();
  const businessName = await businessNameOf(tx, ownerId);
  const agentName =
    agentId === null ? 'The owner' : ((await agentNames(tx, ownerId, [agentId])).get(agentId) ?? agentId);
  const named = { kind, id, status, businessName, businessTime: businessTimeInWords(now) ?? null };
  if (!isWaiting) {
    const { at, approvedBy, ...ending } = outcome;
    const approverName = await passkeyNameOf(tx, approvedBy);
    const ended = { at: at.toISOString(), approvedWith: approvedWithOf(approvedBy), approverName, ...ending };
    const decided = { ...(await approval.summary(tx, now)), agentName };
    return { ...named, request: null, decided, passkey: null, outcome: ended };
  }
  const enrolled = await enrolledPasskeys(tx, ownerId);
  const next = approvesFrom(now, await lastGoneAt(tx, ownerId));
  const { state, blockedUntil } = passkeyState(enrolled, next, now);
  return {
    ...named,
    request: { ...(await approval.show(tx, now)), agentName },
    decided: null,
    passkey: { state, blockedUntil: blockedUntil?.toISOString() ?? null, origin },
    outcome: null,
  };
}
