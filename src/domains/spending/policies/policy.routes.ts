/** Answers the policy operations: ask the service or the rule, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Tx } from '../../../db/tx.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { notFound } from '../../../kernel/errors.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { policiesArea } from './policy.contract.ts';
import { type AgentStanding, listPolicies, policyOfAgent } from './policy.queries.ts';
import { policyCheckOf, type RequestFacts, type SpendingDecision } from './policy.rules.ts';
import { applyRules, changePolicy, createTemplate, deleteTemplate, presetNamed } from './policy.service.ts';
import { policyVersionWire, policyWire, termsFromChange, termsWire, traceWire } from './policy.wire.ts';
import { listPolicyVersions, policyVersion } from './policy-version.queries.ts';
import { type Preset, presetIds, presets } from './preset.rules.ts';

export type PolicyDeps = {
  readonly database: Database;
  /** The decision of the rules on the agent's first card, as a declaration would get it. */
  readonly evaluate: (
    tx: Tx,
    plan: { agent: AgentStanding; request: RequestFacts; at: Date },
  ) => Promise<SpendingDecision>;
};

export const policyHandlers = (deps: PolicyDeps): Handlers<typeof policiesArea> => ({
  createPolicy: async ({ body, own: { ownerId } }, call) => {
    const template = {
      newId: call.newId('policy'),
      ownerId,
      terms: { ...termsFromChange(body), name: body.name },
    };
    return policyWire(await inTransaction(deps, call, (tx, cause) => createTemplate(tx, cause, template)));
  },

  listPolicies: async ({ query, own: { ownerId } }) => {
    const filter = { ownerId, kind: query.kind };
    return mapPage(await listPolicies(deps.database.read(), filter, pageOfQuery(query)), policyWire);
  },

  listPolicyPresets: async () => presetIds.map((id) => presetWire(presets[id])),

  getPolicyPreset: async ({ params: { presetId } }) => presetWire(presetNamed(presetId)),

  simulatePolicy: async ({ body: { amountCents, merchant, mcc, country }, records: { agent } }, call) => {
    const tx = deps.database.read();
    const at = await call.now();
    const request = {
      amountCents,
      merchant: merchant === undefined ? undefined : { name: merchant },
      mcc,
      country,
    };
    const decision = await deps.evaluate(tx, { agent, request, at });
    return { ...policyCheckOf(decision), rule: decision.rule, trace: traceWire(decision.trace) };
  },

  getAgentPolicy: async ({ params }) => {
    const row = await policyOfAgent(deps.database.read(), params.agentId);
    if (row === null) throw notFound('policy of agent', params.agentId);
    return policyWire(row);
  },

  updateAgentPolicy: async ({ params: { agentId }, body, own: { ownerId } }, call) => {
    return policyWire(
      await inTransaction(deps, call, (tx, cause) =>
        changePolicy(tx, cause, { agentId, ownerId }, termsFromChange(body)),
      ),
    );
  },

  applyPolicy: async ({ params: { agentId }, body, own: { ownerId } }, call) => {
    const source = body.presetId === undefined ? { policyId: body.policyId ?? '' } : { presetId: body.presetId };
    return policyWire(
      await inTransaction(deps, call, (tx, cause) => applyRules(tx, cause, { agentId, ownerId }, source)),
    );
  },

  toggleAgentPolicy: async ({ params: { agentId }, body: { field, value }, own: { ownerId } }, call) => {
    return policyWire(
      await inTransaction(deps, call, (tx, cause) => changePolicy(tx, cause, { agentId, ownerId }, { [field]: value })),
    );
  },

  getPolicy: async ({ records }) => policyWire(records.policy),

  listPolicyVersions: async ({ params: { id }, query }) =>
    mapPage(await listPolicyVersions(deps.database.read(), id, pageOfQuery(query)), policyVersionWire),

  getPolicyVersion: async ({ params: { id, n }, query: { comparedWith } }) =>
    policyVersionWire(await policyVersion(deps.database.read(), id, { n, comparedWith })),

  updatePolicy: async ({ params: { id }, body, own: { ownerId } }, call) => {
    return policyWire(
      await inTransaction(deps, call, (tx, cause) => changePolicy(tx, cause, { id, ownerId }, termsFromChange(body))),
    );
  },

  deletePolicy: async ({ params: { id }, own: { ownerId } }, call) => {
    await inTransaction(deps, call, (tx, cause) => deleteTemplate(tx, cause, { id, ownerId }));
    return { id, deleted: true };
  },
});

const presetWire = ({ terms, ...preset }: Preset) => ({ ...preset, policy: termsWire(terms) });
