/** Policies, intents and the page on which people decide them, put together with what they evaluate by. @module */
import { approvalHandlers, approvalPage, approvalsArea } from '../../domains/spending/approvals/index.ts';
import { evidenceArea, evidenceHandlers } from '../../domains/spending/evidence/index.ts';
import { intentHandlers, intentsArea } from '../../domains/spending/intents/index.ts';
import { policiesArea, policyHandlers, policyOfAgent } from '../../domains/spending/policies/index.ts';
import { type Mounted, mounted } from '../../http/route.ts';
import { findCardOf } from '../../usecases/cards/card-facts.ts';
import { createApproveIntent } from '../../usecases/spending/approve-intent.ts';
import { createAttestIntent } from '../../usecases/spending/attest-intent.ts';
import { decidingByLink } from '../../usecases/spending/decide-by-link.ts';
import { declareIntent } from '../../usecases/spending/declare-intent.ts';
import { evaluatePlan } from '../../usecases/spending/evaluate-plan.ts';
import { riskOf } from '../../usecases/spending/spending-facts.ts';
import { createVerifyIntent } from '../../usecases/spending/verify-intent.ts';
import type { Infrastructure } from '../infrastructure.ts';

export function spendingAreas(infrastructure: Infrastructure): Mounted[] {
  const { database, gateway, vault, links, relyingParty, intentChallenge } = infrastructure;
  const evaluate: Parameters<typeof policyHandlers>[0]['evaluate'] = async (tx, { agent, request, at }) => {
    const card = await findCardOf(tx, agent.agentId);
    const policy = await policyOfAgent(tx, agent.agentId);
    return evaluatePlan(tx, riskOf, { agent, card, policy, request, at });
  };
  const attest = createAttestIntent({ database, relyingParty });
  const approve = createApproveIntent({ database, gateway, attest, vault });
  const byLink = decidingByLink({ database, relyingParty, challenge: intentChallenge, approve });
  return [
    mounted(policiesArea, policyHandlers({ database, evaluate })),
    mounted(
      intentsArea,
      intentHandlers({
        database,
        gateway,
        links,
        approve,
        attest,
        declare: declareIntent({ database, riskOf, links }),
        verify: createVerifyIntent({ database }),
      }),
    ),
    mounted(approvalsArea, approvalHandlers(byLink), { getApproval: approvalPage }),
    mounted(evidenceArea, evidenceHandlers({ database })),
  ];
}
