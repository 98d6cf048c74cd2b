/** Policies, intents, evidence and protect rules. @module */

import { agentPolicyActivities } from '../../../activities/spending/agent-policy.activities.ts';
import { intentActivities } from '../../../activities/spending/intent.activities.ts';
import { evidenceArea } from '../../domains/spending/evidence/evidence.contract.ts';
import { EvidenceRow } from '../../domains/spending/evidence/evidence.entity.ts';
import { findEvidence } from '../../domains/spending/evidence/evidence.queries.ts';
import { evidenceHandlers } from '../../domains/spending/evidence/evidence.routes.ts';
import { intentsArea } from '../../domains/spending/intents/intent.contract.ts';
import { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { intentWorkflow } from '../../domains/spending/intents/intent.messages.ts';
import { findIntent } from '../../domains/spending/intents/intent.queries.ts';
import { intentHandlers } from '../../domains/spending/intents/intent.routes.ts';
import { policiesArea } from '../../domains/spending/policies/policy.contract.ts';
import { PolicyRow } from '../../domains/spending/policies/policy.entity.ts';
import { agentPolicyWorkflow } from '../../domains/spending/policies/policy.messages.ts';
import { agentStanding, policyOfAgent, publishedPolicy } from '../../domains/spending/policies/policy.queries.ts';
import { policyHandlers } from '../../domains/spending/policies/policy.routes.ts';
import { protectRulesArea } from '../../domains/spending/protect-rules/protect-rule.contract.ts';
import { ProtectRuleRow } from '../../domains/spending/protect-rules/protect-rule.entity.ts';
import { findProtectRule } from '../../domains/spending/protect-rules/protect-rule.queries.ts';
import { protectRuleHandlers } from '../../domains/spending/protect-rules/protect-rule.routes.ts';
import { findCardOf } from '../../usecases/cards/card-facts.ts';
import { approveIntent } from '../../usecases/spending/approve-intent.ts';
import { attestIntent } from '../../usecases/spending/attest-intent.ts';
import { cancelIntent } from '../../usecases/spending/cancel-intent.ts';
import { declareIntent } from '../../usecases/spending/declare-intent.ts';
import { evaluatePlan } from '../../usecases/spending/evaluate-plan.ts';
import { intentApproval } from '../../usecases/spending/intent-approval.ts';
import { verifyIntent } from '../../usecases/spending/verify-intent.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { type ApiProcess, defineModule, servedArea } from './module.ts';

function policiesOf({ database, risk }: ApiProcess) {
  const evaluate: Parameters<typeof policyHandlers>[0]['evaluate'] = async (tx, { agent, request, at }) => {
    const card = await findCardOf(tx, agent.agentId);
    const policy = await policyOfAgent(tx, agent.agentId);
    return evaluatePlan({ risk })(tx, { agent, card, policy, request, at });
  };
  return policyHandlers({ database, evaluate });
}

function approvingOf({ database, gateway, vault, relyingParty }: Infrastructure) {
  const attest = attestIntent({ database, relyingParty });
  return { attest, approve: approveIntent({ database, gateway, attest, vault }) };
}

export const spending = defineModule('spending', [
  servedArea('policies', {
    contract: policiesArea,
    position: 210,
    lookups: ({ database }) => ({
      policy: (id) => publishedPolicy(database.read(), id),
      agent: (id) => agentStanding(database.read(), id),
    }),
    handlers: policiesOf,
    entities: [PolicyRow],
    tables: ['policies', 'policy_versions', 'agent_spending', 'spending_days'],
    activities: ({ database, clock }) => agentPolicyActivities({ database, clock }),
    workflows: [
      {
        type: agentPolicyWorkflow,
        idPrefix: 'agent-policy',
        queue: 'main',
        summary: ({ subjectId }) => `Policy of agent ${subjectId}: when it expires, acted upon once`,
      },
    ],
  }),
  servedArea('intents', {
    contract: intentsArea,
    position: 220,
    lookups: ({ database }) => ({ intent: (id) => findIntent(database.read(), id) }),
    handlers: (api) => {
      const { database, gateway, links, risk } = api;
      return intentHandlers({
        database,
        gateway,
        links,
        ...approvingOf(api),
        cancel: cancelIntent,
        declare: declareIntent({ database, risk, links }),
        verify: verifyIntent({ database }),
      });
    },
    entities: [IntentRow],
    tables: ['intents', 'intent_windows'],
    approval: {
      fires: { approve: intentsArea.operations.approveIntent.fires, deny: intentsArea.operations.denyIntent.fires },
      subject: (api) => intentApproval(approvingOf(api)),
    },
    activities: ({ database, clock, config, links, risk, vault }) =>
      intentActivities({ risk, database, clock, signalsMayApprove: config.signalsMayApprove, links, vault }),
    workflows: [
      {
        type: intentWorkflow,
        idPrefix: 'intent',
        queue: 'main',
        summary: ({ subjectId, ofAgent }) => `Intent ${subjectId}${ofAgent}: to be decided, paid or expired`,
      },
    ],
  }),
  servedArea('evidence', {
    contract: evidenceArea,
    position: 240,
    lookups: ({ database }) => ({ evidence: (id) => findEvidence(database.read(), id) }),
    handlers: ({ database }) => evidenceHandlers({ database }),
    entities: [EvidenceRow],
    tables: ['evidence'],
  }),
  servedArea('protect-rules', {
    contract: protectRulesArea,
    position: 245,
    lookups: ({ database }) => ({ protectRule: (id) => findProtectRule(database.read(), id) }),
    handlers: ({ database }) => protectRuleHandlers({ database }),
    entities: [ProtectRuleRow],
    tables: ['protect_rules'],
  }),
]);
