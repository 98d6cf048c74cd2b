/**
 * The rules of a subscription: its events, the number per owner, and when a failing receiver is disabled. Pure.
 * @module
 */
import { hour, second } from '../../../kernel/instant.ts';

export const webhookStatuses = ['active', 'paused', 'disabled'] as const;
export type WebhookStatus = (typeof webhookStatuses)[number];

const everyEvent = '*';

export type WantedEvents = { readonly events: string[] } | { readonly refused: string };

/** Each name once, in the order given; `*` stands alone. Reserved names are in the catalog and may be named. */
export function wantedEvents(names: readonly string[], isKnown: (name: string) => boolean): WantedEvents {
  const events = [...new Set(names)];
  if (events.length === 0) return { refused: 'name at least one event, or "*" for all' };
  if (events.includes(everyEvent)) {
    return events.length === 1
      ? { events }
      : { refused: '"*" already means every event; send it alone or leave it out' };
  }
  const unknown = events.filter((name) => !isKnown(name));
  if (unknown.length === 0) return { events };
  const quoted = unknown.slice(0, 5).map((name) => `"${name.slice(0, 60)}"`);
  return { refused: `unknown event ${quoted.join(', ')}; use names of the event catalog` };
}

/**
 * Why an owner cannot set this status; undefined where it can. Only `active` enables a disabled subscription, so that
 * a pause does not hide that its receiver failed.
 */
export const whyNotSet = (from: WebhookStatus, to: WebhookStatus | undefined): string | undefined =>
  from === 'disabled' && to === 'paused' ? 'it is disabled, and nothing is sent anyway; set active first' : undefined;

/** Why a deployment that delivers over https only sends nothing to this URL; undefined where it may send. */
export const whyNotHttps = (url: string, httpsOnly: boolean): string | undefined =>
  httpsOnly && !/^https:/i.test(url)
    ? "the URL's scheme is http, and this deployment delivers over https only (BURSAR_WEBHOOKS_HTTPS_ONLY=on)"
    : undefined;

/** The secret's last four characters, so that an owner can tell two apart. */
export const hintOf = (secret: string): string => `${secret.slice(0, 6)}…${secret.slice(-4)}`;

export type Health = {
  readonly failuresInRow: number;
  /** Attempts in a row that got no answer: none in time, or no connection at all. */
  readonly unansweredInRow: number;
  /** Business time of the first failure after the last success. */
  readonly failingSince: Date | null;
};
export const healthy: Health = { failuresInRow: 0, unansweredInRow: 0, failingSince: null };

export type Outcome = 'success' | 'failure' | 'timeout' | 'unreachable' | 'gone';

const unanswered: readonly Outcome[] = ['timeout', 'unreachable'];

/** How a receiver is doing after these outcomes, in their order. */
export function healthAfter(before: Health, outcomes: readonly Outcome[], now: Date): Health {
  return outcomes.reduce<Health>((health, outcome) => {
    if (outcome === 'success') return healthy;
    return {
      failuresInRow: health.failuresInRow + 1,
      unansweredInRow: unanswered.includes(outcome) ? health.unansweredInRow + 1 : 0,
      failingSince: health.failingSince ?? now,
    };
  }, before);
}

export const unansweredUntilProbing = 5;
/**
 * From a first attempt without an answer to the next one at a receiver that is probed. A refused connection takes a
 * millisecond, so without a rest all that waits would use up its first attempt there.
 */
export const probeRestMs = second;

export const isProbed = (unansweredInRow: number): boolean => unansweredInRow >= unansweredUntilProbing;

/** Of the places of a receiver, those that first attempts leave to retries, however many of them wait. */
export const placesForRetries = (perReceiver: number): number => Math.floor(perReceiver / 20);
const failuresUntilDisabled = 20;
const failingUntilDisabledMs = 72 * hour;

/** Why the subscription must be disabled now; undefined while it may go on. */
export function whyDisabled(health: Health, outcomes: readonly Outcome[], now: Date): string | undefined {
  if (outcomes.includes('gone')) return 'the receiver answered 410 Gone';
  if (health.failingSince === null || health.failuresInRow < failuresUntilDisabled) return undefined;
  const failingMs = now.getTime() - health.failingSince.getTime();
  if (failingMs < failingUntilDisabledMs) return undefined;
  return `${health.failuresInRow} failures in a row and none delivered for ${Math.floor(failingMs / hour)} h`;
}
