/** Whether an owner's plan has a queue of dead letters. @module */
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Mode } from '../../../platform/mode.ts';
import { firstPlan } from '../../parties/customers/plan.rules.ts';
import { findPlan } from '../../parties/index.ts';
import { tierOf } from './delivery.rules.ts';

export async function assertDeadLetters(tx: Tx, mode: Mode, ownerId: string): Promise<void> {
  const plan = (await findPlan(tx, ownerId)) ?? firstPlan(mode);
  const tier = tierOf(plan);
  if (tier.hasDeadLetters) return;
  throw new DomainError(
    'plan_limit_exceeded',
    `the ${plan} plan has the webhook tier ${tier.name}, which has no dead letters; the enterprise plan has them`,
  );
}
