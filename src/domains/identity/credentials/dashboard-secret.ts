/**
 * Judges the dashboard's secret: constant time, one or two values (the second during a rotation). The right one is
 * always accepted; after ten wrong ones in a minute (real time) from one address, further wrong ones of that address
 * are refused as too many. Without a configured value every secret is wrong.
 * @module
 */
import ipaddr from 'ipaddr.js';
import { DomainError } from '../../../kernel/errors.ts';
import { minute, second } from '../../../kernel/instant.ts';
import { sameSecret } from '../../../vault/secret-hash.ts';

/** Whether it is the secret. Throws `rate_limited` for a wrong one that is one too many. */
export type DashboardSecret = (secret: string, client: string) => boolean;

/** `configured`: BURSAR_DASHBOARD_SECRET as it stands in the environment. Throws the sentence to stop the start with. */
export function createDashboardSecret(
  configured: string | undefined,
  realNow: () => number = Date.now,
): DashboardSecret {
  const accepted = readDashboardSecrets(configured);
  const failures = new Map<string, { count: number; until: number }>();
  return (secret, client) => {
    // Compared before anything is counted: whoever guesses must not lock out the holder, who may share the address.
    // Every value is compared, so that the time taken does not tell which one came close.
    if (accepted.filter((value) => sameSecret(value, secret)).length > 0) return true;
    const address = placeOf(client);
    const now = realNow();
    const known = failures.get(address);
    const recent = known !== undefined && known.until > now ? known : undefined;
    if (recent !== undefined && recent.count >= failuresPerMinute) throw tooMany(recent.until - now);
    if (failures.size >= rememberedAddresses) forgetPast(failures, now);
    failures.set(address, { count: (recent?.count ?? 0) + 1, until: recent?.until ?? now + minute });
    return false;
  };
}

export function readDashboardSecrets(configured: string | undefined): string[] {
  const values = (configured ?? '').split(',').map((value) => value.trim());
  const given = values.filter((value) => value !== '');
  if (given.length > 2)
    throw new Error('BURSAR_DASHBOARD_SECRET takes two values at most: the new one and the old one');
  if (given.some((value) => Buffer.byteLength(value) < shortestBytes)) {
    throw new Error(
      `BURSAR_DASHBOARD_SECRET must be ${shortestBytes} bytes or more; make one with: openssl rand -hex 32`,
    );
  }
  return given;
}

const shortestBytes = 32;
const failuresPerMinute = 10;
const rememberedAddresses = 10_000;

function tooMany(waitMs: number): DomainError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / second));
  const message = `more than ${failuresPerMinute} wrong dashboard secrets in a minute; wait ${retryAfterSeconds} s`;
  return new DomainError('rate_limited', message, { retryAfterSeconds });
}

function forgetPast(failures: Map<string, { until: number }>, now: number): void {
  for (const [address, { until }] of failures) if (until <= now) failures.delete(address);
  // A flood from more addresses than that within a minute: the oldest are forgotten first.
  for (const address of failures.keys()) {
    if (failures.size < rememberedAddresses) return;
    failures.delete(address);
  }
}

/** IPv6 clients count by their /64, as for the rate limit. */
function placeOf(client: string): string {
  if (!ipaddr.isValid(client)) return 'unknown';
  const address = ipaddr.process(client);
  return address.kind() === 'ipv4' ? address.toString() : address.toNormalizedString().split(':').slice(0, 4).join(':');
}
