/**
 * The decision about an authorization that the network approved in Bursar's place, because no answer came in time. The
 * rules no longer decide; they say which intent is paid and what they would have refused. Pure.
 * @module
 */
import { cents, inWords, least } from '../../../kernel/money.ts';
import { type Decision, type DecisionFacts, outstandingOf } from './authorization.rules.ts';

export const standInRule = 'stand_in';

/** Held is what there is money for; the rest is owed when it is collected. */
export function adviseDecision(decision: Decision, facts: DecisionFacts, approvedCents: number): Decision {
  const isAsDecided = decision.outcome !== 'declined' && decision.approvedCents === approvedCents;
  const { rule, reason } = isAsDecided
    ? decision
    : {
        rule: standInRule,
        reason: `the network approved ${inWords(approvedCents)} without an answer; the rules: ${decision.reason}`,
      };
  return {
    ...decision,
    rule,
    reason,
    outcome: approvedCents < facts.spending.request.amountCents ? 'partial' : 'approved',
    approvedCents: cents(approvedCents),
    holdCents: least(outstandingOf(approvedCents, facts.before), facts.availableCents),
    needsPerson: false,
  };
}
