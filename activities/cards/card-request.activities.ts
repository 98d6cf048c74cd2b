/** Card request steps that the worker runs: each is one transaction or one read, safe to repeat. @module */
import type { Database } from '../../src/db/database.ts';
import type { CardRequestRow } from '../../src/domains/cards/card-requests/card-request.entity.ts';
import type { CardRequestRunView } from '../../src/domains/cards/card-requests/card-request.messages.ts';
import { findCardRequest } from '../../src/domains/cards/card-requests/card-request.queries.ts';
import {
  type CardRequestDue,
  type CardRequestFact,
  cardRequestFacts,
} from '../../src/domains/cards/card-requests/card-request.rules.ts';
import {
  applyToCardRequest,
  lockCardRequest,
  remindOfCardRequest,
} from '../../src/domains/cards/card-requests/card-request.service.ts';
import { cardRequestView } from '../../src/domains/cards/card-requests/card-request.wire.ts';
import type { ApprovalLinks } from '../../src/domains/identity/approvals/approval-link.service.ts';
import type { Decision } from '../../src/domains/identity/approvals/decision.messages.ts';
import { policyOfAgent } from '../../src/domains/spending/policies/policy.queries.ts';
import { notFound } from '../../src/kernel/errors.ts';
import type { RowState } from '../../src/kernel/row-state.ts';
import type { Cause } from '../../src/platform/cause.ts';
import { decideCardRequest } from '../../src/usecases/cards/decide-card-request.ts';
import { demandsPasskey } from '../../src/usecases/spending/refuse-unattested.ts';
import { causeOfDecision, type DecisionDeps } from '../lib/decisions.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = DecisionDeps & { readonly links: Pick<ApprovalLinks, 'urlsOf'> };

/** Each activity answers with the row as it is after it, so that the run need not read it again. */
export type CardRequestRun = RowState<CardRequestRunView, CardRequestFact, CardRequestDue>;

export const cardRequestActivities = (deps: Deps) => {
  const { database, clock, links } = deps;

  const runOf = async (row: Readonly<CardRequestRow>): Promise<CardRequestRun> => {
    const facts = cardRequestFacts({ ...row, remindedAt: row.remindedAt ?? null }, await clock.now());
    const { version } = row;
    const view = { ...cardRequestView(row), approvalUrl: null, needsPasskey: false };
    if (facts.final) return { version, ...facts, view };
    const tx = database.read();
    const approvalUrl = (await links.urlsOf(tx, [row.id])).get(row.id) ?? null;
    const needsPasskey = demandsPasskey(await policyOfAgent(tx, row.agentId));
    return { version, ...facts, view: { ...view, approvalUrl, needsPasskey } };
  };

  const byDeadline = async (id: string, causeId: string): Promise<Cause> => {
    const { requestId, runId } = await rowOf(database, id);
    return { causeId, requestId, runId: runId ?? undefined, actor: { kind: 'deadline' }, at: await clock.now() };
  };

  return {
    readCardRequest: refusing(async (id: string): Promise<CardRequestRun> => runOf(await rowOf(database, id))),

    decideCardRequest: refusing(async (id: string, decision: Decision): Promise<CardRequestRun> => {
      const record = { noun: 'card_request', id, origin: () => rowOf(database, id) };
      const cause = await causeOfDecision(deps, record, decision);
      return runOf(await database.write((tx) => decideCardRequest(tx, id, decision, cause)));
    }),

    /** At half time: an event tells the owner's subscribers that the request still waits. */
    remindOfCardRequest: refusing(async (id: string): Promise<CardRequestRun> => {
      const cause = await byDeadline(id, 'reminder');
      return runOf(await database.write((tx) => remindOfCardRequest(tx, id, cause)));
    }),

    expireCardRequest: refusing(async (id: string): Promise<CardRequestRun> => {
      const cause = await byDeadline(id, 'deadline');
      const row = await database.write(async (tx) =>
        applyToCardRequest(tx, await lockCardRequest(tx, id, cause), { kind: 'expire' }, cause, {
          isOwnWorkflow: true,
        }),
      );
      return runOf(row);
    }),
  };
};

export type CardRequestActivities = ReturnType<typeof cardRequestActivities>;

async function rowOf(database: Database, id: string): Promise<Readonly<CardRequestRow>> {
  const row = await findCardRequest(database.read(), id);
  if (row === null) throw notFound('card request', id);
  return row;
}
