/** The plans and their ceilings. Pure; a ceiling of null means no ceiling. @module */
import { type Cents, cents } from '../../../kernel/money.ts';

export const plans = ['free', 'starter', 'business', 'enterprise'] as const;
export type Plan = (typeof plans)[number];

export type PlanLimits = {
  readonly agents: number | null;
  readonly cards: number | null;
  readonly members: number | null;
  /** Never blocks a payment: what is above it costs the overage fee. */
  readonly monthlyVolumeCents: Cents | null;
  readonly apiRequestsPerMonth: number | null;
  readonly historyDays: number;
};

export const planLimits = {
  free: limits(1, 1, 1, 15_000, 10_000, 30),
  starter: limits(5, 10, 3, 200_000, 100_000, 90),
  business: limits(10, 25, 10, 500_000, 500_000, 365),
  enterprise: limits(null, null, null, null, null, 1_826),
} as const satisfies Record<Plan, PlanLimits>;

/** Undefined when one more fits; otherwise the sentence that says why not. */
export function whyFull(plan: Plan, noun: 'agents' | 'cards', used: number): string | undefined {
  const most = planLimits[plan][noun];
  if (most === null || used < most) return undefined;
  return `the ${plan} plan allows ${most} ${most === 1 ? noun.slice(0, -1) : noun} and ${used} exist; close one or change the plan`;
}

/** An older page calls `starter` `personal`. */
export const planNamed = (name: Plan | 'personal'): Plan => (name === 'personal' ? 'starter' : name);

/** In live the plan is a matter of billing; only the dashboard changes it by hand. */
export const mayChangePlan = (mode: 'sandbox' | 'live', isDashboard: boolean): boolean =>
  mode === 'sandbox' || isDashboard;

export const firstPlan = (mode: 'sandbox' | 'live'): Plan => (mode === 'sandbox' ? 'enterprise' : 'free');

function limits(
  agents: number | null,
  cards: number | null,
  members: number | null,
  monthlyVolumeCents: number | null,
  apiRequestsPerMonth: number | null,
  historyDays: number,
): PlanLimits {
  const monthly = { monthlyVolumeCents: monthlyVolumeCents === null ? null : cents(monthlyVolumeCents) };
  return { agents, cards, members, ...monthly, apiRequestsPerMonth, historyDays };
}
