/** Policies and intents, put together with what they judge by. @module */
import { intentHandlers, intentsArea } from '../../domains/spending/intents/index.ts';
import { policiesArea, policyHandlers } from '../../domains/spending/policies/index.ts';
import { type Mounted, mounted } from '../../http/route.ts';
import { findCardOf } from '../../usecases/card-facts.ts';
import { declareIntent } from '../../usecases/declare-intent.ts';
import { judgePlan } from '../../usecases/judge-plan.ts';
import { riskOf } from '../../usecases/spending-facts.ts';
import type { Infrastructure } from '../infrastructure.ts';

export function spendingAreas({ database, gateway }: Infrastructure): Mounted[] {
  const judge: Parameters<typeof policyHandlers>[0]['judge'] = async (tx, { agent, request, at }) => {
    const card = await findCardOf(tx, agent.agentId);
    return (await judgePlan(tx, riskOf, { agent, card, request, at })).verdict;
  };
  return [
    mounted(policiesArea, policyHandlers({ database, judge })),
    mounted(intentsArea, intentHandlers({ database, gateway, declare: declareIntent({ database, riskOf }) })),
  ];
}
