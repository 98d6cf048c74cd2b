/** The sandbox bank's payee check: the suite for all, and that the adapter believes no strange answer. @module */
import { describe, expect, test } from '@jest/globals';
import { noPayeeCheck } from '../../../src/adapters/payee-check/no-provider.ts';
import { createSandboxPayeeCheck } from '../../../src/adapters/payee-check/sandbox.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { startWorld } from '../../sandbox/world.ts';
import type { FixedAnswer } from '../answering-server.ts';
import { besideAnySandbox, strangeBeside } from '../strange-answers.ts';
import { payeeCheckConformance } from './payee-check-conformance.ts';

const closedUrl = 'http://127.0.0.1:9';

payeeCheckConformance('sandbox', async () => {
  const world = await startWorld();
  const outbound = createOutbound({ allowedOrigins: [world.url, closedUrl] });
  return {
    payeeCheck: createSandboxPayeeCheck({ sandboxUrl: world.url, outbound }),
    away: createSandboxPayeeCheck({ sandboxUrl: closedUrl, outbound }),
    names: {
      match: 'Erika Mustermann',
      noMatch: 'Erika Mustermann NOMATCH',
      close: { asked: 'Erika Mustermann close', known: 'Erika Mustermann' },
      notSupported: 'Erika Mustermann NOCHECK',
      silent: 'Erika Mustermann SILENT',
    },
    async stop() {
      await outbound.close();
      await world.stop();
    },
  };
});

describe('strange answers', () => {
  const beside = besideAnySandbox(createSandboxPayeeCheck);
  const ask = () => beside.adapter.ask({ name: 'Erika Mustermann', iban: 'DE89370400440532013000', bic: null });

  test('the documented one is understood, and anything beside it is dropped', async () => {
    beside.server.answerWith({ status: 200, body: JSON.stringify({ result: 'match', name: 'Somebody' }) });
    expect(await ask()).toEqual({ result: 'match' });
    expect(beside.server.asked.at(-1)).toMatchObject({
      method: 'POST',
      url: '/bank/payee-checks',
      body: '{"name":"Erika Mustermann","iban":"DE89370400440532013000"}',
    });
  });

  test.each<[what: string, answer: FixedAnswer]>([
    ...strangeBeside({ status: 200, body: { result: 'match' } }),
    ['another result', { status: 200, body: '{"result":"perhaps"}' }],
    ['a close match without a name', { status: 200, body: '{"result":"close_match"}' }],
    ['a refusal', { status: 400, body: '{"error":"no"}' }],
  ])('%s is not possible', async (_what, answer) => {
    beside.server.answerWith(answer);
    expect(await ask()).toEqual({ result: 'not_possible', reason: 'no_answer' });
  });
});

test('a deployment without a provider cannot say', async () => {
  const question = { name: 'Erika Mustermann', iban: 'DE89370400440532013000', bic: null };
  expect(await noPayeeCheck.ask(question)).toEqual({ result: 'not_possible', reason: 'no_provider' });
});
