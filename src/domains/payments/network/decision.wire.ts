/** A decision as callers see it: amounts in euros, and the whole in sentences. Shapes only. @module */
import { cents, eurosFromCents } from '../../../kernel/money.ts';
import { type PolicyVersion, policyVersionWire, traceWire } from '../../spending/policies/index.ts';
import type { DecisionWire } from '../transactions/transaction.contract.ts';
import { couldBeAllowed } from './allow-once.rules.ts';
import type { StoredDecision } from './decision.queries.ts';

type Decisions = { readonly decision: StoredDecision; readonly increments: readonly StoredDecision[] };

export const decisionWire = ({ decision, increments }: Decisions, policy: PolicyVersion | null): DecisionWire => ({
  transactionId: decision.transactionId,
  outcome: decision.outcome,
  rule: decision.rule,
  reason: decision.reason,
  inWords: decisionInWords(decision, couldBeAllowed(decision)),
  amountEuros: eurosFromCents(cents(decision.amountCents)),
  intentId: decision.intentId,
  cardId: decision.cardId,
  trace: traceWire(decision.trace),
  remedy: remediesOf(decision),
  mayAllowOnce: couldBeAllowed(decision),
  policyId: decision.policyId,
  policyVersion: decision.policyVersion,
  policy: policy === null ? null : policyVersionWire(policy),
  increments: increments.map(incrementWire),
  at: decision.at.toISOString(),
});

const incrementWire = (decision: StoredDecision): DecisionWire['increments'][number] => ({
  networkId: decision.incrementId ?? '',
  outcome: decision.outcome,
  rule: decision.rule,
  reason: decision.reason,
  inWords: decisionInWords(decision),
  amountEuros: eurosFromCents(cents(decision.amountCents)),
  approvedEuros: eurosFromCents(cents(decision.approvedCents ?? 0)),
  trace: traceWire(decision.trace),
  remedy: remediesOf(decision),
  policyId: decision.policyId,
  policyVersion: decision.policyVersion,
  at: decision.at.toISOString(),
});

const remediesOf = ({ outcome, remedy }: StoredDecision) =>
  outcome === 'approved' ? [] : (remedy?.map(remedyWire) ?? null);

type Remedy = NonNullable<StoredDecision['remedy']>[number];

const remedyWire = ({ field, value, inWords }: Remedy) => ({
  field: field.replace(/Cents$/, 'Euros'),
  value: field.endsWith('Cents') && typeof value === 'number' ? eurosFromCents(cents(value)) : value,
  inWords,
});

const begins = { approved: 'Approved', partial: 'Approved in part', declined: 'Declined' } as const;

function decisionInWords({ outcome, reason, remedy }: StoredDecision, mayAllowOnce = false): string {
  const said = `${begins[outcome]}: ${reason}.`;
  if (outcome === 'approved' || remedy === null || remedy.length === 0) return said;
  const changes = remedy.map(({ inWords }) => inWords).join('; ');
  const these = remedy.length === 1 ? 'this change' : 'these changes';
  const once = mayAllowOnce ? ' The owner can also allow it once.' : '';
  return `${said} It would have passed with ${these}: ${changes}.${once}`;
}
