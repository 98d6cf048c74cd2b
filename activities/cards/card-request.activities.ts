/** Card request steps that the worker runs: each is one transaction or one read, safe to repeat. @module */
import type { Database } from '../../src/db/database.ts';
import {
  applyToCardRequest,
  type CardRequestRow,
  type CardRequestView,
  cardRequestView,
  findCardRequest,
  lockCardRequest,
  nextCardRequestStep,
  remindOfCardRequest,
} from '../../src/domains/cards/index.ts';
import type { ApprovalLinks, Decision } from '../../src/domains/identity/approvals/index.ts';
import { policyOfAgent } from '../../src/domains/spending/policies/index.ts';
import { notFound } from '../../src/kernel/errors.ts';
import { longestWaitMs } from '../../src/kernel/instant.ts';
import type { Cause } from '../../src/platform/cause.ts';
import { decideCardRequest } from '../../src/usecases/cards/decide-card-request.ts';
import { demandsPasskey } from '../../src/usecases/spending/refuse-unattested.ts';
import { causeOfDecision, type DecisionDeps } from '../lib/decisions.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = DecisionDeps & { readonly links: Pick<ApprovalLinks, 'urlsOf'> };

export type CardRequestNext = {
  readonly kind: 'final' | 'remind' | 'expire' | 'wait';
  readonly waitMs: number;
  readonly view: CardRequestView;
  /** The approver's page, while the request waits. */
  readonly approvalUrl?: string | null;
  /** The policy in force demands a passkey, so a signal approves nothing. */
  readonly needsPasskey?: boolean;
};

/** Each answers what the workflow does next, so that it need not ask again. */
export const cardRequestActivities = (deps: Deps) => {
  const { database, clock, links } = deps;

  const nextOf = async (row: Readonly<CardRequestRow>): Promise<CardRequestNext> => {
    const waiting = { ...row, remindedAt: row.remindedAt ?? null };
    const { kind, waitMs } = nextCardRequestStep(waiting, await clock.now(), longestWaitMs);
    const view = cardRequestView(row);
    if (kind !== 'wait') return { kind, waitMs, view };
    const tx = database.read();
    const approvalUrl = (await links.urlsOf(tx, [row.id])).get(row.id) ?? null;
    return { kind, waitMs, view, approvalUrl, needsPasskey: demandsPasskey(await policyOfAgent(tx, row.agentId)) };
  };

  const byDeadline = async (id: string, causeId: string): Promise<Cause> => {
    const { requestId, runId } = await rowOf(database, id);
    return { causeId, requestId, runId: runId ?? undefined, actor: { kind: 'deadline' }, at: await clock.now() };
  };

  return {
    nextCardRequestStep: refusing(async (id: string): Promise<CardRequestNext> => nextOf(await rowOf(database, id))),

    decideCardRequest: refusing(async (id: string, decision: Decision): Promise<CardRequestNext> => {
      const record = { noun: 'card_request', id, origin: () => rowOf(database, id) };
      const cause = await causeOfDecision(deps, record, decision);
      return nextOf(await database.write((tx) => decideCardRequest(tx, id, decision, cause)));
    }),

    /** At half time: the owner's subscribers hear that the request still waits. */
    remindOfCardRequest: refusing(async (id: string): Promise<CardRequestNext> => {
      const cause = await byDeadline(id, 'reminder');
      return nextOf(await database.write((tx) => remindOfCardRequest(tx, id, cause)));
    }),

    expireCardRequest: refusing(async (id: string): Promise<CardRequestNext> => {
      const cause = await byDeadline(id, 'deadline');
      const row = await database.write(async (tx) =>
        applyToCardRequest(tx, await lockCardRequest(tx, id, cause), { kind: 'expire' }, cause, {
          isOwnWorkflow: true,
        }),
      );
      return nextOf(row);
    }),
  };
};

export type CardRequestActivities = ReturnType<typeof cardRequestActivities>;

async function rowOf(database: Database, id: string): Promise<Readonly<CardRequestRow>> {
  const row = await findCardRequest(database.read(), id);
  if (row === null) throw notFound('card request', id);
  return row;
}
