/** Answers the card request operations: ask the use case or the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { agentOf, type Call, mayReach, ownerOf } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { WorkflowGateway } from '../../../temporal/gateway.ts';
import type { ApprovalLinks, ApproverChanges } from '../../identity/approvals/index.ts';
import { cardHolder } from '../cards/card.queries.ts';
import type { CardRequestBody, CardRequestWire, cardRequestsArea } from './card-request.contract.ts';
import type { CardRequestRow } from './card-request.entity.ts';
import { cardRequestWorkflowId } from './card-request.messages.ts';
import { findCardRequest, listCardRequests } from './card-request.queries.ts';
import { changesOf } from './card-request.rules.ts';
import {
  applyToCardRequest,
  type CardRequestDecision,
  createCardRequest,
  lockCardRequest,
} from './card-request.service.ts';
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
  createCardRequest: async ({ body }, call) => {
    const agentId = await agentNamed(deps, body, call);
    const wanted = { id: call.newId('cardRequest'), ownerId: ownerOf(call), agentId, body };
    const row = await deps.database.write((tx) => createCardRequest(tx, wanted, call.cause, deps.links));
    deps.gateway.startSoon(cardRequestWorkflowId(row.id));
    return shown(deps, row, call);
  },

  listCardRequests: async ({ query }, call) => {
    const own = agentOf(call);
    if (own !== undefined && query.agentId !== undefined && query.agentId !== own) {
      throw new DomainError('agent_isolation', `card requests of ${query.agentId} are closed to another agent`);
    }
    const { status, type } = query;
    const filter = { ownerId: ownerOf(call), agentId: own ?? query.agentId, status, type, now: await call.now() };
    const found = await listCardRequests(deps.database.read(), filter, pageOfQuery(query));
    return mapPage(found, await wiresOf(deps, found.data, call));
  },

  getCardRequest: async ({ params }, call) => shown(deps, await reach(deps, params.id, call), call),

  approveCardRequest: async ({ params, body }, call) => {
    await deps.approve(await reach(deps, params.id, call), { changes: changesOf(body) }, call.cause);
    return shown(deps, await reach(deps, params.id, call), call);
  },

  denyCardRequest: async ({ params, body }, call) =>
    revoke(deps, params.id, { kind: 'deny', reason: body.reason }, call),
  cancelCardRequest: async ({ params }, call) => revoke(deps, params.id, { kind: 'cancel' }, call),
});

async function agentNamed({ database }: CardRequestDeps, body: CardRequestBody, call: Call): Promise<string> {
  const agentId = body.agentId ?? agentOf(call);
  if (agentId === undefined) throw new DomainError('invalid_request', 'body.agentId: is missing');
  mayReach(call, 'agent', agentId, await cardHolder(database.read(), agentId));
  return agentId;
}

const reach = async ({ database }: CardRequestDeps, id: string, call: Call): Promise<Readonly<CardRequestRow>> =>
  mayReach(call, 'card request', id, await findCardRequest(database.read(), id));

/** One transaction that works without Temporal; the relay wakes the workflow afterwards. */
async function revoke(deps: CardRequestDeps, id: string, decision: CardRequestDecision, call: Call) {
  await reach(deps, id, call);
  const row = await deps.database.write(async (tx) =>
    applyToCardRequest(tx, await lockCardRequest(tx, id, call.cause), decision, call.cause),
  );
  return shown(deps, row, call);
}

const shown = async (deps: CardRequestDeps, row: Readonly<CardRequestRow>, call: Call): Promise<CardRequestWire> =>
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
