/** Steps of an agent's policy: read the row, and carry out its expiry. Each is safe to repeat. @module */
import type { Database } from '../../src/db/database.ts';
import type { PolicyExpiryView } from '../../src/domains/spending/policies/policy.messages.ts';
import { agentStanding, policyOfAgent } from '../../src/domains/spending/policies/policy.queries.ts';
import { expiryOf } from '../../src/domains/spending/policies/policy.rules.ts';
import { policyOf } from '../../src/domains/spending/policies/policy.wire.ts';
import { nextExpiryStep } from '../../src/domains/spending/policies/policy-expiry.rules.ts';
import { longestWaitMs } from '../../src/kernel/instant.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { expirePolicy } from '../../src/usecases/spending/expire-policy.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = { database: Database; clock: Clock };

export type AgentPolicyNext = {
  readonly kind: 'wait' | 'expire' | 'expired' | 'final';
  readonly waitMs: number;
  readonly view: PolicyExpiryView;
};

export const agentPolicyActivities = ({ database, clock }: Deps) => ({
  /** From the row: the next step of the run. */
  nextAgentPolicyStep: refusing(async (agentId: string): Promise<AgentPolicyNext> => {
    const row = await policyOfAgent(database.read(), agentId);
    const isAgentThere = (await agentStanding(database.read(), agentId)) !== null;
    const policy = row === null ? null : { ...policyOf(row), expiredAt: row.expiredAt ?? null };
    const step = nextExpiryStep(policy, { isAgentThere, at: await clock.now(), longestWaitMs });
    const view = {
      agentId,
      hasPolicy: policy !== null,
      action: policy?.expirationAction ?? 'freeze',
      expiresAt: policy === null ? null : (expiryOf(policy)?.toISOString() ?? null),
    };
    return { kind: step.kind, waitMs: step.kind === 'wait' ? step.waitMs : 0, view };
  }),

  expireAgentPolicy: refusing(
    async (agentId: string): Promise<void> => expirePolicy({ database })(agentId, await clock.now()),
  ),
});

export type AgentPolicyActivities = ReturnType<typeof agentPolicyActivities>;
