/** Assesses the risk of a payment. Every caller of the spending decision gets this port injected. @module */
import type { Tx } from '../../../db/tx.ts';
import type { RequestFacts, RiskFacts } from '../policies/policy.rules.ts';

export type RiskEngine = {
  /** Reads in the caller's transaction. `at` is business time. */
  assess(
    tx: Tx,
    agent: { readonly ownerId: string; readonly agentId: string },
    request: RequestFacts,
    at: Date,
  ): Promise<RiskFacts>;
};
