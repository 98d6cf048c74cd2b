/** The sandbox's network as a simulator: the suite for all, and that the adapter believes no strange answer. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSandboxNetwork } from '../../../src/adapters/network-simulator/sandbox.ts';
import type { NetworkSimulator } from '../../../src/domains/payments/simulations/simulation.port.ts';
import { createOutbound, type Outbound } from '../../../src/outbound/outbound.ts';
import { approves } from '../../sandbox/fake-bursar.ts';
import { startWorld } from '../../sandbox/world.ts';
import { type AnsweringServer, startAnswering } from '../answering-server.ts';
import { networkSimulatorConformance } from './network-simulator-conformance.ts';

const nobody = 'http://127.0.0.1:9';

networkSimulatorConformance('sandbox', async () => {
  const world = await startWorld();
  const outbound = createOutbound({ allowedOrigins: [world.url, nobody] });
  const declined = { decision: 'declined', approvedCents: 0, transactionId: 'tx_declined', rule: 'daily_limit' };
  return {
    simulator: createSandboxNetwork({ sandboxUrl: world.url, outbound }),
    simulatorAway: createSandboxNetwork({ sandboxUrl: nobody, outbound }),
    issue: () => world.issue(),
    asked: () => world.bursar.of('authorizations').map(({ body }) => body),
    answers: (how) => {
      world.bursar.answering = (message) => {
        if (message.kind !== 'authorizations') return undefined;
        if (how === 'too late') return { ...approves(message), afterMs: 600 };
        return how === 'approves' ? approves(message) : { status: 200, body: declined };
      };
    },
    async stop() {
      await outbound.close();
      await world.stop();
    },
  };
});

describe('strange answers', () => {
  let server: AnsweringServer;
  let outbound: Outbound;
  let simulator: NetworkSimulator;
  beforeAll(async () => {
    server = await startAnswering();
    outbound = createOutbound({ allowedOrigins: [server.url] });
    simulator = createSandboxNetwork({ sandboxUrl: server.url, outbound });
  });
  afterAll(async () => {
    await outbound.close();
    await server.stop();
  });

  const asked = { authorizationId: 'auth_1', decision: 'approved', approvedCents: 100, transactionId: 'tx_aaaaaaaa' };
  const charge = () =>
    simulator.charge({
      simulationId: 'sim_aaaaaaaa',
      cardRef: 'pc_1',
      amountCents: 100,
      merchant: { name: 'Shop', mcc: '5734', country: 'DE' },
      idempotencyKey: 'k',
    });

  test('the documented one is understood, and anything beside it is dropped', async () => {
    server.answerWith({
      status: 200,
      body: JSON.stringify({ ...asked, clearingId: 'clr_1', number: '4000000000000002' }),
    });
    expect(await charge()).toEqual({ outcome: 'asked', authorizationId: 'auth_1', transactionId: 'tx_aaaaaaaa' });
    expect(server.asked.at(-1)).toMatchObject({
      method: 'POST',
      url: '/network/purchases',
      headers: { 'idempotency-key': 'k' },
      body: '{"cardRef":"pc_1","amountCents":100,"merchant":{"name":"Shop","mcc":"5734","country":"DE"},"simulation":"sim_aaaaaaaa"}',
    });
  });

  test.each([
    ['500', { status: 500 }],
    ['429', { status: 429 }],
    ['another success', { status: 201, body: JSON.stringify(asked) }],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }],
    ['no JSON', { status: 200, body: '<html>' }],
    ['too long an answer', { status: 200, body: JSON.stringify({ ...asked, padding: 'x'.repeat(20_000) }) }],
    ['no authorization', { status: 200, body: JSON.stringify({ ...asked, authorizationId: undefined }) }],
    ['another decision', { status: 200, body: JSON.stringify({ ...asked, decision: 'sent' }) }],
    ['another’s transaction id', { status: 200, body: JSON.stringify({ ...asked, transactionId: 'ca_aaaaaaaa' }) }],
    ['a closed line', { status: 200, hangUp: true }],
  ])('%s is `unavailable`', async (_what, answer) => {
    server.answerWith(answer);
    await expect(charge()).rejects.toMatchObject({ name: 'DomainError', code: 'unavailable' });
  });

  test.each([400, 403, 405, 413, 422])('%i is a refusal for good', async (status) => {
    server.answerWith({ status, body: '{"error":"no"}' });
    expect(await charge()).toEqual({ outcome: 'refused', reason: 'not_accepted' });
  });
});
