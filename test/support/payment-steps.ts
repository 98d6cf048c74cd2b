/**
 * Steps of a history of card payments for the model and for the real stack: messages that come early, late, twice and for
 * another card, intents, freezes and moves of the clock. A step is a few numbers; what it means follows from what came
 * before it, so a history that is shortened still means something.
 * @module
 */
import fc from 'fast-check';
import { hour } from '../../src/kernel/instant.ts';
import type { Message, ModelIntent, PaymentModel } from './payment-model.ts';

const weights = {
  ...{ authorize: 9, late: 3, deliver: 3, increment: 6, clear: 9, reverse: 4, refund: 3, credit: 1, advise: 3 },
  ...{ repeat: 5, stranger: 1, declare: 6, cancel: 1, freeze: 1, advance: 3 },
} as const;
const kinds = Object.keys(weights) as (keyof typeof weights)[];

export const anyStep = fc.record({
  kind: fc.oneof(...kinds.map((kind) => ({ weight: weights[kind], arbitrary: fc.constant(kind) }))),
  pick: fc.nat(999),
  amountCents: fc.oneof(fc.constantFrom(1, 500, 1_000, 1_250), fc.integer({ min: 1, max: 3_500 })),
  isWhole: fc.boolean(),
  isFlagged: fc.boolean(),
});
export type Step = typeof anyStep extends fc.Arbitrary<infer S> ? S : never;

export type Action =
  | { readonly do: 'send'; readonly message: Message }
  | { readonly do: 'declare'; readonly card: number; readonly amountCents: number; readonly ttlMs: number }
  | { readonly do: 'cancel'; readonly intent: ModelIntent }
  | { readonly do: 'freeze'; readonly card: number }
  | { readonly do: 'advance'; readonly ms: number };

/** No sum of these is the age at which a hold, an early message or an intent ends. */
const pausesMs = [5.3, 31.7, 100.9].map((hours) => hours * hour);
const ttlMs = 40 * 24 * hour + 1_234_567;
/** Refunds that name no payment bring money, so that a long history does not run dry. */
const creditCents = 9_000;
const recent = 10;

/** What a step means now. Undefined: there is nothing yet that it could be about. */
export function actionsOf(model: PaymentModel, idOf: (serial: number) => string) {
  const asked: Message[] = [];
  const undelivered: Message[] = [];
  const sent: Message[] = [];
  let serial = 0;
  const next = (kind: Message['kind']): string => `${kind.slice(0, 3)}_${idOf(serial++)}`;
  const oneOf = <T>(items: readonly T[], pick: number): T | undefined =>
    items[items.length - 1 - (pick % Math.min(items.length, recent))];

  const authorization = ({ pick, amountCents, isFlagged }: Step): Message => {
    const id = next('authorization');
    const isVerification = pick % 20 === 0;
    const message: Message = {
      ...{ kind: 'authorization', id, about: id, card: pick % model.cards.length },
      ...{ amountCents: isVerification ? 0 : amountCents, partialSupported: isFlagged },
    };
    asked.push(message);
    return message;
  };

  function messageOf(step: Step): Message | undefined {
    const { kind, pick, amountCents, isWhole, isFlagged } = step;
    if (kind === 'authorize') return authorization(step);
    if (kind === 'repeat') return oneOf(sent, pick);
    if (kind === 'deliver') return undelivered.splice(pick % Math.max(1, undelivered.length), 1)[0];
    if (kind === 'credit') {
      return {
        kind: 'refund',
        id: next('refund'),
        about: null,
        card: pick % model.cards.length,
        amountCents: creditCents,
      };
    }
    const of = oneOf(asked, pick);
    if (of === undefined) return undefined;
    const about = { about: of.id, card: of.card };
    const known = of.amountCents ?? 0;
    if (kind === 'increment') {
      return { kind, id: next(kind), ...about, amountCents, partialSupported: isFlagged };
    }
    if (kind === 'clear') {
      const cents = isWhole ? known : amountCents - 1;
      return { kind: 'clearing', id: next('clearing'), ...about, amountCents: cents, isFinal: isFlagged };
    }
    if (kind === 'reverse') {
      return { kind: 'reversal', id: next('reversal'), ...about, amountCents: isWhole ? undefined : amountCents };
    }
    if (kind === 'refund') return { kind, id: next(kind), ...about, amountCents };
    if (kind === 'advise' && known > 0) {
      const message = { kind: 'advice' as const, id: next('advice'), ...about, authorization: of };
      return { ...message, amountCents: isWhole ? known : Math.min(known, amountCents) };
    }
    // Of a card that is not the authorization's; before the authorization it would wait for it.
    const isKnown = model.payments.has(of.id);
    if (kind !== 'stranger' || !isKnown) return undefined;
    const card = (of.card + 1) % model.cards.length;
    return { kind: 'clearing', id: next('clearing'), about: of.id, card, amountCents, isFinal: isFlagged };
  }

  return (step: Step): Action | undefined => {
    const { kind, pick, amountCents } = step;
    if (kind === 'advance') return { do: 'advance', ms: pausesMs[pick % pausesMs.length] as number };
    if (kind === 'freeze') return { do: 'freeze', card: pick % model.cards.length };
    if (kind === 'declare') return { do: 'declare', card: pick % model.cards.length, amountCents, ttlMs };
    if (kind === 'cancel') {
      const intent = oneOf(model.intents, pick);
      return intent === undefined ? undefined : { do: 'cancel', intent };
    }
    if (kind === 'late') {
      undelivered.push(authorization(step));
      return undefined;
    }
    const message = messageOf(step);
    if (message === undefined) return undefined;
    sent.push(message);
    return { do: 'send', message };
  };
}
