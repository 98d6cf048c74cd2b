/** The facts and the result of a spending decision: the types that callers and rules share. @module */
import type { FirstMerchant, MerchantFacts } from './merchant-match.rules.ts';

/** An owner's rules for one agent, or a template of them. Null and empty lists mean "no such rule". */
export type PolicyTerms = {
  readonly name: string;
  readonly maxTransactionCents: number | null;
  readonly dailyLimitCents: number | null;
  readonly monthlyLimitCents: number | null;
  /** Up to this no person is asked; null = never ask, 0 = always ask. */
  readonly autoApproveLimitCents: number | null;
  readonly merchantAllowlist: readonly string[];
  readonly merchantBlocklist: readonly string[];
  readonly mccCategories: readonly string[];
  readonly allowedMccs: readonly string[];
  readonly blockedMccs: readonly string[];
  readonly allowedCountries: readonly string[];
  readonly lockToFirstMerchant: boolean;
  readonly cooldownMinutes: number | null;
  readonly requireIntent: boolean;
  readonly requireAttestation: boolean;
  readonly attestationWindowMinutes: number | null;
  readonly expiresAfterMinutes: number | null;
  readonly expirationAction: ExpirationAction;
  readonly activeHoursStart: number | null;
  readonly activeHoursEnd: number | null;
  readonly maxUsageCount: number | null;
  readonly amountTolerancePercent: number | null;
  /** Of a transfer whose payee the payee's bank does not confirm. */
  readonly payeeMismatch: PayeeMismatch;
};
export const expirationActions = ['freeze', 'close', 'notify'] as const;
export type ExpirationAction = (typeof expirationActions)[number];
/** `ask`: a person decides. */
export const payeeMismatches = ['ask', 'refuse', 'send'] as const;
export type PayeeMismatch = (typeof payeeMismatches)[number];

/** `updatedAt` is where its expiry counts from. */
export type Policy = PolicyTerms & { readonly id: string; readonly version: number; readonly updatedAt: Date };

export const holderStatuses = ['active', 'frozen', 'closed'] as const;
export type HolderStatus = (typeof holderStatuses)[number];
/** What a card allows and blocks beside the policy. Empty lists mean "no such rule". */
export type CardControls = {
  readonly allowedMerchants: readonly string[];
  readonly blockedMerchants: readonly string[];
  readonly allowedCountries: readonly string[];
  readonly blockedCountries: readonly string[];
  readonly allowedMccs: readonly string[];
  readonly blockedMccs: readonly string[];
};

export type CardFacts = {
  readonly status: HolderStatus;
  readonly usage: 'single' | 'multi';
  readonly limits: {
    readonly maxTransactionCents: number | null;
    readonly dailyLimitCents: number | null;
    readonly monthlyLimitCents: number | null;
  };
  readonly isProvisioning: boolean;
  /** It is good to the end of that month, UTC. Null where the processor has not said it. */
  readonly expiryMonth: number | null;
  readonly expiryYear: number | null;
  readonly controls: CardControls | null;
};

export type RequestFacts = {
  readonly amountCents: number;
  readonly merchant?: MerchantFacts | undefined;
  /** Of a transfer: whose accounts the money goes to. Each has to be the merchant of its intent; no other rule asks. */
  readonly payees?: readonly string[] | undefined;
  readonly mcc?: string | null | undefined;
  /** ISO 3166-1 alpha-2. */
  readonly country?: string | null | undefined;
  /** `verification`: 0.00, to see whether the card lives; uses nothing up. */
  readonly kind?: 'purchase' | 'verification' | undefined;
  /** Initiated by the merchant under a standing agreement. */
  readonly recurring?: boolean | undefined;
  /** More for a payment that was approved before: `amountCents` is the whole of it, and it counts as no new payment. */
  readonly isIncrement?: boolean | undefined;
};

export type IntentFacts = {
  readonly id: string;
  readonly expectedAmountCents: number;
  readonly expectedMerchant: string | null;
  readonly status: string;
  /** Approved by the policy alone, not by a person. */
  readonly autoApproved: boolean;
  readonly attestedAt?: Date | null | undefined;
  readonly tolerancePercent?: number | null | undefined;
  /** Why it cannot be charged now although it is approved, in words. */
  readonly closedBecause?: string | undefined;
};

/** Sums are over approved authorizations of the UTC day and month at max(hold, cleared), without this request. */
export type CounterFacts = {
  readonly spentTodayCents: number;
  readonly spentThisMonthCents: number;
  readonly cardSpentTodayCents: number;
  readonly cardSpentThisMonthCents: number;
  readonly lastPaymentAt: Date | null;
  /** Approved payments with this card; of the agent where no card is named. */
  readonly usageCount: number;
  /** The merchant of the first approved payment. */
  readonly firstMerchant: FirstMerchant | null;
};
export const noSpending: CounterFacts = {
  spentTodayCents: 0,
  spentThisMonthCents: 0,
  cardSpentTodayCents: 0,
  cardSpentThisMonthCents: 0,
  lastPaymentAt: null,
  usageCount: 0,
  firstMerchant: null,
};

export type RiskFacts = { readonly outcome: 'allow' | 'review' | 'deny'; readonly signals: readonly string[] };

/**
 * `access`: the card is about to be used, and no one has asked for the money yet. `transfer`: money moves to a wallet of
 * the owner or to a bank account, without card and merchant.
 */
export type SpendingPhase = 'declare' | 'access' | 'charge' | 'transfer';

export type SpendingFacts = {
  /** Business time of the decision. */
  readonly at: Date;
  /** None means no. */
  readonly policy: Policy | null;
  readonly agent: { readonly status: HolderStatus };
  readonly card?: CardFacts | undefined;
  readonly request: RequestFacts;
  readonly intent?: IntentFacts | undefined;
  readonly counters: CounterFacts;
  /** What is unknown yet may pass a declaration and an access to the card; a charge must know it. */
  readonly phase: SpendingPhase;
  readonly risk: RiskFacts;
  /** The declined transaction that the owner allows once: rules that an owner may lift do not refuse this charge. */
  readonly allowedOnceOf?: string | undefined;
};

export type Figures = Readonly<Record<string, string | number | boolean | null>>;
/** `lifted`: it would have refused, and the owner has allowed this charge once. */
export const traceOutcomes = ['pass', 'needs_approval', 'deny', 'lifted'] as const;
export type TraceOutcome = (typeof traceOutcomes)[number];
export type TraceEntry = {
  readonly rule: string;
  readonly outcome: TraceOutcome;
  readonly figures: Figures;
};
export type SpendingDecision = {
  readonly outcome: 'allow' | 'needs_approval' | 'deny';
  /** Stable code of the rule that decided: `daily_limit`; `within_rules` when none objected. */
  readonly rule: string;
  /** In words, with figures. */
  readonly reason: string;
  /** Every rule that applied, in the order of evaluating, up to the first refusal. */
  readonly trace: readonly TraceEntry[];
};
