/**
 * Goal: an agent that knows nothing but the list of tools buys within its rules, over HTTP and over standard input and
 * output. Method: the whole of checkout with the worker, the sandbox's shops and the network; a scripted agent.
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { type CheckoutWorld, startCheckoutWorld } from '../../support/checkout-world.ts';
import { bodyOf, connect, type ToolAnswer } from '../../support/mcp.ts';
import type { Payer } from '../../support/payments-world.ts';
import { pursue, type Toolbox } from '../../support/tool-agent.ts';
import { eventually } from '../../support/world.ts';

let w: CheckoutWorld;
let payer: Payer;
let client: Client;
beforeAll(async () => {
  w = await startCheckoutWorld();
  payer = await w.payer({
    fundsCents: 20_000,
    policy: {
      require_intent: true,
      auto_approve_limit_cents: 5_000,
      merchant_blocklist: ['sandbox-flaky', 'Sandbox Flaky'],
      blocked_mccs: ['7995'],
    },
  });
  client = await connect(w.apiUrl, payer.token);
});
afterAll(async () => {
  await client.close();
  await w.close();
});

const boxOf = (one: Client): Toolbox => ({
  list: async () => (await one.listTools()).tools,
  call: async (name, args) => {
    const answer = (await one.callTool({ name, arguments: { ...args } })) as unknown as ToolAnswer;
    return { isRefused: answer.isError === true, body: bodyOf(answer) };
  },
});

const wish = (shop: string, merchant: string, euros: number, purchaseRef: string) => ({
  purpose: 'what the team asked for',
  expectedAmountEuros: euros,
  expectedMerchant: merchant,
  targetUrl: w.shop(shop, euros * 100),
  purchaseRef,
});

const availableOf = async (one: Client): Promise<unknown> => {
  const { result } = (await boxOf(one).call('allowance_get', {})).body as {
    result: { wallet: { walletBalance: { available: number } } };
  };
  return result.wallet.walletBalance.available;
};

const person = () => createClient(intentsArea, sendTo(w.apiUrl, payer.owner.key));

test('it buys at two shops, meets a blocked merchant, an approval, a refused offer and a declined charge, and the balance is right', async () => {
  const box = boxOf(client);
  const first = await pursue(wish('sandbox-shop', 'Sandbox Shop', 12.5, 'one'), box);
  expect(first).toMatchObject({ isRefused: false, body: { result: { amountEuros: 12.5, merchant: 'Sandbox Shop' } } });
  const second = await pursue(wish('example-shop', 'Example Shop', 20, 'two'), box);
  expect(second.isRefused).toBe(false);

  const blocked = await pursue(wish('sandbox-flaky', 'Sandbox Flaky', 5, 'three'), box);
  expect(blocked).toMatchObject({ isRefused: true, body: { code: 'policy_denied', rule: 'merchant_blocklist' } });

  const buying = pursue(wish('sandbox-shop', 'Sandbox Shop', 60, 'four'), box);
  const [waiting] = await eventually(
    async () => (await person().listIntents({ query: { status: 'pending_approval' } })).data,
    (found) => found.length === 1,
  );
  if (waiting === undefined) throw new Error('nothing waits');
  await person().approveIntent({ params: { id: waiting.id as `int_${string}` }, body: {} });
  expect(await buying).toMatchObject({ isRefused: false, body: { result: { amountEuros: 60 } } });

  const refused = await pursue(wish('sandbox-casino', 'Sandbox Casino', 10, 'five'), box);
  expect(refused).toMatchObject({ isRefused: true, body: { code: 'policy_denied', next: { tool: 'allowance_get' } } });
  expect(await availableOf(client)).toBe(200 - 12.5 - 20 - 60);

  // It takes no payment and asks for double.
  const raising = {
    ...wish('', 'm_sandbox_raises', 8, 'six'),
    targetUrl: `${w.sandboxUrl}/paid/sandbox-raises?amountCents=800`,
  };
  const declined = await pursue(raising, box);
  const declinedNext = declined.body.next as { do: string; tool?: string };
  expect([declined.isRefused, declinedNext.tool]).toEqual([false, undefined]);
  expect(declinedNext.do).toMatch(/declined/);
  expect(declined.calls.length).toBeLessThan(10);
  // Its intent is still approved, and a repeat would charge nothing.
  const { body: listed } = await box.call('intents_list', { limit: 1 });
  const [newest] = (listed.result as { data: { id: string }[] }).data;
  const { body: standing } = await box.call('intents_get', { intentId: newest?.id ?? '' });
  expect(standing).toMatchObject({ result: { status: 'approved' }, next: { tool: 'payments_status' } });
  expect((standing.next as { do: string }).do).toMatch(/declined and took nothing/);
  expect(await availableOf(client)).toBe(200 - 12.5 - 20 - 60);

  // The same wish again, as after a time-out, buys nothing.
  const again = await pursue(wish('example-shop', 'Example Shop', 20, 'two'), box);
  expect(again.body).toMatchObject({ result: { id: (second.body.result as { id: string }).id } });
  expect(await availableOf(client)).toBe(200 - 12.5 - 20 - 60);
});

test('two clients that pay with one purchaseRef at once pay once', async () => {
  const box = boxOf(client);
  const { targetUrl, ...declaration } = wish('sandbox-shop', 'Sandbox Shop', 7, 'both');
  const { body } = await box.call('intents_declare', declaration);
  const intentId = (body.result as { id: string }).id;
  const pay = () => box.call('checkout_execute', { intentId, targetUrl, purchaseRef: 'both' });
  const answers = [...(await Promise.all([pay(), pay()])), await eventually(pay, ({ isRefused }) => !isRefused)];
  for (const { isRefused, body: answer } of answers)
    if (isRefused)
      expect(answer).toMatchObject({ code: expect.stringMatching(/^(idempotency_conflict|unavailable)$/) });
  const paid = answers
    .filter(({ isRefused }) => !isRefused)
    .map((one) => (one.body.result as { transactionId: string }).transactionId);
  expect(new Set(paid).size).toBe(1);
});

const command = (env: Record<string, string>) => ({
  command: process.execPath,
  args: ['--disable-warning=ExperimentalWarning', 'src/main/cli.ts', 'mcp'],
  env: { PATH: process.env.PATH ?? '', BURSAR_API_URL: w.apiUrl, ...env },
});

test.each(['legacy', 'auto'] as const)('over standard input and output it buys too (%s)', async (mode) => {
  const stdio = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await stdio.connect(new StdioClientTransport(command({ BURSAR_TOKEN: payer.token })));
  try {
    expect((await stdio.listTools()).tools).toEqual((await client.listTools()).tools);
    const bought = await pursue(wish('sandbox-shop', 'Sandbox Shop', 3, `stdio ${mode}`), boxOf(stdio));
    expect(bought).toMatchObject({ isRefused: false, body: { result: { amountEuros: 3 } } });
    expect((await stdio.readResource({ uri: 'bursar://policy' })).contents).toHaveLength(1);
    expect((await stdio.listPrompts()).prompts).toHaveLength(1);
  } finally {
    await stdio.close();
  }
});

test.each([
  ['an unknown token', 'at_test_nobodysnobodysnobodys', /refuses the token/],
  ['no token', '', /BURSAR_TOKEN/],
])('with %s the command says so and ends with code 2', async (_, token, sentence) => {
  const { command: program, args, env } = command({ BURSAR_TOKEN: token });
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const [code] = await once(child, 'close');
  expect(code).toBe(2);
  expect(said).toMatch(sentence);
  expect(said).not.toContain('nobodys');
});
