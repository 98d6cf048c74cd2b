/**
 * Checks a decision that reached a workflow, whatever the approval subject: whether its sender may decide, and who is
 * recorded as the cause. The subject's own activity carries the decision out.
 * @module
 */
import type { Database } from '../../src/db/database.ts';
import type { Decision } from '../../src/domains/identity/approvals/decision.messages.ts';
import { verifyDecision } from '../../src/domains/identity/approvals/decision-signature.ts';
import { DomainError } from '../../src/kernel/errors.ts';
import type { Actor, Cause, OriginatingCall } from '../../src/platform/cause.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { hasMoved } from '../../src/platform/transitions.ts';
import { passkeyName } from '../../src/usecases/identity/passkey-name.ts';
import type { Vault } from '../../src/vault/vault.ts';

export type DecisionDeps = {
  readonly database: Database;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly signalsMayApprove: boolean;
};

export type DecidedRecord = {
  /** As in the table `transitions`. */
  readonly noun: string;
  readonly id: string;
  /** The call that made the record. A signal has no request: its effect is recorded under that call. */
  readonly origin: () => Promise<OriginatingCall>;
};

/** The cause of the decision. Throws for an approval by signal where that is off, and for an invalid signature. */
export async function causeOfDecision(deps: DecisionDeps, record: DecidedRecord, decision: Decision): Promise<Cause> {
  if (decision.actor === 'signal' && decision.decision === 'approve' && !deps.signalsMayApprove) throw signalsAreOff();
  if (decision.actor !== 'signal') await assertSigned(deps, record, decision);
  const actor = await actorOf(deps, decision);
  const { causeId, requestId, runId } = decision;
  const call = actor.kind === 'signal' ? await record.origin() : { requestId, runId };
  return { causeId, requestId: call.requestId, runId: call.runId ?? undefined, actor, at: await deps.clock.now() };
}

async function actorOf({ database }: DecisionDeps, { actor, by }: Decision): Promise<Actor> {
  if (actor === 'signal') return { kind: 'signal', by };
  if (actor === 'key') return { kind: 'key', id: by };
  const name = await passkeyName(database.read(), by);
  return { kind: 'passkey', id: by, ...(name === null ? {} : { name }) };
}

/** A decision that has moved the record before may arrive again, however late. */
async function assertSigned(
  { database, vault }: DecisionDeps,
  { noun, id }: DecidedRecord,
  decision: Decision,
): Promise<void> {
  const check = await verifyDecision(vault, id, decision);
  if (check === 'invalid') throw notOfTheApi();
  if (check === 'valid' || (await hasMoved(database.read(), noun, id, decision.causeId))) return;
  throw new DomainError(
    'invalid_state',
    `this request to ${decision.decision} is more than 10 minutes old and was not carried out; call the API again`,
  );
}

const notOfTheApi = () =>
  new DomainError(
    'forbidden',
    'this decision does not come from the API; people send {"decision":"approve","by":"your name"}',
  );

const signalsAreOff = () =>
  new DomainError(
    'invalid_state',
    'this deployment takes no approvals by signal (BURSAR_SIGNAL_APPROVALS); use the API',
  );
