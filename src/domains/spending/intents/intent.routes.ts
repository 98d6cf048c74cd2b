/**
 * Answers the intents operations: ask the use case, the service or the workflow, and shape the reply. No decision is
 * made here.
 * @module
 */
import type { Database } from '../../../db/database.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Call } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { type Handlers, type Output, Reply } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import type { AssertionEnvelope } from '../../../http/webauthn.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { WorkflowGateway } from '../../../temporal/gateway.ts';
import type { ApprovalLinks } from '../../identity/approvals/index.ts';
import type { intentsArea } from './intent.contract.ts';
import type { IntentRow } from './intent.entity.ts';
import { intentWorkflowId } from './intent.messages.ts';
import { listIntents } from './intent.queries.ts';
import { intentRecords } from './intent.record.service.ts';
import { revokeIntent } from './intent.service.ts';
import { windowWire } from './intent.wire.ts';
import type { DeclareBody, VerifyBody } from './intent-declaration.contract.ts';
import { listWindows } from './windows/window.queries.ts';

export type IntentDeps = {
  readonly database: Database;
  readonly gateway: WorkflowGateway;
  readonly links: Pick<ApprovalLinks, 'urlsOf'>;
  readonly cancel: (
    tx: Tx,
    order: { readonly id: ReachedId<'intent'>; readonly ownerId: string },
    cause: Cause,
  ) => Promise<unknown>;
  readonly approve: (
    row: IntentRow,
    envelope: AssertionEnvelope | undefined,
    cause: Cause,
  ) => Promise<{ readonly approvedBy: string }>;
  readonly attest: (
    row: IntentRow,
    envelope: AssertionEnvelope,
    cause: Cause,
  ) => Promise<{ readonly attestedAt: Date; readonly validUntil: Date }>;
  /** Evaluates and inserts; `isNew` is false for a repeated `clientIntentId`. */
  readonly declare: (declaration: DeclareBody, call: Call) => Promise<{ row: IntentRow; isNew: boolean }>;
  readonly verify: (
    intentId: ReachedId<'intent'>,
    actual: VerifyBody,
    call: Call,
  ) => Promise<Output<(typeof intentsArea)['operations']['verifyIntent']>>;
};

export const intentHandlers = (deps: IntentDeps): Handlers<typeof intentsArea> => ({
  declareIntent: async ({ body }, call) => {
    const { row, isNew } = await deps.declare(body, call);
    if (isNew) deps.gateway.startSoon(intentWorkflowId(row.id));
    const record = await intentRecords(deps, [row], call);
    return new Reply(isNew ? 201 : 200, record(row));
  },

  listIntents: async ({ query, own }, call) => {
    const now = await call.now();
    const { ownerId, agentId = query.agentId } = own;
    const filter = { ownerId, agentId, status: query.status, now };
    const found = await listIntents(deps.database.read(), filter, pageOfQuery(query));
    const record = await intentRecords(deps, found.data, { caller: call.caller, now: async () => now });
    return mapPage(found, record);
  },

  getIntent: async ({ records: { intent } }, call) => (await intentRecords(deps, [intent], call))(intent),

  listIntentWindows: async ({ params: { id }, query }) => {
    return mapPage(await listWindows(deps.database.read(), id, pageOfQuery(query)), (row) => ({
      ...windowWire(row),
      intentId: id,
      status: row.status,
      transactionId: row.transactionId,
      completedAt: row.completedAt?.toISOString() ?? null,
    }));
  },

  verifyIntent: ({ params, body }, call) => deps.verify(params.id, body, call),

  approveIntent: async ({ body, records: { intent: row } }, call) => {
    const { approvedBy } = await deps.approve(row, body.webauthnAssertion, call.cause);
    return { id: row.id, status: 'approved', approvedBy };
  },

  attestIntent: async ({ body, records: { intent: row } }, call) => {
    const { attestedAt, validUntil } = await deps.attest(row, body.webauthnAssertion, call.cause);
    return { id: row.id, attestedAt: attestedAt.toISOString(), validUntil: validUntil.toISOString() };
  },

  // A revoking command is one transaction that works with Temporal down; the relay wakes the workflow afterwards.
  denyIntent: async ({ params: { id }, body, own: { ownerId } }, call) => {
    const command = { kind: 'deny', reason: body.reason } as const;
    await inTransaction(deps, call, (tx, cause) => revokeIntent(tx, { id, ownerId }, command, cause));
    return { id, status: 'denied' };
  },

  cancelIntent: async ({ params: { id }, own: { ownerId } }, call) => {
    await inTransaction(deps, call, (tx, cause) => deps.cancel(tx, { id, ownerId }, cause));
    return { id, status: 'cancelled' };
  },
});
