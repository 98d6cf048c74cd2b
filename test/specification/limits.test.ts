/**
 * Goal: the numbers of the specification are those of the program. Method: the figure is taken out of its sentence.
 * @module
 */

import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { gapAfter, tierOf } from '../../src/domains/delivery/webhooks/delivery.rules.ts';
import { attemptTimeoutMs } from '../../src/domains/delivery/webhooks/delivery.send.service.ts';
import { createRateLimit } from '../../src/http/rate-limit.ts';
import { readConfig } from '../../src/main/config.ts';
import { retryPollMs } from '../../src/relay/deliveries.ts';
import { document } from './contracts.ts';
import { read, specification } from './facts.ts';

const ids = read(specification).facts.map(({ id }) => id);

/** What stands in the fact that begins so, by a pattern. */
function stated(pattern: RegExp): string[] {
  const found = ids.map((id) => pattern.exec(id)).find((match) => match !== null);
  if (found === undefined) throw new Error(`the specification states nothing like ${pattern}`);
  return found.slice(1);
}

const environment = {
  DATABASE_URL: 'postgres://localhost/none',
  BURSAR_VAULT_KEY: 'x',
  BURSAR_SIGNING_KEY: '-----BEGIN PRIVATE KEY-----',
  BURSAR_SANDBOX_URL: 'http://127.0.0.1:1',
};

// spec: limit:Request rate:per client IP default 100 requests per minute refill window 60 seconds
// spec: limit:Rate-limit response:429 with Retry-After in seconds and X-RateLimit-* headers
test('each address has its own requests per minute', async () => {
  const [most, windowSeconds] = stated(
    /^limit:Request rate:.*default (\d+) requests per minute refill window (\d+) seconds$/,
  );
  const { ratePerMinute } = readConfig(environment);
  expect(ratePerMinute).toBe(Number(most));
  let client = '192.0.2.1';
  const limit = createRateLimit({ perMinute: ratePerMinute, clientOf: () => client });
  const request = new IncomingMessage(new Socket());
  for (let i = 0; i < ratePerMinute; i++) expect((await limit(request)).refused).toBeUndefined();
  const { refused, headers } = await limit(request);
  expect(refused).toMatchObject({ code: 'rate_limited', retryAfterSeconds: Number(windowSeconds) });
  expect(headers).toEqual({
    'X-RateLimit-Limit': most,
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': windowSeconds,
  });
  client = '192.0.2.2';
  expect((await limit(request)).refused).toBeUndefined();
});

// spec: limit:Webhook acknowledgement:2xx within 30 seconds
// spec: limit:Webhook retry poll interval:30 seconds
// spec: poller:every 30 seconds
test('deliveries have their timeout, and the relay polls at its interval', () => {
  const [withinSeconds] = stated(/^limit:Webhook acknowledgement:2xx within (\d+) seconds$/);
  expect(attemptTimeoutMs).toBe(Number(withinSeconds) * 1_000);
  const [everySeconds] = stated(/^limit:Webhook retry poll interval:(\d+) seconds$/);
  expect(retryPollMs).toBe(Number(everySeconds) * 1_000);
  expect(stated(/^poller:every (\d+) seconds$/)).toEqual([everySeconds]);
});

const unitsMs: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000 };

// spec: plan:*
// spec: tier:*
test.each(ids.flatMap((id) => (/^plan:/.test(id) ? [id.split(':')] : [])))(
  '%s %s has %s',
  (_, plan = '', tier = '') => {
    const given = tierOf(plan.toLowerCase());
    expect(given.name).toBe(tier);
    const [attempts] = stated(new RegExp(`^tier:${tier}:attempts (\\d+)$`));
    expect(given.maxAttempts).toBe(Number(attempts));
    const [deadLetter] = stated(new RegExp(`^tier:${tier}:dead-letter (yes|no)$`));
    expect(given.hasDeadLetters).toBe(deadLetter === 'yes');
    const [own = ''] = stated(new RegExp(`^tier:${tier}:backoff (.+)$`));
    const [, same] = /^same as (\w+)$/.exec(own) ?? [];
    const [backoff = ''] = same === undefined ? [own] : stated(new RegExp(`^tier:${same}:backoff (.+)$`));
    const gaps = [...backoff.matchAll(/(\d+) (minute|hour)/g)].map(
      ([, count, unit = '']) => Number(count) * (unitsMs[unit] ?? 0),
    );
    expect(gaps.map((_gap, index) => gapAfter(index + 1))).toEqual(gaps);
    expect(gaps.length).toBe(given.maxAttempts === 1 ? 0 : given.maxAttempts);
  },
);

// spec: version:0.5.0
test('the document carries the version', () => {
  expect(stated(/^version:(.+)$/)).toEqual([document.info.version]);
});
