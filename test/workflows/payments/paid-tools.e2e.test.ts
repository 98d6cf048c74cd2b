/**
 * Goal: a payment that a merchant's MCP tool demands is made like one that an address demands: for the same intent, by the
 * same rules, once, and the credential reaches nobody but the merchant. Method: the whole of pay with the worker and the
 * network, an MCP server played by the test, and Bursar's own MCP tools.
 * @module
 */
import { describe, expect, test } from '@jest/globals';
import { type MachinePayments, useMachinePayments } from '../../support/machine-payments.ts';
import { call, type Refused } from '../../support/mcp.ts';
import type { Presentation } from '../../support/paying-merchant.ts';
import { anIntent, balancesOf, type Payer } from '../../support/payments-world.ts';
import { demandAt, eras, jsonChallenge, places, sellTools, soldResult } from '../../support/selling-tools.ts';

let w: MachinePayments['w'];
let merchant: MachinePayments['merchant'];
let network: MachinePayments['network'];
useMachinePayments((started) => {
  ({ w, merchant, network } = started);
});

const buyer = () => w.payer({ policy: { require_intent: true }, fundsCents: 5_000 });
const charges =
  (payer: Payer) =>
  async ({ paymentToken, challengeId }: Presentation) => {
    await network.authorize(payer, { token: paymentToken });
    return soldResult(challengeId);
  };
const tool = { name: 'report', arguments: { year: 2026, title: 'Übung' } };
const order = async (payer: Payer, over: object = {}) => ({
  url: `${merchant.origin}/mcp`,
  intentId: await anIntent(w.world, payer, { merchant: null }),
  cardId: payer.cardId,
  purchaseRef: 'report',
  tool,
  ...over,
});
const pay = (payer: Payer, args: object) => call(w.apiUrl, payer.token, 'mpp_pay', args);
const refusedPay = (payer: Payer, args: object) => call<Refused>(w.apiUrl, payer.token, 'mpp_pay', args);

describe.each(eras)('a server of the era %s', (era) => {
  test.each(places)(
    'that demands a payment by its %s is paid once, and the answer has what the tool delivered',
    async (place) => {
      const payer = await buyer();
      const { calls } = sellTools({ merchant, era, place, charge: charges(payer) });
      const args = await order(payer);
      const paid = await pay(payer, args);
      expect(paid.result).toMatchObject({
        status: 'paid',
        merchant_status: 200,
        receipt: expect.stringMatching(/^[A-Za-z0-9_-]+$/),
        merchant_body: { content: [{ type: 'text', text: 'the report' }] },
      });
      expect(paid.untrusted).toContain('result.merchant_body');
      expect(await pay(payer, args)).toEqual(paid);
      expect(calls).toEqual([
        { ...tool, isPaid: false },
        { ...tool, isPaid: true },
      ]);
      expect(await balancesOf(w.world, payer)).toMatchObject({ available: 3_750, held: 1_250 });
      expect(JSON.stringify(paid)).not.toContain('encryptedPayload');
    },
  );
});

test('the arguments of a tool are kept sealed until the credential was sent, and not after it', async () => {
  const payer = await buyer();
  const kept = () =>
    w.world.sql<{ tool: string; sealed: string | null; row: string }>(
      `select tool_name as tool, sealed_tool_arguments as sealed, p::text as row from mpp_payments p where agent_id = $1`,
      [payer.agentId],
    );
  let before: Awaited<ReturnType<typeof kept>> = [];
  const charge = async (presented: Presentation) => {
    before = await kept();
    return charges(payer)(presented);
  };
  sellTools({ merchant, era: '2026', place: 'error', charge });
  await pay(payer, await order(payer));
  expect(before).toMatchObject([{ tool: 'report', sealed: expect.any(String) }]);
  expect(before[0]?.row).not.toContain('Übung');
  expect(await kept()).toMatchObject([{ tool: 'report', sealed: null }]);
});

test.each(places)('the answer of a tool, with its %s, declares the purchase that then pays', async (place) => {
  const payer = await buyer();
  sellTools({ merchant, era: '2026', place, charge: charges(payer) });
  const url = `${merchant.origin}/mcp`;
  const answer = demandAt(place, jsonChallenge(merchant.challenge())) as { error?: object; result?: object };
  const shown = { whole: { jsonrpc: '2.0', id: 7, ...answer }, part: answer.error ?? answer.result };
  for (const [name, given] of Object.entries(shown)) {
    const declare = { challenge: JSON.stringify(given), url, purchaseRef: `${name} ${place}` };
    const declared = await call(w.apiUrl, payer.token, 'mpp_declare', declare);
    expect(declared.result).toMatchObject({
      challenge: { amountEuros: 12.5, recipient: 'sandbox-shop' },
      intent: { status: 'approved', expectedAmountEuros: 12.5 },
    });
    expect(declared.next).toMatchObject({ tool: 'mpp_pay', arguments: { url, purchaseRef: declare.purchaseRef } });
    const paid = await pay(payer, { ...declared.next.arguments, tool });
    expect(paid.result).toMatchObject({ status: 'paid' });
  }
});

test('a dearer tool, and an address without a server, are refused, and nothing is spent', async () => {
  const payer = await buyer();
  const selling = { merchant, era: '2026', place: 'error', charge: charges(payer) } as const;
  const dear = sellTools({ ...selling, challenge: { amount: '9900' } });
  expect(await refusedPay(payer, await order(payer))).toMatchObject({ code: 'invalid_state' });
  expect(dear.calls).toEqual([{ ...tool, isPaid: false }]);
  merchant.respondsWith((_, response) => void response.writeHead(404).end());
  expect(await refusedPay(payer, await order(payer))).toMatchObject({
    code: 'invalid_state',
    message: expect.stringContaining('asks for no payment'),
  });
  expect(await balancesOf(w.world, payer)).toMatchObject({ available: 5_000, held: 0 });
});

test('a refused credential and a tool that fails are told apart, and neither is paid again', async () => {
  const payer = await buyer();
  const declines = async () => demandAt('error', jsonChallenge(merchant.challenge()));
  const first = sellTools({ merchant, era: '2026', place: 'error', charge: declines });
  expect((await pay(payer, await order(payer))).result).toMatchObject({ status: 'declined', merchant_status: 402 });
  expect(first.calls.filter(({ isPaid }) => isPaid)).toHaveLength(1);
  // It charges, and fails then: the network's word decides.
  const failing = async (presented: Presentation) => {
    await charges(payer)(presented);
    return { error: { code: -32_603, message: 'the report was lost' } };
  };
  const second = sellTools({ merchant, era: 'with a handshake', place: 'error', charge: failing });
  expect((await pay(payer, await order(payer))).result).toMatchObject({ status: 'paid', merchant_status: 500 });
  expect(second.calls.filter(({ isPaid }) => isPaid)).toHaveLength(1);
});

test('a challenge that is no JSON, or JSON without one, is refused', async () => {
  const payer = await buyer();
  for (const challenge of ['{', '{}', '{"error":{"code":-32042,"data":{"challenges":[]}}}'])
    expect(
      await call<Refused>(w.apiUrl, payer.token, 'mpp_declare', { challenge, purchaseRef: challenge }),
    ).toMatchObject({ code: 'invalid_state' });
});
