/**
 * The orders of a ledger history: top-ups, transfers between wallets, splits and transfers of agents, drawn by a seed,
 * each with the movements of money that it asks for. Sends nothing.
 * @module
 */
import { randomUUID } from 'node:crypto';
import type { Random } from '../load/random.ts';

export type Mover = {
  readonly token: string;
  /** Undefined: the owner. */
  readonly agentId?: string;
  /** The account that it draws on; the owner may name others. */
  readonly source: string;
};

export type Book = {
  readonly ownerId: string;
  /** The first is the default wallet. */
  readonly wallets: readonly string[];
  readonly owner: Mover;
  readonly agents: readonly Mover[];
};

/** `from` undefined: from outside. Both are names of accounts. */
export type Movement = { readonly from: string | undefined; readonly to: string; readonly amountCents: number };

export type Order = {
  readonly kind: 'top-up' | 'inner top-up' | 'transfer' | 'agent transfer' | 'split' | 'agent split';
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly mover: Mover;
  /** Undefined: it is sent once and never repeated. */
  readonly key: string | undefined;
  /** Stored with what it made. A top-up stores none, so the amount of each order is another one. */
  readonly mark: string;
  readonly amountCents: number;
  readonly movements: readonly Movement[];
};

export const accountOf = (walletId: string): string => `wallet:${walletId}:available`;

const euros = (amountCents: number): number => amountCents / 100;

export function drawOrder(book: Book, step: number, random: Random): Order {
  const kind = random.pick(kinds);
  const amountCents = 100 + step;
  const mark = `step ${step}`;
  const shared = { kind, mark, amountCents };
  if (kind === 'top-up') return { ...shared, key: randomUUID(), ...topUp(book, amountCents, random) };
  const mover = kind.startsWith('agent') ? random.pick(book.agents) : book.owner;
  const fromWalletId = mover.agentId === undefined ? random.pick(book.wallets) : undefined;
  const from = fromWalletId === undefined ? mover.source : accountOf(fromWalletId);
  const targets = book.wallets.filter((one) => accountOf(one) !== from);
  if (kind === 'inner top-up') {
    const to = random.pick(targets);
    const body = { amountEuros: euros(amountCents), fromWalletId };
    const movements = [{ from, to: accountOf(to), amountCents }];
    return { ...shared, mover, key: randomUUID(), path: `/wallets/${to}/fund`, body, movements };
  }
  if (kind === 'split' || kind === 'agent split') {
    const to = [...targets, random.pick(targets)];
    const amounts = split(amountCents, to.length, random);
    const splits = to.map((toWalletId, n) => ({
      toWalletId,
      reference: `${mark} line ${n}`,
      ...(amounts.percents === undefined
        ? { amountEuros: euros(amounts.cents[n] as number) }
        : { percent: amounts.percents[n] }),
    }));
    const body = { fromWalletId, totalAmountEuros: euros(amountCents), splits };
    const movements = to.map((one, n) => ({ from, to: accountOf(one), amountCents: amounts.cents[n] as number }));
    return { ...shared, mover, key: randomUUID(), path: '/transfers/split', body, movements };
  }
  const to = random.pick(targets);
  const body = { fromWalletId, toWalletId: to, amountEuros: euros(amountCents), metadata: { mark } };
  const movements = [{ from, to: accountOf(to), amountCents }];
  const key = random.chance(0.9) ? randomUUID() : undefined;
  return { ...shared, mover, key, path: '/transfers', body, movements };
}

function topUp({ wallets, owner }: Book, amountCents: number, random: Random) {
  const walletId = random.pick(wallets);
  const isNamed = random.chance(0.5);
  const amount = { amountEuros: euros(amountCents) };
  return {
    mover: owner,
    path: isNamed ? `/wallets/${walletId}/fund` : '/fund',
    body: isNamed ? amount : { ...amount, walletId },
    movements: [{ from: undefined, to: accountOf(walletId), amountCents }],
  };
}

/** Each percentage is rounded down to the cent, and the last line takes the rest. */
function split(amountCents: number, lines: number, random: Random) {
  if (random.chance(0.5)) {
    const first = Array.from({ length: lines - 1 }, () => 1 + random.below(Math.floor(amountCents / lines)));
    return { cents: [...first, amountCents - sum(first)], percents: undefined };
  }
  const percents = Array.from({ length: lines - 1 }, () => 1 + random.below(Math.floor(100 / lines)));
  const first = percents.map((percent) => Math.floor((amountCents * percent) / 100));
  return { cents: [...first, amountCents - sum(first)], percents: [...percents, 100 - sum(percents)] };
}

const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);

const kinds = (
  [
    [3, 'top-up'],
    [3, 'inner top-up'],
    [4, 'transfer'],
    [4, 'agent transfer'],
    [2, 'split'],
    [1, 'agent split'],
  ] as const
).flatMap(([weight, kind]) => Array.from({ length: weight }, () => kind));
