/** Intent steps the worker runs: each is one transaction or one read, safe to repeat. @module */
import type { Database } from '../../src/db/database.ts';
import type { ApprovalLinks } from '../../src/domains/identity/approvals/approval-link.service.ts';
import type { Decision } from '../../src/domains/identity/approvals/decision.messages.ts';
import type { IntentRow } from '../../src/domains/spending/intents/intent.entity.ts';
import type { IntentRunView } from '../../src/domains/spending/intents/intent.messages.ts';
import { findIntent } from '../../src/domains/spending/intents/intent.queries.ts';
import { type IntentDue, type IntentFact, intentFacts } from '../../src/domains/spending/intents/intent.rules.ts';
import { applyToIntent } from '../../src/domains/spending/intents/intent.service.ts';
import { stateOf } from '../../src/domains/spending/intents/intent.state.service.ts';
import { declinedView, intentView } from '../../src/domains/spending/intents/intent.wire.ts';
import { maxChargeCentsOf } from '../../src/domains/spending/intents/max-charge.queries.ts';
import { endWindows } from '../../src/domains/spending/intents/windows/window.service.ts';
import { policyOfAgent } from '../../src/domains/spending/policies/policy.queries.ts';
import type { RiskEngine } from '../../src/domains/spending/risk/risk.port.ts';
import { notFound } from '../../src/kernel/errors.ts';
import type { RowState } from '../../src/kernel/row-state.ts';
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

/** Each activity answers with the row as it is after it, so that the run need not read it again. */
export type IntentRun = RowState<IntentRunView, IntentFact, IntentDue>;

export const intentActivities = ({ database, clock, signalsMayApprove, links, risk, vault }: Deps) => ({
  readIntent: refusing(async (intentId: string): Promise<IntentRun> => {
    const row = await findIntent(database.read(), intentId);
    if (row === null) throw notFound('intent', intentId);
    return runOf({ database, clock, links }, row);
  }),

  decideIntent: refusing(async (intentId: string, decision: Decision): Promise<IntentRun> => {
    refuseChanges(decision.changes);
    const record = { noun: 'intent', id: intentId, origin: () => originOf(database, intentId) };
    const cause = await causeOfDecision({ database, clock, vault, signalsMayApprove }, record, decision);
    const row = await database.write((tx) => decideIntent({ risk })(tx, intentId, { kind: decision.decision }, cause));
    return runOf({ database, clock, links }, row);
  }),

  /** Of a recurring one: what went by unpaid is missed, and the next window is waited for. */
  endIntentWindow: refusing(async (intentId: string): Promise<IntentRun> => {
    const at = await clock.now();
    const causeId = `window:${at.toISOString()}`;
    const declared = await originOf(database, intentId);
    const cause = { causeId, ...declared, actor: { kind: 'deadline' }, at } as const;
    const row = await database.write((tx) => endWindows(tx, intentId, cause));
    return runOf({ database, clock, links }, row);
  }),

  expireIntent: refusing(async (intentId: string): Promise<IntentRun> => {
    const at = await clock.now();
    const declared = await originOf(database, intentId);
    const cause = { causeId: 'deadline', ...declared, actor: { kind: 'deadline' }, at } as const;
    const row = await database.write((tx) =>
      applyToIntent(tx, intentId, { kind: 'expire' }, cause, { isOwnWorkflow: true }),
    );
    return runOf({ database, clock, links }, row);
  }),
});

/** The call that declared the intent. It never changes. */
async function originOf(database: Database, intentId: string) {
  const row = await findIntent(database.read(), intentId);
  if (row === null) throw notFound('intent', intentId);
  return { requestId: row.requestId, runId: row.runId ?? undefined };
}

/** By the clock as it is when the row is written: a sandbox may have been moved meanwhile. */
async function runOf(
  { database, clock, links }: Pick<Deps, 'database' | 'clock' | 'links'>,
  row: IntentRow,
): Promise<IntentRun> {
  const facts = intentFacts(deadlinesOf(row), await clock.now());
  const { version } = row;
  const declined = declinedView(row);
  const view = { ...intentView(row), declined, approvalUrl: null, needsPasskey: false, maxChargeCents: null };
  if (row.status !== 'pending_approval') return { version, ...facts, view };
  const db = database.read();
  const approvalUrl = (await links.urlsOf(db, [row.id])).get(row.id) ?? null;
  const needsPasskey = demandsPasskey(await policyOfAgent(db, row.agentId));
  const maxChargeCents = (await maxChargeCentsOf(db, [row]))(row);
  return { version, ...facts, view: { ...view, approvalUrl, needsPasskey, maxChargeCents } };
}

const deadlinesOf = (row: IntentRow) => ({ ...stateOf(row), windowToAt: row.windowToAt ?? null });

export type IntentActivities = ReturnType<typeof intentActivities>;
