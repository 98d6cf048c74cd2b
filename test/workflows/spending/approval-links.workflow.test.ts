/**
 * Goal: the link in current details leads to the API that runs now, also when its port is another than at the
 * declaration; and in a sandbox the pages say that business time is ahead. Method: the real worker, started twice.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { hour } from '../../../src/kernel/instant.ts';
import { startWorkerProcess } from '../../../src/main/worker-process.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { aPayer } from '../../support/payments-world.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
let temporal: OpenTemporal;
beforeAll(async () => {
  world = await startWorld();
  temporal = await openTemporal();
});
afterAll(async () => {
  await temporal.close();
  await world.close();
});

test('after a start on another port the details of a waiting intent name the new address', async () => {
  const { owner, agentId } = await aPayer(world, { policy: { auto_approve_limit_cents: 100 } });
  const { id } = await owner.client(intentsArea).declareIntent({
    body: { agentId, purpose: 'a book', expectedAmountEuros: 20, expectedMerchant: 'Sandbox Shop' },
  });
  const details = async () => (await temporal.viewOf(`intent/${id}`).catch(() => ({ details: '' }))).details;
  const shownWith = async (publicUrl: string): Promise<string> => {
    const worker = await startWorkerProcess({ ...world.config, publicUrl }, process.env.TEST_BUNDLE);
    try {
      return await eventually(details, (text) => text.includes(`${publicUrl}/approve/`));
    } finally {
      await worker.stop();
    }
  };
  const before = await shownWith('http://localhost:8400');
  const after = await shownWith('http://localhost:15555');
  const token = /approve\/(\w+)/.exec(before)?.[1];
  expect(after).toContain(`http://localhost:15555/approve/${token}`);
  expect(after).not.toContain(':8400');
});

test('the approver’s page and the documentation say that business time is ahead, and only then', async () => {
  const { owner, agentId } = await aPayer(world, { policy: { auto_approve_limit_cents: 100 } });
  const { approvalUrl } = await owner.client(intentsArea).declareIntent({
    body: { agentId, purpose: 'a book', expectedAmountEuros: 20, expectedMerchant: 'Sandbox Shop', ttlMinutes: 1_000 },
  });
  const page = async (path: string) =>
    (await fetch(`${world.apiUrl}${path}`, { headers: { Accept: 'text/html' } })).text();
  const paths = [new URL(approvalUrl ?? '').pathname, '/docs'];
  for (const path of paths) expect(await page(path)).not.toContain('business time is ahead');
  await world.advance(3 * hour);
  for (const path of paths) {
    const text = await page(path);
    const [, shown] = /business time is ahead of real time; it is (\d{4}-\d\d-\d\d \d\d:\d\d) UTC/.exec(text) ?? [];
    const aheadMs = Date.parse(`${shown?.replace(' ', 'T')}:00Z`) - Date.now();
    expect(Math.abs(aheadMs - 3 * hour)).toBeLessThan(120_000);
  }
});
