/** Answers the policy operations: ask the service or the rule, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Call, mayReach, ownerOf } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { notFound } from '../../../kernel/errors.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { policiesArea } from './policy.contract.ts';
import { type AgentStanding, agentStanding, findPolicy, listPolicies, policyOfAgent } from './policy.queries.ts';
import { policyCheckOf, type RequestFacts, type SpendingDecision } from './policy.rules.ts';
import { applyRules, changePolicy, createTemplate, deleteTemplate } from './policy.service.ts';
import { policyWire, termsFromChange, termsWire, traceWire } from './policy.wire.ts';
import { isPresetId, type Preset, presetIds, presets } from './preset.rules.ts';

export type PolicyDeps = {
  readonly database: Database;
  /** What the rules would say to the agent's first card: what a declaration would be told. */
  readonly evaluate: (
    tx: Tx,
    plan: { agent: AgentStanding; request: RequestFacts; at: Date },
  ) => Promise<SpendingDecision>;
};

export const policyHandlers = (deps: PolicyDeps): Handlers<typeof policiesArea> => ({
  createPolicy: async ({ body }, call) => {
    const template = {
      newId: call.newId('policy'),
      ownerId: ownerOf(call),
      terms: { ...termsFromChange(body), name: body.name },
    };
    return policyWire(await deps.database.write((tx) => createTemplate(tx, call.cause, template)));
  },

  listPolicies: async ({ query }, call) => {
    const filter = { ownerId: ownerOf(call), kind: query.kind };
    return mapPage(await listPolicies(deps.database.read(), filter, pageOfQuery(query)), policyWire);
  },

  listPolicyPresets: async () => presetIds.map((id) => presetWire(presets[id])),

  getPolicyPreset: async ({ params: { presetId } }) => {
    if (!isPresetId(presetId)) throw notFound('preset', `${presetId}; there are ${presetIds.join(', ')}`);
    return presetWire(presets[presetId]);
  },

  simulatePolicy: async ({ body: { agentId, amountCents, merchant, mcc, country } }, call) => {
    const tx = deps.database.read();
    const agent = mayReach(call, 'agent', agentId, await agentStanding(tx, agentId));
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

  getAgentPolicy: async ({ params }, call) => {
    await reachAgent(deps, params.agentId, call);
    const row = await policyOfAgent(deps.database.read(), params.agentId);
    if (row === null) throw notFound('policy of agent', params.agentId);
    return policyWire(row);
  },

  updateAgentPolicy: async ({ params: { agentId }, body }, call) => {
    await reachAgent(deps, agentId, call);
    return policyWire(
      await deps.database.write((tx) => changePolicy(tx, call.cause, { agentId }, termsFromChange(body))),
    );
  },

  applyPolicy: async ({ params: { agentId }, body }, call) => {
    await reachAgent(deps, agentId, call);
    const source = body.presetId === undefined ? { policyId: body.policyId ?? '' } : { presetId: body.presetId };
    return policyWire(await deps.database.write((tx) => applyRules(tx, call.cause, agentId, ownerOf(call), source)));
  },

  toggleAgentPolicy: async ({ params: { agentId }, body: { field, value } }, call) => {
    await reachAgent(deps, agentId, call);
    return policyWire(await deps.database.write((tx) => changePolicy(tx, call.cause, { agentId }, { [field]: value })));
  },

  getPolicy: async ({ params }, call) => policyWire(await reach(deps, params.id, call)),

  updatePolicy: async ({ params, body }, call) => {
    await reach(deps, params.id, call);
    return policyWire(await deps.database.write((tx) => changePolicy(tx, call.cause, params, termsFromChange(body))));
  },

  deletePolicy: async ({ params }, call) => {
    await reach(deps, params.id, call);
    await deps.database.write((tx) => deleteTemplate(tx, call.cause, params.id));
    return { id: params.id, deleted: true };
  },
});

/** The policy of an agent that is not issued yet is as absent as the agent. */
async function reach({ database }: PolicyDeps, id: string, call: Call) {
  const tx = database.read();
  const row = await findPolicy(tx, id);
  const agentId = row?.agentId ?? null;
  mayReach(call, 'policy', id, row === null ? null : { ownerId: row.ownerId, agentId });
  if (row === null || (agentId !== null && (await agentStanding(tx, agentId)) === null)) throw notFound('policy', id);
  return row;
}

const reachAgent = async ({ database }: PolicyDeps, agentId: string, call: Call) =>
  mayReach(call, 'agent', agentId, await agentStanding(database.read(), agentId));

const presetWire = ({ terms, ...preset }: Preset) => ({ ...preset, policy: termsWire(terms) });
