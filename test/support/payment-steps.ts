/**
 * Steps of a history of card payments for the model and for the real stack: messages that come early, late, twice and
 * for another card, commands of owner and agent, and moves of the clock. A step is a few numbers; what it means
 * follows from what came before it, so a history that is shortened still means something.
 * @module
 */
import fc from 'fast-check';
import { hour, minute } from '../../src/kernel/instant.ts';
import { isLiftable } from './payment-decisions.ts';
import { lastOfLine } from './payment-holders.ts';
import type { PaymentModel } from './payment-model.ts';
import type { Declaration, Message, ModelIntent, Payment } from './payment-shapes.ts';

const weights = {
  ...{ authorize: 9, again: 7, late: 3, deliver: 3, increment: 6, clear: 9, reverse: 4, refund: 3, credit: 2 },
  ...{ advise: 3, repeat: 5, stranger: 2, declare: 7, declareRecurring: 2, approve: 3, deny: 1, cancel: 1 },
  ...{ allowOnce: 3, freezeAgent: 1, unfreezeAgent: 3, freezeCard: 1, unfreezeCard: 4, closeCard: 1, rotateCard: 1 },
  ...{ issueCard: 5, advance: 3 },
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
  | { readonly do: 'declare'; readonly declaration: Declaration }
  | { readonly do: 'approve' | 'deny' | 'cancel'; readonly intent: ModelIntent }
  | { readonly do: 'allowOnce'; readonly payment: Payment }
  | { readonly do: 'freezeAgent' | 'unfreezeAgent'; readonly agent: number }
  | { readonly do: 'freezeCard' | 'unfreezeCard' | 'closeCard' | 'rotateCard'; readonly card: number }
  | { readonly do: 'issueCard'; readonly agent: number; readonly usage: 'single' | 'multi' }
  | { readonly do: 'advance'; readonly ms: number };

/** No sum of these is the age at which a hold, an early message, a request or an intent ends. */
const pausesMs = [5.3, 31.7, 100.9].map((hours) => hours * hour);
const ttlMs = 39_991 * minute;
const recurringTtlMs = 28_801 * minute;
/** Refunds that name no payment bring money, so that a long history does not run dry. */
const creditCents = 15_000;
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
  const cardsWhere = (isWanted: (card: (typeof model.cards)[number]) => boolean): number[] =>
    [...model.cards.keys()].filter((index) => isWanted(model.cards[index] as (typeof model.cards)[number]));
  /** Mostly one that is open; now and then a recent one in whatever state. */
  function cardFor(pick: number): number {
    const open = cardsWhere(({ status }) => status !== 'closed');
    const all = [...model.cards.keys()];
    return (pick % 11 === 10 || open.length === 0 ? oneOf(all, pick) : open[pick % open.length]) ?? 0;
  }

  const authorization = ({ pick, amountCents, isWhole, isFlagged }: Step, card = cardFor(pick)): Message => {
    const id = next('authorization');
    const isVerification = pick % 20 === 0;
    const message: Message = {
      ...{ kind: 'authorization', id, about: id, card, isRecurring: isWhole && pick % 3 === 0 },
      ...{ amountCents: isVerification ? 0 : amountCents, partialSupported: isFlagged },
    };
    asked.push(message);
    return message;
  };
  /** Of a recurring intent, or of what a person has approved or allowed about a declined charge. */
  const isSpecial = ({ allows, asksAbout, recurring }: ModelIntent): boolean =>
    (allows ?? asksAbout ?? recurring) !== null;
  /** A charge for what is open, or once more what was declined; with as much or less. */
  function again(step: Step): Message | undefined {
    const declined = [...model.payments.values()].filter(({ declineRule }) => declineRule !== null);
    const open = model.intents.filter(({ status, matchedBy }) => status === 'approved' && matchedBy === null);
    const special = open.filter(isSpecial);
    const intent = oneOf(step.pick % 3 === 0 || special.length === 0 ? open : special, step.pick);
    const payment = intent === undefined || step.pick % 5 === 0 ? oneOf(declined, step.pick) : undefined;
    const amountCents = payment?.requestedCents ?? intent?.amountCents;
    if (amountCents === undefined || amountCents === 0) return undefined;
    const less = step.pick % 5 === 1 ? Math.max(1, amountCents - 100) : amountCents;
    return authorization({ ...step, pick: 1, amountCents: less }, payment?.card ?? intent?.card);
  }
  /** What later messages are about: a recent charge, now and then one that such an intent pays for. */
  function charged(pick: number): Message | undefined {
    const special = asked.filter(({ id }) => {
      const payment = model.payments.get(id);
      return payment?.status === 'pending' && payment.intent !== null && isSpecial(payment.intent);
    });
    return pick % 3 === 0 && special.length > 0 ? oneOf(special, pick) : oneOf(asked, pick);
  }

  function messageOf(step: Step): Message | undefined {
    const { kind, pick, amountCents, isWhole, isFlagged } = step;
    if (kind === 'authorize') return authorization(step);
    if (kind === 'again') return again(step);
    if (kind === 'repeat') return oneOf(sent, pick);
    if (kind === 'deliver') return undelivered.splice(pick % Math.max(1, undelivered.length), 1)[0];
    if (kind === 'credit') {
      const credited = { about: null, card: cardFor(pick), amountCents: creditCents };
      return { kind: 'refund', id: next('refund'), ...credited };
    }
    const of = charged(pick);
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
    return kind === 'stranger' && model.payments.has(of.id) ? stranger(step, of) : undefined;
  }
  /** Of another card than the authorization's, also of the one in its place. Before the authorization it would wait. */
  function stranger({ pick, amountCents, isWhole, isFlagged }: Step, of: Message): Message {
    const inItsPlace = lastOfLine(model.cards, of.card);
    const card = isWhole && inItsPlace !== of.card ? inItsPlace : (of.card + 1) % model.cards.length;
    const kind = (['clearing', 'reversal', 'refund', 'increment'] as const)[pick % 4] ?? 'clearing';
    const isFinal = kind === 'clearing' ? { isFinal: isFlagged } : {};
    return { kind, id: next(kind), about: of.id, card, amountCents, ...isFinal };
  }

  function declaration({ kind, pick, amountCents, isFlagged, isWhole }: Step): Declaration {
    const card = cardFor(pick);
    const agent = model.cards[card]?.agent ?? 0;
    const planned = { agent, card: pick % 5 === 2 ? null : card, amountCents, isNamed: isFlagged };
    if (kind === 'declare') return { ...planned, ttlMs, recurring: null };
    const recurring = { rhythm: isWhole ? ('daily' as const) : ('weekly' as const), tolerancePercent: 10 };
    return { ...planned, ttlMs: recurringTtlMs, recurring };
  }

  /** Mostly an intent that the command is for; now and then any. */
  function commandOn(kind: 'approve' | 'deny' | 'cancel', pick: number): Action | undefined {
    const waiting = model.intents.filter(({ status }) => status === 'pending_approval');
    const isForAny = kind === 'cancel' || pick % 6 === 5 || waiting.length === 0;
    const intent = oneOf(isForAny ? model.intents : waiting, pick);
    return intent === undefined ? undefined : { do: kind, intent };
  }
  /** What is missing first: each agent is to have one card for any number of payments and one for a single payment. */
  function issue(pick: number): Action | undefined {
    const agent = pick % model.agents.length;
    const has = (usage: 'single' | 'multi'): boolean =>
      cardsWhere((card) => card.agent === agent && card.usage === usage && card.status !== 'closed').length > 0;
    const usage = (['multi', 'single'] as const).find((one) => !has(one));
    return usage === undefined ? undefined : { do: 'issueCard', agent, usage };
  }
  /** Mostly one that the command changes. */
  function commandOnCard(kind: 'freezeCard' | 'unfreezeCard' | 'closeCard' | 'rotateCard', pick: number): Action {
    const frozen = cardsWhere(({ status }) => status === 'frozen');
    if (pick % 6 === 5) return { do: kind, card: oneOf([...model.cards.keys()], pick) ?? 0 };
    const isForAny = kind !== 'unfreezeCard' || frozen.length === 0;
    return { do: kind, card: isForAny ? cardFor(pick) : (frozen[pick % frozen.length] as number) };
  }
  function commandOnAgent(kind: 'freezeAgent' | 'unfreezeAgent', pick: number): Action {
    const frozen = [...model.agents.keys()].filter((agent) => model.agents[agent]?.status === 'frozen');
    const isForAny = kind === 'freezeAgent' || pick % 6 === 5 || frozen.length === 0;
    return { do: kind, agent: isForAny ? pick % model.agents.length : (frozen[pick % frozen.length] as number) };
  }
  /** Mostly a charge that the owner may let pass. */
  function allowOnce(pick: number): Action | undefined {
    const declined = [...model.payments.values()].filter(({ declineRule }) => declineRule !== null);
    const liftable = declined.filter(
      ({ status, declineRule, card }) =>
        status === 'failed' && isLiftable(declineRule ?? '') && model.cards[card]?.status === 'active',
    );
    const some = pick % 3 === 2 || liftable.length === 0 ? declined : liftable;
    const payment = oneOf(pick % 7 === 6 ? [...model.payments.values()] : some, pick);
    return payment === undefined ? undefined : { do: 'allowOnce', payment };
  }

  return (step: Step): Action | undefined => {
    const { kind, pick } = step;
    if (kind === 'advance') return { do: 'advance', ms: pausesMs[pick % pausesMs.length] as number };
    if (kind === 'freezeAgent' || kind === 'unfreezeAgent') return commandOnAgent(kind, pick);
    if (kind === 'freezeCard' || kind === 'unfreezeCard' || kind === 'closeCard' || kind === 'rotateCard') {
      return commandOnCard(kind, pick);
    }
    if (kind === 'issueCard') return issue(pick);
    if (kind === 'declare' || kind === 'declareRecurring') return { do: 'declare', declaration: declaration(step) };
    if (kind === 'approve' || kind === 'deny' || kind === 'cancel') return commandOn(kind, pick);
    if (kind === 'allowOnce') return allowOnce(pick);
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
