/**
 * What the model decides about a charge, an increment and a declaration: the rules of the specification told once
 * more, for the few terms that the model's agents have. Calls no rule of the product; the model compares the two.
 * @module
 */

export type Terms = {
  readonly maxTransactionCents?: number;
  readonly dailyLimitCents?: number;
  readonly monthlyLimitCents?: number;
  readonly autoApproveLimitCents?: number;
  readonly requireIntent?: boolean;
  readonly amountTolerancePercent?: number;
};
/** What the charge is measured against, without the charge. */
export type Situation = {
  readonly terms: Terms;
  readonly agent: 'active' | 'frozen';
  readonly card: 'active' | 'frozen' | 'closed';
  /** A card for one payment, which has been used. */
  readonly isUsedUp: boolean;
  readonly spentTodayCents: number;
  readonly spentThisMonthCents: number;
  readonly availableCents: number;
};
export type PayingIntent = {
  readonly id: string;
  readonly amountCents: number;
  /** Names the merchant; the others are for any. */
  readonly isNamed: boolean;
  /** Undefined: the policy's. */
  readonly ownTolerancePercent: number | undefined;
  readonly isRecurring: boolean;
  /** A person has approved it, and not the policy. */
  readonly isByPerson: boolean;
};
export type Outcome = 'approved' | 'partial' | 'declined';
export type Decided = {
  readonly outcome: Outcome;
  readonly approvedCents: number;
  readonly holdCents: number;
  readonly rule: string;
  readonly intentId: string | null;
  /** Declined only because no person has approved it. */
  readonly needsPerson: boolean;
};
export type Earlier = {
  readonly collectedCents: number;
  readonly isFinal: boolean;
  readonly reversedCents: number;
  readonly isReversedWhole: boolean;
  readonly isBooked: boolean;
};
export type Ask = {
  readonly amountCents: number;
  readonly isVerification: boolean;
  readonly takesParts: boolean;
  /** Initiated by the merchant: a recurring intent is preferred. */
  readonly isRecurring: boolean;
  readonly situation: Situation;
  /** Open for this card, in the order in which they were made. */
  readonly intents: readonly PayingIntent[];
  /** Each lets one declined charge pass, up to its amount. */
  readonly allowing: readonly PayingIntent[];
  readonly earlier: Earlier;
};
export const nothingEarlier: Earlier = {
  ...{ collectedCents: 0, isFinal: false, reversedCents: 0, isReversedWhole: false, isBooked: false },
};

/** `roomCents`: a charge of this amount would not be refused by this rule. */
type Refusal = { readonly rule: string; readonly asksPerson?: boolean; readonly roomCents?: number };
type Use = {
  readonly intent: PayingIntent | undefined;
  readonly isIncrement?: boolean;
  /** The owner allows this charge once. */
  readonly isAllowed?: boolean;
  /** Taken from the available money before. */
  readonly bookedCents?: number;
};

export const maxChargeCents = (
  { amountCents, ownTolerancePercent }: Pick<PayingIntent, 'amountCents' | 'ownTolerancePercent'>,
  { amountTolerancePercent }: Terms,
): number => {
  const percent =
    ownTolerancePercent === undefined
      ? (amountTolerancePercent ?? 0)
      : Math.min(ownTolerancePercent, amountTolerancePercent ?? ownTolerancePercent);
  return amountCents + Math.floor((amountCents * percent) / 100);
};

/** The state of agent and card before everything else. */
export function standingRefusal({ agent, card, isUsedUp }: Situation, isPayment: boolean): Refusal | undefined {
  if (agent !== 'active') return { rule: 'agent_status' };
  if (card !== 'active') return { rule: 'card_status' };
  return isUsedUp && isPayment ? { rule: 'single_use' } : undefined;
}

export function limitRefusal(situation: Situation, amountCents: number): Refusal | undefined {
  const { terms, spentTodayCents, spentThisMonthCents } = situation;
  const limits = [
    ['max_transaction', terms.maxTransactionCents, 0],
    ['daily_limit', terms.dailyLimitCents, spentTodayCents],
    ['monthly_limit', terms.monthlyLimitCents, spentThisMonthCents],
  ] as const;
  for (const [rule, limitCents, spentCents] of limits) {
    if (limitCents !== undefined && spentCents + amountCents > limitCents)
      return { rule, roomCents: limitCents - spentCents };
  }
  return undefined;
}

const needsApproval = (
  { autoApproveLimitCents }: Terms,
  amountCents: number,
  intent: PayingIntent | undefined,
): boolean =>
  autoApproveLimitCents !== undefined && amountCents > autoApproveLimitCents && !(intent?.isByPerson ?? false);

/** The first rule that stands in the way of a charge. */
function refusalOf(situation: Situation, isVerification: boolean, amountCents: number, use: Use): Refusal | undefined {
  const { terms, availableCents } = situation;
  const { intent, isIncrement = false, isAllowed = false, bookedCents = 0 } = use;
  const standing = standingRefusal(situation, !isVerification && !isIncrement);
  if (standing !== undefined || isVerification) return standing;
  const limited = isAllowed ? undefined : limitRefusal(situation, amountCents);
  if (limited !== undefined) return limited;
  if (intent === undefined && terms.requireIntent === true) return { rule: 'intent_required' };
  if (needsApproval(terms, amountCents, intent)) return { rule: 'auto_approve_limit', asksPerson: true };
  const roomCents = availableCents + bookedCents;
  return amountCents > roomCents ? { rule: 'insufficient_funds', roomCents } : undefined;
}

/** Of what an agent declares, and again of what a person approves: no money and no intent are asked for yet. */
export function declarationRefusal(situation: Situation, amountCents: number): Refusal | undefined {
  const refused = standingRefusal(situation, true) ?? limitRefusal(situation, amountCents);
  if (refused !== undefined) return refused;
  return needsApproval(situation.terms, amountCents, undefined)
    ? { rule: 'auto_approve_limit', asksPerson: true }
    : undefined;
}

/** A merchant that is named before none, then the nearest amount, then the kind of payment, then the oldest. */
function bestFit({ amountCents, isRecurring, situation, intents }: Ask): PayingIntent | undefined {
  const rank = (intent: PayingIntent): readonly number[] => {
    const isOtherKind = Number(intent.isRecurring !== isRecurring);
    const gapCents = Math.abs(intent.amountCents - amountCents);
    return [isRecurring ? isOtherKind : 0, Number(!intent.isNamed), gapCents, isOtherKind];
  };
  const isBefore = (one: PayingIntent, other: PayingIntent): boolean => {
    const [ranks, others] = [rank(one), rank(other)];
    const at = ranks.findIndex((value, index) => value !== others[index]);
    return at >= 0 && Number(ranks[at]) < Number(others[at]);
  };
  return intents
    .filter((intent) => amountCents <= maxChargeCents(intent, situation.terms))
    .reduce<PayingIntent | undefined>(
      (best, intent) => (best === undefined || isBefore(intent, best) ? intent : best),
      undefined,
    );
}

/** Rules that an owner lifts for one charge. */
export const isLiftable = (rule: string): boolean =>
  ['max_transaction', 'daily_limit', 'monthly_limit', 'intent_required', 'auto_approve_limit'].includes(rule);

const isWhollyReversed = ({ isReversedWhole, reversedCents }: Earlier, amountCents: number): boolean =>
  isReversedWhole || (reversedCents > 0 && reversedCents >= amountCents);

export function outstandingCents(approvedCents: number, earlier: Earlier): number {
  if (!earlier.isBooked) return approvedCents;
  if (earlier.isFinal || isWhollyReversed(earlier, approvedCents)) return 0;
  return Math.max(0, approvedCents - earlier.collectedCents - earlier.reversedCents);
}

const declined = (rule: string, intent: PayingIntent | undefined, needsPerson = false): Decided => ({
  ...{ outcome: 'declined', approvedCents: 0, holdCents: 0, rule, needsPerson },
  intentId: intent?.id ?? null,
});

export function decideCharge(ask: Ask): Decided {
  const { amountCents, isVerification, situation, earlier } = ask;
  const found = isVerification ? undefined : bestFit(ask);
  const passed = (outcome: Outcome, approvedCents: number, rule: string, intent = found): Decided => ({
    ...{ outcome, approvedCents, holdCents: outstandingCents(approvedCents, earlier), rule },
    ...{ intentId: intent?.id ?? null, needsPerson: false },
  });
  if (isWhollyReversed(earlier, amountCents)) return declined('reversed_before', found);
  if (!isVerification && earlier.collectedCents >= amountCents) {
    const holdCents = earlier.isBooked ? 0 : Math.min(amountCents, situation.availableCents);
    return { ...passed('approved', amountCents, 'cleared_before'), holdCents };
  }
  const bookedCents = earlier.isBooked ? earlier.collectedCents : 0;
  const refusal = (cents: number, use: Partial<Use> = {}) =>
    refusalOf(situation, isVerification, cents, { intent: found, bookedCents, ...use });
  const whole = refusal(amountCents);
  if (whole === undefined) return passed('approved', amountCents, 'within_rules');
  const [allowing] = isLiftable(whole.rule)
    ? ask.allowing
        .filter((intent) => !isVerification && amountCents <= intent.amountCents)
        .toSorted((one, other) => one.amountCents - other.amountCents)
    : [];
  const nevertheless = allowing && refusal(amountCents, { intent: allowing, isAllowed: true });
  if (allowing !== undefined && nevertheless === undefined)
    return passed('approved', amountCents, 'allowed_once', allowing);
  if (ask.takesParts && !isVerification) {
    const part = partOf(amountCents, earlier.collectedCents, refusal);
    if (part !== undefined) return passed('partial', part, whole.rule);
    if (earlier.collectedCents > 0) {
      return { ...passed('partial', earlier.collectedCents, whole.rule), holdCents: 0 };
    }
  }
  if (nevertheless !== undefined) return declined(nevertheless.rule, allowing);
  return declined(whole.rule, found, whole.asksPerson === true && !earlier.isFinal);
}

/** The most that limits and money leave, more than was collected anyway; undefined where another rule refuses. */
function partOf(
  amountCents: number,
  collectedCents: number,
  refusal: (cents: number) => Refusal | undefined,
): number | undefined {
  let cents = amountCents;
  for (;;) {
    const refused = refusal(cents);
    if (refused === undefined) return cents;
    if (refused.roomCents === undefined || refused.roomCents <= collectedCents) return undefined;
    cents = refused.roomCents;
  }
}

export type IncrementAsk = {
  /** Why nothing more can be approved for the payment; undefined where it is open. */
  readonly endedBy: string | undefined;
  /** What the payment may cost already. */
  readonly soFarCents: number;
  readonly amountCents: number;
  readonly takesParts: boolean;
  readonly situation: Situation;
  /** The one that the payment was for. */
  readonly intent: PayingIntent | undefined;
  /** It pays for the payment still, and for no other one. */
  readonly isPaying: boolean;
};

/** Like a charge of the whole new amount by the intent of the payment, for which only the increment is asked. */
export function decideIncrease(ask: IncrementAsk): Pick<Decided, 'outcome' | 'approvedCents' | 'rule'> {
  const { endedBy, soFarCents, amountCents, takesParts, situation, intent, isPaying } = ask;
  const no = (rule: string) => ({ outcome: 'declined' as const, approvedCents: 0, rule });
  if (endedBy !== undefined) return no(endedBy);
  const wholeCents = soFarCents + amountCents;
  const fits = intent !== undefined && isPaying && wholeCents <= maxChargeCents(intent, situation.terms);
  const paying = fits ? intent : undefined;
  const refusal = (cents: number) =>
    refusalOf(situation, false, cents, { intent: paying, isIncrement: true, bookedCents: soFarCents });
  const whole = refusal(wholeCents);
  const part = whole !== undefined && takesParts ? partOf(wholeCents, soFarCents, refusal) : undefined;
  if (whole !== undefined && part === undefined) return no(whole.rule);
  // Another way through the rules than by its intent would leave the intent with less than was paid.
  if (intent !== undefined && paying === undefined) return no('intent');
  return part === undefined
    ? { outcome: 'approved', approvedCents: amountCents, rule: 'within_rules' }
    : { outcome: 'partial', approvedCents: part - soFarCents, rule: whole?.rule ?? '' };
}
