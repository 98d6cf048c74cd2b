/**
 * Answers the intents operations: ask the use case, the service or the workflow, and shape the reply. No decision is
 * made here.
 * @module
 */
import type { Database } from '../../../db/database.ts';
import { agentOf, type Call, mayReach, ownerOf } from '../../../http/caller.ts';
import { type Handlers, Reply } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { pageOf } from '../../../kernel/page.ts';
import { hasMoved } from '../../../platform/transitions.ts';
import type { WorkflowGateway } from '../../../temporal/gateway.ts';
import type { DeclareBody, intentsArea } from './intent.contract.ts';
import type { IntentRow } from './intent.entity.ts';
import { decideIntent, intentProcessId } from './intent.messages.ts';
import { findIntent, listIntents } from './intent.queries.ts';
import { moveIntent } from './intent.rules.ts';
import { applyToIntent, type IntentCommand, stateOf } from './intent.service.ts';
import { intentWire } from './intent.wire.ts';

export type IntentDeps = {
  readonly database: Database;
  readonly gateway: WorkflowGateway;
  /** Judges and inserts; `isNew` is false for a repeated `clientIntentId`. */
  readonly declare: (declaration: DeclareBody, call: Call) => Promise<{ row: IntentRow; isNew: boolean }>;
};

export const intentHandlers = (deps: IntentDeps): Handlers<typeof intentsArea> => ({
  declareIntent: async ({ body }, call) => {
    const { row, isNew } = await deps.declare(body, call);
    if (isNew) deps.gateway.startSoon(intentProcessId(row.id));
    return new Reply(isNew ? 201 : 200, intentWire(row));
  },

  listIntents: async ({ query }, call) => {
    const own = agentOf(call);
    if (own !== undefined && query.agentId !== undefined && query.agentId !== own) {
      throw new DomainError('agent_isolation', `intents of ${query.agentId} are closed to another agent`);
    }
    const filter = { ownerId: ownerOf(call), agentId: own ?? query.agentId, status: query.status };
    const page = pageOfQuery(query);
    const found = await listIntents(deps.database.read(), filter, page);
    return pageOf(found, page.limit, (row) => ({ createdAt: row.createdAt.toISOString(), id: row.id }), intentWire);
  },

  getIntent: async ({ params }, call) => intentWire(await reach(deps, params.id, call)),

  approveIntent: async ({ params }, call) => {
    const row = await reach(deps, params.id, call);
    // The pure rule answers first: what is refused or done already needs no Temporal.
    const seen = await hasMoved(deps.database.read(), 'intent', row.id, call.cause.causeId);
    const move = moveIntent(stateOf(row), 'approve', seen);
    if (move.outcome === 'refused') throw new DomainError('invalid_state', move.why);
    if (move.outcome === 'already') return approved(row.id, row.approvedBy ?? null);
    const view = await deps.gateway.ask(
      intentProcessId(row.id),
      decideIntent,
      { decision: 'approve', actor: 'key', by: keyOf(call), causeId: call.cause.causeId, requestId: call.requestId },
      call.cause.causeId,
    );
    return approved(row.id, view.approvedBy);
  },

  denyIntent: async ({ params, body }, call) => {
    await brake(deps, params.id, { kind: 'deny', reason: body.reason }, call);
    return { id: params.id, status: 'denied' };
  },

  cancelIntent: async ({ params }, call) => {
    await brake(deps, params.id, { kind: 'cancel' }, call);
    return { id: params.id, status: 'cancelled' };
  },
});

async function reach({ database }: IntentDeps, id: string, call: Call): Promise<IntentRow> {
  return mayReach(call, 'intent', id, await findIntent(database.read(), id));
}

/** A brake is one transaction that works with Temporal down; the process is woken by the relay afterwards. */
async function brake(deps: IntentDeps, id: string, command: IntentCommand, call: Call): Promise<void> {
  await reach(deps, id, call);
  await deps.database.write((tx) => applyToIntent(tx, id, command, call.cause));
}

const approved = (id: string, approvedBy: string | null) =>
  ({ id, status: 'approved', approvedBy: approvedBy ?? 'policy' }) as const;

const keyOf = ({ caller }: Call): string => (caller.kind === 'key' ? caller.keyId : 'unknown');
