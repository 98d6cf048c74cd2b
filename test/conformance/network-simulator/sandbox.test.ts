/** The sandbox's network as a simulator: the suite for all, and that the adapter believes no strange answer. @module */
import { describe, expect, test } from '@jest/globals';
import { createSandboxNetwork } from '../../../src/adapters/network-simulator/sandbox.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { approves } from '../../sandbox/fake-bursar.ts';
import { startWorld } from '../../sandbox/world.ts';
import type { FixedAnswer } from '../answering-server.ts';
import { besideAnySandbox, strangeBeside } from '../strange-answers.ts';
import { networkSimulatorConformance } from './network-simulator-conformance.ts';

const closedUrl = 'http://127.0.0.1:9';

networkSimulatorConformance('sandbox', async () => {
  const world = await startWorld({ decisionTimeoutMs: 2_000 });
  const outbound = createOutbound({ allowedOrigins: [world.url, closedUrl] });
  const declined = { decision: 'declined', approvedCents: 0, transactionId: 'tx_declined', rule: 'daily_limit' };
  return {
    simulator: createSandboxNetwork({ sandboxUrl: world.url, outbound }),
    simulatorAway: createSandboxNetwork({ sandboxUrl: closedUrl, outbound }),
    issue: () => world.issue(),
    asked: () => world.bursar.of('authorizations').map(({ body }) => body),
    answers: (how) => {
      world.bursar.answering = (message) => {
        if (message.kind !== 'authorizations') return undefined;
        if (how === 'too late') return { ...approves(message), afterMs: 4_000 };
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
  const beside = besideAnySandbox(createSandboxNetwork);

  const asked = { authorizationId: 'auth_1', decision: 'approved', approvedCents: 100, transactionId: 'tx_aaaaaaaa' };
  const charge = () =>
    beside.adapter.charge({
      simulationId: 'sim_aaaaaaaa',
      cardRef: 'pc_1',
      amountCents: 100,
      merchant: { name: 'Shop', mcc: '5734', country: 'DE' },
      idempotencyKey: 'k',
    });

  test('the documented one is understood, and anything beside it is dropped', async () => {
    beside.server.answerWith({
      status: 200,
      body: JSON.stringify({ ...asked, clearingId: 'clr_1', number: '4000000000000002' }),
    });
    expect(await charge()).toEqual({ outcome: 'asked', authorizationId: 'auth_1', transactionId: 'tx_aaaaaaaa' });
    expect(beside.server.asked.at(-1)).toMatchObject({
      method: 'POST',
      url: '/network/purchases',
      headers: { 'idempotency-key': 'k' },
      body: '{"cardRef":"pc_1","amountCents":100,"merchant":{"name":"Shop","mcc":"5734","country":"DE"},"simulation":"sim_aaaaaaaa"}',
    });
  });

  test.each<[what: string, answer: FixedAnswer]>([
    ...strangeBeside({ status: 200, body: asked }),
    ['no authorization', { status: 200, body: JSON.stringify({ ...asked, authorizationId: undefined }) }],
    ['another decision', { status: 200, body: JSON.stringify({ ...asked, decision: 'sent' }) }],
    ['another’s transaction id', { status: 200, body: JSON.stringify({ ...asked, transactionId: 'ca_aaaaaaaa' }) }],
  ])('%s is `unavailable`', async (_what, answer) => {
    beside.server.answerWith(answer);
    await expect(charge()).rejects.toMatchObject({ name: 'DomainError', code: 'unavailable' });
  });

  test.each([400, 403, 405, 413, 422])('%i is a refusal for good', async (status) => {
    beside.server.answerWith({ status, body: '{"error":"no"}' });
    expect(await charge()).toEqual({ outcome: 'refused', reason: 'not_accepted' });
  });
});
