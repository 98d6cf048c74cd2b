/**
 * Checks the dashboard's secret: constant time, one or two values (the second during a rotation). The right one is
 * always accepted; after ten wrong ones in a minute (real time) from one address, further wrong ones of that address
 * are refused as too many. Without a configured value every secret is wrong. The key that reads the sandbox's clock is
 * evaluated alike.
 * @module
 */
import { createFailureLimit, type FailureLimit } from '../../../http/failure-limit.ts';
import { sameSecret } from '../../../vault/secret-hash.ts';

/** Whether it is the secret. Throws `rate_limited` for a wrong one that is one too many. */
export type DashboardSecret = (secret: string, client: string) => boolean;

/** `configured`: BURSAR_DASHBOARD_SECRET as it stands in the environment. Throws the sentence to stop the start with. */
export function createDashboardSecret(
  configured: string | undefined,
  realNow: () => number = Date.now,
): DashboardSecret {
  return checkerOf(readDashboardSecrets(configured), createFailureLimit('wrong dashboard secrets', realNow));
}

/** `configured`: BURSAR_CLOCK_KEY. */
export const createClockKey = (configured: string | undefined): DashboardSecret =>
  checkerOf(configured === undefined ? [] : [configured], createFailureLimit('wrong clock keys'));

function checkerOf(accepted: readonly string[], countFailure: FailureLimit): DashboardSecret {
  return (secret, client) => {
    // Compared before anything is counted: an attacker who guesses must not lock out the holder, who may share the address.
    // Every value is compared, so that the time taken does not tell which one came close.
    if (accepted.filter((value) => sameSecret(value, secret)).length > 0) return true;
    countFailure(client);
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
