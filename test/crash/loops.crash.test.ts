/**
 * Goal: the worker outlives PostgreSQL: each of its loops goes on after a kill -9 in the middle of its work, and says
 * what is wrong without a flood. Method: a real installation whose PostgreSQL is killed under load and held down; then
 * fresh work for every loop, done by the same processes.
 * @module
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { webhooksArea } from '../../src/domains/delivery/webhooks/webhook.contract.ts';
import { policiesArea } from '../../src/domains/spending/policies/policy.contract.ts';
import { fundArea } from '../../src/domains/treasury/funding/funding.contract.ts';
import { type Installation, startInstallation } from '../support/installation.ts';
import { type Receiver, startReceiver, status } from '../support/receiver.ts';
import { eventually } from '../support/world.ts';

let receiver: Receiver;
let site: Installation;
beforeAll(async () => {
  receiver = await startReceiver();
  site = await startInstallation({ BURSAR_ALLOWED_ORIGINS: receiver.origin });
}, 300_000);
afterAll(async () => {
  await site?.stop();
  await receiver.close();
}, 60_000);

type Line = { readonly time: number; readonly loop?: string };

/** What the worker has said about passes that failed, by loop. */
async function failuresByLoop(): Promise<Map<string, Line[]>> {
  const text = await readFile(join(site.dir, 'logs', 'worker.log'), 'utf8');
  const lines = text.split('\n').flatMap((line): Line[] => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));
  return Map.groupBy(
    lines.filter(({ loop }) => loop !== undefined),
    ({ loop = '' }) => loop,
  );
}

/** Those that would notice within seconds; the others look rarely. */
const quickLoops = ['relay', 'sealer', 'push'];

test('PostgreSQL dies under load and stays away: every loop goes on without a restart, and logs no flood', async () => {
  receiver.answers('loops', status(200));
  const owner = await site.owner();
  const [webhooks, funds, policies] = [owner.client(webhooksArea), owner.client(fundArea), owner.client(policiesArea)];
  await webhooks.createWebhook({ body: { url: receiver.urlOf('loops'), events: ['policy.created'] } });
  const before = [await site.child('worker'), await site.child('api')];

  const isOver = new AbortController();
  const load = (async () => {
    for (let n = 0; !isOver.signal.aborted; n++) {
      await Promise.allSettled([
        funds.fundWallet({ body: { amountEuros: 1 } }),
        policies.createPolicy({ body: { name: `Under load ${n}` } }),
      ]);
    }
  })();
  for (let kill = 0, made = 0; kill < 3; kill++) {
    const [row] = await eventually(
      () => site.sql<{ n: number }>('select count(*)::int as n from events').catch(() => []),
      ([found]) => (found?.n ?? 0) > made + 4,
      120_000,
    );
    made = row?.n ?? 0;
    await site.kill('postgres');
  }
  const letGo = await site.holdDown('postgres');
  try {
    await eventually(
      async () => Object.fromEntries([...(await failuresByLoop())].map(([loop, lines]) => [loop, lines.length])),
      (counts) => quickLoops.every((loop) => (counts[loop] ?? 0) >= 4),
      120_000,
    );
  } finally {
    isOver.abort();
    await load;
    await letGo();
  }
  await site.isWell(240_000);

  for (const [loop, lines] of await failuresByLoop()) {
    const [first, last] = [lines[0]?.time ?? 0, lines.at(-1)?.time ?? 0];
    // A second apart on average, and a few at the begin of each of the four times that it was away.
    expect([loop, lines.length <= (last - first) / 1_000 + 4 * 3]).toEqual([loop, true]);
  }

  const [at] = await site.sql<{ now: string }>('select clock_timestamp()::text as now');
  const old = `insert into idempotency (owner_id, caller_kind, agent_id, key, method, path, request_hash, seed, seed_ms,
      lease_token, reserved_at)
    values ($1, 'key', '', 'of-yesterday', 'POST', '/x', '', '', 0, '', now() - interval '25 hours')`;
  await site.sql(old, [owner.ownerId]);
  const { id } = await funds.fundWallet({ body: { amountEuros: 1 } });
  const { id: policyId } = await policies.createPolicy({ body: { name: 'Afterwards' } });
  await eventually(
    () =>
      site.sql(`select 1 from journal_seals s join journals j on j.id = s.journal_id where j.reference_id = $1`, [id]),
    ({ length }) => length === 1,
  );
  await eventually(async () => receiver.received('loops').some(({ body }) => body.includes(policyId)), Boolean);
  await eventually(
    () => site.sql(`select 1 from idempotency where key = 'of-yesterday'`),
    ({ length }) => length === 0,
    120_000,
  );
  await eventually(
    () => site.sql<{ loop: string }>('select loop from heartbeats where succeeded_at > $1 order by loop', [at?.now]),
    (beating) => ['relay', 'sealer', 'webhookPoller'].every((loop) => beating.some((one) => one.loop === loop)),
  );
  expect([await site.child('worker'), await site.child('api')]).toEqual(before);
}, 600_000);
