/**
 * Goal: challenges that an MCP server of mppx sends are read, in each place that it uses, and its client reads the same
 * answers as demands; a credential of ours is accepted there. Method: JSON-RPC messages without a connection.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chooseChallenge } from '../../src/domains/payments/mpp/challenge.wire.ts';
import { isChallengeIdOf } from '../../src/domains/payments/mpp/challenge-id.rules.ts';
import { credentialHeader } from '../../src/domains/payments/mpp/credential.wire.ts';
import { challengesOfMcpAnswer } from '../../src/domains/payments/mpp/mcp-challenge.wire.ts';
import { installMppx, type MppxPeer, startMppxPeer } from './mppx/mppx.ts';

type McpAnswer = {
  readonly error?: { readonly code: number; readonly data: { readonly challenges: readonly object[] } };
  readonly result?: { readonly content: unknown; readonly _meta: Readonly<Record<string, Record<string, unknown>>> };
};

const toolSecret = 'tool-secret-0123456789abcdef-0123456789';

let peer: MppxPeer;
beforeAll(async () => {
  await installMppx();
  peer = await startMppxPeer();
}, 180_000);
afterAll(() => peer.close());

const call = (tool: string, credential?: unknown): Promise<McpAnswer> =>
  peer.ask('callTool', credential === undefined ? { tool } : { tool, credential });
const isDemandForMppx = (answer: McpAnswer): Promise<boolean> => peer.ask('isMcpDemand', { answer });

function chosen(answer: unknown) {
  const choice = chooseChallenge(challengesOfMcpAnswer(answer), Date.now());
  if (!choice.ok) throw new Error(choice.reasons.join('; ') || 'no challenge');
  return choice;
}

/** Calls the tool with a credential for its challenge. The last four digits make the server accept, decline or fail. */
async function pay(tool: string, panLastFour: string): Promise<McpAnswer> {
  const { challenge } = chosen(await call(tool));
  const { value } = credentialHeader(challenge, {
    ...{ encryptedPayload: 'a.b.c.d.e', network: 'visa', panLastFour },
    ...{ panExpirationMonth: '12', panExpirationYear: '2030' },
  });
  return call(tool, await peer.ask('mcpCredential', { value }));
}

describe('a tool that costs money', () => {
  test('demands a payment by an error, and the id of its challenge is ours', async () => {
    const answer = await call('report');
    expect(answer.error?.code).toBe(-32_042);
    const { challenge, charge } = chosen(answer);
    expect(charge).toMatchObject({ amountCents: 499, recipient: 'merchant_1', merchantName: 'Café Übung' });
    expect(isChallengeIdOf(toolSecret, challenge, challenge.id)).toBe(true);
    expect(await isDemandForMppx(answer)).toBe(true);
  });

  test('makes several offers, of which the one that we can pay is chosen', async () => {
    const answer = await call('several');
    expect(challengesOfMcpAnswer(answer)).toHaveLength(3);
    const { challenge } = chosen(answer);
    expect(answer.error?.data.challenges[2]).toMatchObject({ id: challenge.id });
  });

  test('demands a payment in the metadata of its result', async () => {
    const challenges = (await call('report')).error?.data.challenges ?? [];
    const answer = { jsonrpc: '2.0', id: 7, result: inMeta(challenges) };
    expect(chosen(answer).challenge).toMatchObject({ realm: 'tools.example' });
    expect(await isDemandForMppx(answer)).toBe(true);
  });

  test.each(['report', 'several'])('is paid by our credential: %s', async (tool) => {
    const { result } = await pay(tool, '4242');
    expect(result?.content).toEqual([{ type: 'text', text: 'the report' }]);
    expect(result?._meta['org.paymentauth/receipt']).toMatchObject({ status: 'success', reference: 'auth_1' });
  });
});

describe('a credential that the server does not accept', () => {
  test('is answered by another error, with a new challenge, which both of us read', async () => {
    const answer = await pay('report', '0002');
    expect(answer.error?.code).toBe(-32_043);
    expect(chosen(answer).challenge.realm).toBe('tools.example');
    expect(await isDemandForMppx(answer)).toBe(true);
  });

  test('is answered by an internal error, whose challenge neither of us takes for a demand', async () => {
    const answer = await pay('report', '0005');
    expect(answer.error).toMatchObject({ code: -32_603, data: { challenges: [{ method: 'card' }] } });
    expect(challengesOfMcpAnswer(answer)).toEqual([]);
    expect(await isDemandForMppx(answer)).toBe(false);
  });

  test('is answered by an error of its form, whose challenge neither of us takes for a demand', async () => {
    const answer = await call('report', { challenge: 'none', payload: {} });
    expect(answer.error).toMatchObject({ code: -32_602, data: { challenges: [{ method: 'card' }] } });
    expect(challengesOfMcpAnswer(answer)).toEqual([]);
    expect(await isDemandForMppx(answer)).toBe(false);
  });
});

const inMeta = (challenges: readonly object[]): NonNullable<McpAnswer['result']> => ({
  content: [],
  _meta: { 'org.paymentauth/payment-required': { httpStatus: 402, challenges } },
});
