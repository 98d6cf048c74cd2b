/** Answers the card request operations: ask the use case or the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Call, Own } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { WorkflowGateway } from '../../../temporal/gateway.ts';
import type { ApprovalLinks, ApproverChanges } from '../../identity/approvals/index.ts';
import type { CardRequestBody, CardRequestWire, cardRequestsArea } from './card-request.contract.ts';
import type { CardRequestRow } from './card-request.entity.ts';
import { cardRequestWorkflowId } from './card-request.messages.ts';
import { findCardRequest, listCardRequests } from './card-request.queries.ts';
import { changesOf } from './card-request.rules.ts';
import { createCardRequest, revokeCardRequest } from './card-request.service.ts';
import { cardRequestWire } from './card-request.wire.ts';

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
    const agentId = agentNamed(body, own);
    const wanted = { id: call.newId('cardRequest'), ownerId: own.ownerId, agentId, body };
    const row = await inTransaction(deps, call, (tx, cause) => createCardRequest(tx, wanted, cause, deps.links));
    deps.gateway.startSoon(cardRequestWorkflowId(row.id));
    return toWire(deps, row, call);
  },

  listCardRequests: async ({ query, own }, call) => {
    const { status, type } = query;
    const { ownerId, agentId = query.agentId } = own;
    const filter = { ownerId, agentId, status, type, now: await call.now() };
    const found = await listCardRequests(deps.database.read(), filter, pageOfQuery(query));
    return mapPage(found, await wiresOf(deps, found.data, call));
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

function agentNamed(body: CardRequestBody, own: Own): string {
  const agentId = body.agentId ?? own.agentId;
  if (agentId === undefined) throw new DomainError('invalid_request', 'body.agentId: is missing');
  return agentId;
}

async function changed({ database }: CardRequestDeps, id: string): Promise<Readonly<CardRequestRow>> {
  const row = await findCardRequest(database.read(), id);
  if (row === null) throw notFound('card request', id);
  return row;
}

const toWire = async (deps: CardRequestDeps, row: Readonly<CardRequestRow>, call: Call): Promise<CardRequestWire> =>
  (await wiresOf(deps, [row], call))(row);

/** An agent never gets the link under which its request is decided. */
async function wiresOf(
  { database, links }: CardRequestDeps,
  found: readonly Readonly<CardRequestRow>[],
  { caller, now }: Call,
): Promise<(row: Readonly<CardRequestRow>) => CardRequestWire> {
  const waiting = found.filter(({ status }) => status === 'pending').map(({ id }) => id);
  const ids = caller.kind === 'key' ? waiting : [];
  const urls = await links.urlsOf(database.read(), ids);
  const at = await now();
  return (row) => cardRequestWire(row, at, urls.get(row.id) ?? null);
}
