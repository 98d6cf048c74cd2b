/** Answers the card request operations: ask the use case or the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Call } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { notFound } from '../../../kernel/errors.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { WorkflowGateway } from '../../../temporal/gateway.ts';
import type { ApprovalLinks, ApproverChanges } from '../../identity/approvals/index.ts';
import type { CardRequestWire, cardRequestsArea } from './card-request.contract.ts';
import type { CardRequestRow } from './card-request.entity.ts';
import { cardRequestWorkflowId } from './card-request.messages.ts';
import { findCardRequest, listCardRequests } from './card-request.queries.ts';
import { cardRequestRecords } from './card-request.record.service.ts';
import { changesOf } from './card-request.rules.ts';
import { createCardRequest, revokeCardRequest } from './card-request.service.ts';

export type CardRequestDeps = {
  readonly database: Database;
  readonly gateway: Pick<WorkflowGateway, 'startSoon'>;
  readonly links: ApprovalLinks;
  /** Through the workflow: 503 while Temporal is unavailable. */
  readonly approve: (
    row: Readonly<CardRequestRow>,
    approval: { changes: ApproverChanges },
    cause: Cause,
  ) => Promise<unknown>;
};

export const cardRequestHandlers = (deps: CardRequestDeps): Handlers<typeof cardRequestsArea> => ({
  createCardRequest: async ({ body, own }, call) => {
    const wanted = { id: call.newId('cardRequest'), own, body };
    const row = await inTransaction(deps, call, (tx, cause) => createCardRequest(tx, wanted, cause, deps.links));
    deps.gateway.startSoon(cardRequestWorkflowId(row.id));
    return toWire(deps, row, call);
  },

  listCardRequests: async ({ query, own }, call) => {
    const { status, type } = query;
    const { ownerId, agentId = query.agentId } = own;
    const filter = { ownerId, agentId, status, type, now: await call.now() };
    const found = await listCardRequests(deps.database.read(), filter, pageOfQuery(query));
    return mapPage(found, await cardRequestRecords(deps, found.data, call));
  },

  getCardRequest: async ({ records }, call) => toWire(deps, records.cardRequest, call),

  approveCardRequest: async ({ params, body, records }, call) => {
    await deps.approve(records.cardRequest, { changes: changesOf(body) }, call.cause);
    return toWire(deps, await changed(deps, params.id), call);
  },

  denyCardRequest: async ({ params: { id }, body: { reason }, own: { ownerId } }, call) => {
    const decision = { kind: 'deny', reason } as const;
    const row = await inTransaction(deps, call, (tx, cause) => revokeCardRequest(tx, { id, ownerId }, decision, cause));
    return toWire(deps, row, call);
  },

  cancelCardRequest: async ({ params: { id }, own: { ownerId } }, call) => {
    const decision = { kind: 'cancel' } as const;
    const row = await inTransaction(deps, call, (tx, cause) => revokeCardRequest(tx, { id, ownerId }, decision, cause));
    return toWire(deps, row, call);
  },
});

async function changed({ database }: CardRequestDeps, id: string): Promise<Readonly<CardRequestRow>> {
  const row = await findCardRequest(database.read(), id);
  if (row === null) throw notFound('card request', id);
  return row;
}

const toWire = async (deps: CardRequestDeps, row: Readonly<CardRequestRow>, call: Call): Promise<CardRequestWire> =>
  (await cardRequestRecords(deps, [row], call))(row);
