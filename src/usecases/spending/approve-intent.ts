/**
 * Approves an intent for a person, with a passkey's assertion where the policy demands one. The attestation is stored
 * first, in a separate transaction, then the workflow gets the decision. A repeat of the request finds the attestation
 * and sends the decision again.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { decideIntent, intentWorkflowId } from '../../domains/spending/intents/intent.messages.ts';
import { moveIntent } from '../../domains/spending/intents/intent.rules.ts';
import { stateOf } from '../../domains/spending/intents/intent.state.service.ts';
import { policyOfAgent } from '../../domains/spending/policies/policy.queries.ts';
import type { AssertionEnvelope } from '../../http/webauthn.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Cause } from '../../platform/cause.ts';
import { hasMoved } from '../../platform/transitions.ts';
import type { WorkflowGateway } from '../../temporal/gateway.ts';
import type { Vault } from '../../vault/vault.ts';
import { approverOf, askForApproval } from '../identity/ask-for-approval.ts';
import type { AttestIntent } from './attest-intent.ts';
import { refuseUnattested } from './refuse-unattested.ts';

export type ApproveDeps = {
  readonly database: Database;
  readonly gateway: Pick<WorkflowGateway, 'ask'>;
  readonly attest: AttestIntent;
  /** Signs the decision, so that the worker knows its sender. */
  readonly vault: Vault;
};

export type Approved = {
  readonly intentId: string;
  /** `key:key_…`, `passkey:psk_…`, `policy`. */
  readonly approvedBy: string;
};

/** Without an envelope only an owner's key approves, and only what the policy leaves to it. */
export type ApproveIntent = (
  intent: IntentRow,
  envelope: AssertionEnvelope | undefined,
  cause: Cause,
) => Promise<Approved>;

export const approveIntent =
  ({ database, gateway, attest, vault }: ApproveDeps): ApproveIntent =>
  async (intent, envelope, cause) => {
    const { id } = intent;
    // The pure rule answers first: what is refused or done already needs no Temporal, and uses no challenge up.
    const seen = await hasMoved(database.read(), 'intent', id, cause.causeId);
    const move = moveIntent(stateOf(intent), 'approve', seen);
    if (move.outcome === 'refused') throw new DomainError('invalid_state', move.why);
    // Its own approval stands, whatever has become of the attestation since.
    if (seen) return { intentId: id, approvedBy: intent.approvedBy ?? 'policy' };
    const attested = envelope === undefined ? undefined : await attest(intent, envelope, cause);
    if (move.outcome === 'already') return { intentId: id, approvedBy: intent.approvedBy ?? 'policy' };
    const approver = approverOf(cause, attested?.passkeyId, 'an intent');
    // The decision asks again under lock; this answers in words without Temporal.
    if (attested === undefined) {
      refuseUnattested(await policyOfAgent(database.read(), intent.agentId), intent, cause);
    }
    const workflowId = intentWorkflowId(id);
    const order = { subjectId: id, workflowId, message: decideIntent, approver, cause, origin: intent };
    const view = await askForApproval({ gateway, vault }, order);
    return { intentId: id, approvedBy: view.approvedBy ?? 'policy' };
  };
