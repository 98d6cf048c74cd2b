/**
 * Counts wrong secrets and signatures by client address: ten a minute of real time, per process; further ones are
 * refused as `rate_limited`. Right ones are never counted, so one caller cannot lock out another.
 * @module
 */
import { DomainError } from '../kernel/errors.ts';
import { minute, second } from '../kernel/instant.ts';
import { addressGroupOf } from './client-address.ts';

/** Counts one failure of that address. Throws `rate_limited` when it is one too many. */
export type FailureLimit = (client: string) => void;

export const failuresPerMinute = 10;
const rememberedAddresses = 10_000;

/** `what`: in the plural, `wrong dashboard secrets`. */
export function createFailureLimit(what: string, realNow: () => number = Date.now): FailureLimit {
  const failures = new Map<string, { count: number; until: number }>();
  return (client) => {
    const address = addressGroupOf(client);
    const now = realNow();
    const known = failures.get(address);
    const recent = known !== undefined && known.until > now ? known : undefined;
    if (recent !== undefined && recent.count >= failuresPerMinute) throw tooMany(what, recent.until - now);
    if (failures.size >= rememberedAddresses) forgetPast(failures, now);
    if (recent !== undefined) {
      recent.count += 1;
      return;
    }
    failures.delete(address); // So that the map is in the order of `until`.
    failures.set(address, { count: 1, until: now + minute });
  };
}

function tooMany(what: string, waitMs: number): DomainError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / second));
  const message = `more than ${failuresPerMinute} ${what} in a minute; wait ${retryAfterSeconds} s`;
  return new DomainError('rate_limited', message, { retryAfterSeconds });
}

function forgetPast(failures: Map<string, { until: number }>, now: number): void {
  // A flood from more addresses than that within a minute: the oldest are forgotten first.
  for (const [address, { until }] of failures) {
    if (until > now && failures.size < rememberedAddresses) return;
    failures.delete(address);
  }
}
