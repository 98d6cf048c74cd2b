/** Policies and intents, put together with what they judge by. @module */
import { intentHandlers, intentsArea } from '../../domains/spending/intents/index.ts';
import { policiesArea, policyHandlers } from '../../domains/spending/policies/index.ts';
import { type Mounted, mounted } from '../../http/route.ts';
import { declareIntent } from '../../usecases/declare-intent.ts';
import { countersOf, riskOf } from '../../usecases/spending-facts.ts';
import type { Infrastructure } from '../infrastructure.ts';

export function spendingAreas({ database, gateway }: Infrastructure): Mounted[] {
  const judging = { database, countersOf, riskOf };
  return [
    mounted(policiesArea, policyHandlers(judging)),
    mounted(intentsArea, intentHandlers({ database, gateway, declare: declareIntent(judging) })),
  ];
}
