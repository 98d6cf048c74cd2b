/**
 * A card network that charges a card on request, as Bursar uses it; sandbox deployments only. An unreachable network,
 * or an undocumented answer, is a DomainError `unavailable`.
 * @module
 */
export type NetworkCharge = {
  /** Sent back with the authorization, which is evaluated by it. */
  readonly simulationId: string;
  /** The processor's reference, never a number. */
  readonly cardRef: string;
  readonly amountCents: number;
  readonly merchant: { readonly name: string; readonly mcc: string; readonly country: string };
  readonly idempotencyKey: string;
};

/**
 * `asked`: Bursar was asked and has answered; an approved charge is cleared as the merchant clears. `undecided`: the
 * network decided without hearing Bursar's answer, and takes back whatever was held. `refused`: it charges nothing.
 */
export type ChargeOutcome =
  | { readonly outcome: 'asked'; readonly authorizationId: string; readonly transactionId: string }
  | { readonly outcome: 'undecided'; readonly authorizationId: string }
  | { readonly outcome: 'refused'; readonly reason: ChargeRefusal };

const chargeRefusals = ['unknown_card', 'not_accepted'] as const;
export type ChargeRefusal = (typeof chargeRefusals)[number];

export type NetworkSimulator = {
  /** Repeating with the same key charges once and finds the outcome of the first time. */
  charge(order: NetworkCharge): Promise<ChargeOutcome>;
};
