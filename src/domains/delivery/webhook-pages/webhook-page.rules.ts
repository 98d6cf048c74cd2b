/**
 * What the page of a subscription shows of a time: its equal parts, and what the hours of each come to. Pure; `now` is
 * business time.
 * @module
 */
import { day, hour } from '../../../kernel/instant.ts';

export const defaultLinkHours = 7 * 24;
export const longestLinkHours = 30 * 24;

export const periods = ['24h', '7d'] as const;
export type Period = (typeof periods)[number];

const forms: Readonly<Record<Period, { readonly lengthMs: number; readonly partMs: number }>> = {
  '24h': { lengthMs: day, partMs: hour },
  '7d': { lengthMs: 7 * day, partMs: 6 * hour },
};

/** The attempts that began in one hour. */
export type HourOfAttempts = {
  readonly hour: Date;
  readonly attempts: number;
  readonly failures: number;
  /** Attempts with an answer, how long these took together, and the slowest of them. */
  readonly answered: number;
  readonly answerMs: number;
  readonly slowestMs: number;
};

export type Sum = {
  readonly attempts: number;
  readonly failures: number;
  /** Of the answers, rounded; null, as the slowest, where none came. */
  readonly meanMs: number | null;
  readonly slowestMs: number | null;
};
export type Part = Sum & { readonly from: Date };

/** From the first instant of the first part to the end of the last one, which has `now` in it. */
export type Span = { readonly from: Date; readonly to: Date; readonly partMs: number };

export function spanOf(period: Period, now: Date): Span {
  const { lengthMs, partMs } = forms[period];
  const to = (Math.floor(now.getTime() / partMs) + 1) * partMs;
  return { from: new Date(to - lengthMs), to: new Date(to), partMs };
}

/** Every part of the span, oldest first, also those without attempts. Hours outside the span are left out. */
export function partsOf({ from, to, partMs }: Span, hours: readonly HourOfAttempts[]): Part[] {
  const perPart = Map.groupBy(hours, ({ hour: at }) => Math.floor((at.getTime() - from.getTime()) / partMs));
  return Array.from({ length: (to.getTime() - from.getTime()) / partMs }, (_, place) => ({
    from: new Date(from.getTime() + place * partMs),
    ...sumOf(perPart.get(place) ?? []),
  }));
}

export function sumOf(hours: readonly HourOfAttempts[]): Sum {
  const total = (of: (one: HourOfAttempts) => number): number => hours.reduce((sum, one) => sum + of(one), 0);
  const answered = total((one) => one.answered);
  return {
    attempts: total(({ attempts }) => attempts),
    failures: total(({ failures }) => failures),
    meanMs: answered === 0 ? null : Math.round(total(({ answerMs }) => answerMs) / answered),
    slowestMs: answered === 0 ? null : Math.max(...hours.map(({ slowestMs }) => slowestMs)),
  };
}

/** The host alone: path and query of a receiver's URL may be a secret. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'unknown host');
