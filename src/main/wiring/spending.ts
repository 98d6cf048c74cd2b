/** Policies, intents and the page on which people decide them, put together with what they judge by. @module */
import { approvalHandlers, approvalPage, approvalsArea } from '../../domains/spending/approvals/index.ts';
import { evidenceArea, evidenceHandlers } from '../../domains/spending/evidence/index.ts';
import { intentHandlers, intentsArea } from '../../domains/spending/intents/index.ts';
import { policiesArea, policyHandlers, policyOfAgent } from '../../domains/spending/policies/index.ts';
import { type Mounted, mounted } from '../../http/route.ts';
import { createApproveIntent } from '../../usecases/approve-intent.ts';
import { createAttestIntent } from '../../usecases/attest-intent.ts';
import { findCardOf } from '../../usecases/card-facts.ts';
import { decidingByLink } from '../../usecases/decide-by-link.ts';
import { declareIntent } from '../../usecases/declare-intent.ts';
import { judgePlan } from '../../usecases/judge-plan.ts';
import { riskOf } from '../../usecases/spending-facts.ts';
import { createVerifyIntent } from '../../usecases/verify-intent.ts';
import type { Infrastructure } from '../infrastructure.ts';

export function spendingAreas(infrastructure: Infrastructure): Mounted[] {
  const { database, gateway, vault, links, relyingParty, intentChallenge } = infrastructure;
  const judge: Parameters<typeof policyHandlers>[0]['judge'] = async (tx, { agent, request, at }) => {
    const card = await findCardOf(tx, agent.agentId);
    const policy = await policyOfAgent(tx, agent.agentId);
    return judgePlan(tx, riskOf, { agent, card, policy, request, at });
  };
  const attest = createAttestIntent({ database, relyingParty });
  const approve = createApproveIntent({ database, gateway, attest, vault });
  const byLink = decidingByLink({ database, relyingParty, challenge: intentChallenge, approve });
  return [
    mounted(policiesArea, policyHandlers({ database, judge })),
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
    mounted(approvalsArea, approvalHandlers(byLink), { readApproval: approvalPage }),
    mounted(evidenceArea, evidenceHandlers({ database })),
  ];
}
