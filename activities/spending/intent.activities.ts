/** Intent steps the worker runs: each is one transaction or one read, safe to repeat. @module */
import type { Database } from '../../src/db/database.ts';
import type { ApprovalLinks, Decision } from '../../src/domains/identity/approvals/index.ts';
import {
  applyToIntent,
  endWindows,
  findIntent,
  type IntentRow,
  type IntentView,
  intentView,
  maxChargeCentsOf,
  nextIntentStep,
  stateOf,
} from '../../src/domains/spending/intents/index.ts';
import { policyOfAgent } from '../../src/domains/spending/policies/index.ts';
import type { RiskEngine } from '../../src/domains/spending/risk/risk.port.ts';
import { notFound } from '../../src/kernel/errors.ts';
import { longestWaitMs } from '../../src/kernel/instant.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { decideIntent } from '../../src/usecases/spending/decide-intent.ts';
import { refuseChanges } from '../../src/usecases/spending/intent-approval.ts';
import { demandsPasskey } from '../../src/usecases/spending/refuse-unattested.ts';
import type { Vault } from '../../src/vault/vault.ts';
import { causeOfDecision } from '../lib/decisions.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = {
  database: Database;
  clock: Clock;
  signalsMayApprove: boolean;
  links: Pick<ApprovalLinks, 'urlsOf'>;
  risk: RiskEngine;
  vault: Vault;
};

export type IntentNext = {
  readonly kind: 'final' | 'expire' | 'end_window' | 'wait';
  readonly waitMs: number;
  readonly view: IntentView;
  /** Where a person decides it, while it waits for one. */
  readonly approvalUrl?: string | null;
  /** The policy in force demands a passkey, so a signal approves nothing. */
  readonly needsPasskey?: boolean;
  /** What approving it allows one charge to take, tolerance included. */
  readonly maxChargeCents?: number;
};

/** Each answers what the process does next, so that the run need not ask once more. */
export const intentActivities = ({ database, clock, signalsMayApprove, links, risk, vault }: Deps) => ({
  /** From the row: what the process does now. */
  nextIntentStep: refusing(async (intentId: string): Promise<IntentNext> => {
    const row = await findIntent(database.read(), intentId);
    if (row === null) throw notFound('intent', intentId);
    return nextOf({ database, clock, links }, row);
  }),

  decideIntent: refusing(async (intentId: string, decision: Decision): Promise<IntentNext> => {
    refuseChanges(decision.changes);
    const record = { noun: 'intent', id: intentId, origin: () => originOf(database, intentId) };
    const cause = await causeOfDecision({ database, clock, vault, signalsMayApprove }, record, decision);
    const row = await database.write((tx) => decideIntent({ risk })(tx, intentId, { kind: decision.decision }, cause));
    return nextOf({ database, clock, links }, row);
  }),

  /** Of a recurring one: what went by unpaid is missed, and the next window is waited for. */
  endIntentWindow: refusing(async (intentId: string): Promise<IntentNext> => {
    const at = await clock.now();
    const causeId = `window:${at.toISOString()}`;
    const declared = await originOf(database, intentId);
    const cause = { causeId, ...declared, actor: { kind: 'deadline' }, at } as const;
    const row = await database.write((tx) => endWindows(tx, intentId, cause));
    return nextOf({ database, clock, links }, row);
  }),

  expireIntent: refusing(async (intentId: string): Promise<IntentNext> => {
    const at = await clock.now();
    const declared = await originOf(database, intentId);
    const cause = { causeId: 'deadline', ...declared, actor: { kind: 'deadline' }, at } as const;
    const row = await database.write((tx) =>
      applyToIntent(tx, intentId, { kind: 'expire' }, cause, { isOwnWorkflow: true }),
    );
    return nextOf({ database, clock, links }, row);
  }),
});

/** The call that declared the intent. It never changes. */
async function originOf(database: Database, intentId: string) {
  const row = await findIntent(database.read(), intentId);
  if (row === null) throw notFound('intent', intentId);
  return { requestId: row.requestId, runId: row.runId ?? undefined };
}

/** By the clock as it is when the row is written: a sandbox may have been moved meanwhile. */
async function nextOf(
  { database, clock, links }: Pick<Deps, 'database' | 'clock' | 'links'>,
  row: IntentRow,
): Promise<IntentNext> {
  const step = nextIntentStep(deadlinesOf(row), await clock.now(), longestWaitMs);
  const view = intentView(row);
  if (step.kind !== 'wait') return { kind: step.kind, waitMs: 0, view };
  if (row.status !== 'pending_approval') return { kind: 'wait', waitMs: step.waitMs, view };
  const db = database.read();
  return {
    kind: 'wait',
    waitMs: step.waitMs,
    view,
    approvalUrl: (await links.urlsOf(db, [row.id])).get(row.id) ?? null,
    needsPasskey: demandsPasskey(await policyOfAgent(db, row.agentId)),
    maxChargeCents: (await maxChargeCentsOf(db, [row]))(row),
  };
}

const deadlinesOf = (row: IntentRow) => ({ ...stateOf(row), windowToAt: row.windowToAt ?? null });

export type IntentActivities = ReturnType<typeof intentActivities>;
