/**
 * Goal: where a policy demands an attestation no signal approves, whatever its form, and the run says why. Method: the
 * real worker, signals as a person types them, and what an operator then reads.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { clientsOf } from '../../support/factories/records.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
let temporal: OpenTemporal;
beforeAll(async () => {
  world = await startWorld({ worker: true });
  temporal = await openTemporal();
});
afterAll(async () => {
  await temporal.close();
  await world.close();
});

const declared = async () => {
  const { agents, policies, intents } = clientsOf(await world.owner());
  const { id: agentId } = await agents.createAgent({ body: { name: 'careful' } });
  await policies.updateAgentPolicy({ params: { agentId }, body: { requireAttestation: true } });
  const intent = await intents.declareIntent({
    body: { agentId, purpose: 'dear', expectedAmountEuros: 80, expectedMerchant: 'Sandbox Shop' },
  });
  await temporal.started(`intent/${intent.id}`);
  return {
    id: `intent/${intent.id}`,
    status: async () => (await intents.getIntent({ params: { id: intent.id } })).status,
  };
};

test.each([['approve'], [{ decision: 'approve', by: 'anna' }]])('a signal %j is refused in words', async (typed) => {
  const intent = await declared();
  await temporal.signal(intent.id, 'decide', typed);
  const { details, status, attributes } = await eventually(
    () => temporal.viewOf(intent.id),
    (view) => view.details.includes('refused'),
  );
  expect(details).toMatch(
    /^- approve by (anna|unnamed) was refused: its policy demands a passkey[ a-z]*; a signal cannot approve it$/m,
  );
  // The Web UI shows Markdown: without the empty line it would all be one paragraph.
  const run = temporal.client.workflow.getHandle(intent.id);
  const shown = await run.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(shown.currentDetails).toMatch(/\.\n\nThe approver's page: \S+\n\n- approve by/);
  expect(status).toBe('RUNNING');
  expect(attributes.BursarStage).toBe('pending_approval');
  expect(await intent.status()).toBe('pending_approval');
});

test('a signal still denies', async () => {
  const intent = await declared();
  await temporal.signal(intent.id, 'decide', { decision: 'deny', by: 'anna' });
  await eventually(intent.status, (status) => status === 'denied');
});
