/**
 * The card processor as Bursar uses it. Expected answers are typed outcomes; an unreachable processor, or an
 * undocumented answer, is a DomainError `unavailable`. A card number or CVC never passes this port.
 * @module
 */
import type { Id } from '../../../kernel/ids.ts';

export type CardUsage = 'single' | 'multi';
export type ProcessorCardState = 'active' | 'frozen' | 'closed';

export type IssuedCard = {
  /** The processor's own reference; the network names the card by it. */
  readonly cardRef: string;
  readonly last4: string;
  readonly brand: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
};

/** `closed`: the card is closed at the processor and takes no other state. */
export type CardStateOutcome =
  | { readonly outcome: 'set' }
  | { readonly outcome: 'refused'; readonly reason: 'unknown_card' | 'closed' };

/**
 * `expiresAt` is that of the first mint under this key, an ISO instant of real time. `not_accepted`: the processor will
 * not take this order, however often it is sent.
 */
export type MintOutcome =
  | { readonly outcome: 'minted'; readonly paymentToken: string; readonly expiresAt: string }
  | { readonly outcome: 'refused'; readonly reason: 'unknown_card' | 'closed' | 'not_accepted' };

export type CardProcessor = {
  /** The same key gives the same card. */
  issueCard(order: {
    readonly cardId: Id<'card'>;
    readonly usage: CardUsage;
    readonly idempotencyKey: string;
  }): Promise<IssuedCard>;
  /** Setting the state a card already has is `set`. */
  setCardState(change: { readonly cardRef: string; readonly state: ProcessorCardState }): Promise<CardStateOutcome>;
  /** An opaque token for one payment at one merchant up to a ceiling. The same key gives the same token. */
  mintPaymentToken(order: {
    readonly cardRef: string;
    readonly merchantId: string;
    readonly ceilingCents: number;
    readonly expiresAt: Date;
    readonly idempotencyKey: string;
  }): Promise<MintOutcome>;
};
