/**
 * One kind of record that a person approves. Link, page, challenge and the messages of a decision are shared; a subject
 * defines only what it shows and what a decision does. Types and the lookup by id prefix; no decision is made here.
 * @module
 */
import type { Tx } from '../../../db/tx.ts';
import type { AssertionEnvelope } from '../../../http/webauthn.ts';
import { type IdKind, isId } from '../../../kernel/ids.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Matter } from '../passkeys/challenge.service.ts';
import type { ApprovalRequestWire, ApprovalWire } from './approval.contract.ts';
import type { ApproverChanges } from './decision.messages.ts';

export type ApprovalSubject = {
  /** As published, such as `card_request`. */
  readonly kind: string;
  /** The ids of its records. */
  readonly idKind: IdKind;
  /** Null for a record that no longer exists. */
  find(tx: Tx, id: string): Promise<ApprovalCase | null>;
};

/** One record that waits, or waited, for a person. */
export type ApprovalCase = {
  readonly id: string;
  readonly ownerId: string;
  /** Null: the owner asks. */
  readonly agentId: string | null;
  standing(at: Date): ApprovalStanding;
  /** What the page shows while the record waits. */
  show(tx: Tx, at: Date): Promise<ApprovalRequestFacts>;
  /** What the page still shows once the record no longer waits. */
  summary(tx: Tx, at: Date): Promise<DecidedFacts>;
  /** What a passkey's challenge is bound to. Throws `invalid_request` for changes that the subject does not take. */
  matter(tx: Tx, changes: ApproverChanges | undefined): Promise<Matter>;
  /** Verifies the assertion and approves through the record's workflow: 503 while Temporal is unavailable. */
  approve(envelope: AssertionEnvelope, changes: ApproverChanges | undefined, cause: Cause): Promise<unknown>;
  /** A revoking command: in this transaction, without Temporal. */
  deny(tx: Tx, reason: string | undefined, cause: Cause): Promise<unknown>;
};

/** The record's state as of an instant: a deadline that has passed counts, whether or not the workflow marked it. */
export type ApprovalStanding = {
  readonly status: string;
  readonly isWaiting: boolean;
  /** Approved, with nothing that came after it: approving again changes nothing. */
  readonly isApproved: boolean;
  readonly isDenied: boolean;
  /** Used once the record no longer waits. */
  readonly outcome: { readonly at: Date; readonly approvedBy: string | null } & Ending;
};

export type ApprovalRequestFacts = Omit<ApprovalRequestWire, 'agentName'>;
export type DecidedFacts = Omit<NonNullable<ApprovalWire['decided']>, 'agentName'>;

/** What the page says of a record that no longer waits. */
export type Ending = Pick<NonNullable<ApprovalWire['outcome']>, 'title' | 'verb' | 'meaning' | 'tone'>;

export type ApprovalSubjects = readonly ApprovalSubject[];

/** Undefined for an id of no subject. */
export const subjectOfId = (subjects: ApprovalSubjects, id: string): ApprovalSubject | undefined =>
  subjects.find(({ idKind }) => isId(idKind, id));
