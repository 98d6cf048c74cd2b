/**
 * Goal: an update sent by a person in Temporal decides as a signal does and is answered; it cannot pass for the API's, and
 * no input blocks a run. Method: the real worker, updates as the CLI and a forger send them.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { signDecision } from '../../../src/domains/identity/approvals/decision-signature.ts';
import { createVault } from '../../../src/vault/vault.ts';
import { readVaultKeys } from '../../../src/vault/vault-keys.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { updateRun } from '../../support/update-run.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
let live: World;
let temporal: OpenTemporal;
beforeAll(async () => {
  world = await startWorld({ worker: true });
  live = await startWorld({ worker: true, env: { BURSAR_MODE: 'live', BURSAR_ALLOW_SIMULATED: 'true' } });
  temporal = await openTemporal();
}, 120_000);
afterAll(async () => {
  await temporal.close();
  await live.close();
  await world.close();
});

const declared = async (where: World, rules: { requireAttestation?: boolean } = {}) => {
  const { agents, policies, intents } = clientsOf(await where.owner());
  const { id: agentId } = await agents.createAgent({ body: { name: 'buyer' } });
  await policies.updateAgentPolicy({ params: { agentId }, body: { ...rules, name: 'rules' } });
  const { id } = await intents.declareIntent({
    body: { agentId, purpose: 'dear', expectedAmountEuros: 80, expectedMerchant: 'Sandbox Shop' },
  });
  await temporal.started(`intent/${id}`);
  const update = async (...typed: unknown[]): Promise<unknown> => {
    try {
      const run = temporal.client.workflow.getHandle(`intent/${id}`);
      return await updateRun(run, 'decide', typed);
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError) return error.cause?.message;
      throw error;
    }
  };
  return {
    id,
    update,
    read: () => intents.getIntent({ params: { id } }),
    approve: () => intents.approveIntent({ params: { id } }),
  };
};

describe('updates of a person', () => {
  test.each([
    [{ decision: 'approve', by: 'anna' }, 'signal:anna'],
    ['approve', 'signal:unnamed'],
  ])('%j approves and is answered', async (typed, approvedBy) => {
    const { update, read } = await declared(world);
    expect(await update(typed)).toMatchObject({ status: 'approved', approvedBy });
    expect(await read()).toMatchObject({ status: 'approved', approvedBy });
  });

  test('denies', async () => {
    const { update, read } = await declared(world);
    expect(await update({ decision: 'deny', by: 'anna' })).toMatchObject({ status: 'denied' });
    expect(await read()).toMatchObject({ status: 'denied' });
  });

  test('an update that comes too late is refused with a message', async () => {
    const { update, read, approve } = await declared(world);
    await approve();
    expect(await update({ decision: 'deny', by: 'anna' })).toBe('cannot deny an intent that is approved');
    expect((await read()).status).toBe('approved');
  });

  test.each([
    [[]],
    [[42]],
    [['yes please']],
    [[{}]],
    [[{ decision: 'maybe' }]],
    [[{ decision: 'approve', actor: 'key' }, 1]],
  ])('nonsense %j is answered at once, and the API still decides', async (typed) => {
    const { update, read, approve } = await declared(world);
    const answer = await update(...typed);
    if (JSON.stringify(typed).includes('approve')) expect(answer).toMatchObject({ approvedBy: 'signal:unnamed' });
    else {
      expect(answer).toMatch(/^send \{"decision":"approve","by":"your name"\}/);
      expect(await approve()).toMatchObject({ status: 'approved' });
    }
    expect((await read()).status).toBe('approved');
  });

  test('where the policy demands a passkey, it does not approve', async () => {
    const { update, read } = await declared(world, { requireAttestation: true });
    expect(await update({ decision: 'approve', by: 'anna' })).toMatch(/a signal cannot approve it/);
    expect((await read()).status).toBe('pending_approval');
  });

  test('in live it approves nothing, but denies', async () => {
    const { update, read } = await declared(live);
    expect(await update({ decision: 'approve', by: 'anna' })).toMatch(/takes no approvals by signal/);
    expect((await read()).status).toBe('pending_approval');
    expect(await update({ decision: 'deny', by: 'anna' })).toMatchObject({ status: 'denied' });
  });
});

describe('updates that imitate the API', () => {
  const forged = {
    decision: 'approve',
    actor: 'key',
    by: 'key_0123456789',
    causeId: 'cause',
    requestId: 'req',
  } as const;
  const refused = /does not come from the API/;
  const vaultOf = ({ config }: World) => createVault({ keys: readVaultKeys(config.BURSAR_VAULT_KEY) });
  const strangers = createVault({ keys: readVaultKeys(Buffer.alloc(32, 7).toString('base64')) });

  test('is refused without a seal, with a stranger’s, and with one made for something else', async () => {
    const { id, update, read } = await declared(live);
    const own = vaultOf(live);
    const seals = [
      undefined,
      'sealed',
      (await signDecision(strangers, id, forged)).signature,
      (await signDecision(own, 'int_another0', forged)).signature,
      (await signDecision(own, id, { ...forged, decision: 'deny' })).signature,
      (await signDecision(own, id, { ...forged, by: 'key_other00000' })).signature,
      (await signDecision(own, id, { ...forged, causeId: 'other' })).signature,
    ];
    for (const signature of seals) expect(await update({ ...forged, signature })).toMatch(refused);
    expect(await update({ ...forged, actor: 'passkey' })).toMatch(refused);
    expect(await read()).toMatchObject({ status: 'pending_approval', approvedBy: null });
    expect(await update(await signDecision(own, id, forged))).toMatchObject({ approvedBy: 'key:key_0123456789' });
  });

  test('a decision of the API that was refused is not sent again from the history later', async () => {
    const { id, update, approve, read } = await declared(live);
    const tenMinutesAgo = Date.now() - 600_000;
    const expired = await signDecision(vaultOf(live), id, forged, new Date(tenMinutesAgo - 1_000));
    expect(await update(expired)).toBe(
      'this request to approve is more than 10 minutes old and was not carried out; call the API again',
    );
    expect((await read()).status).toBe('pending_approval');
    const other = { ...forged, causeId: 'young' };
    expect(await update(await signDecision(vaultOf(live), id, other, new Date(tenMinutesAgo + 30_000)))).toMatchObject({
      approvedBy: 'key:key_0123456789',
    });
    // What it has moved already is only said again.
    expect(await update(await signDecision(vaultOf(live), id, other, new Date(tenMinutesAgo - 1_000)))).toMatchObject({
      status: 'approved',
    });
    expect(await approve()).toMatchObject({ approvedBy: 'key:key_0123456789' });
  });

  test('the API approves in live, by a short signature without personal data', async () => {
    const { id, approve, read } = await declared(live);
    expect(await approve()).toMatchObject({ status: 'approved' });
    expect((await read()).approvedBy).toMatch(/^key:key_/);
    const history = JSON.stringify(await temporal.historyOf(`intent/${id}`));
    expect(history).not.toContain(live.config.BURSAR_VAULT_KEY);
    const { signature } = await signDecision(vaultOf(live), id, { ...forged, by: 'x'.repeat(500) });
    expect(signature.length).toBeLessThan(400);
  });
});

test('forty typed updates at once do not hold the API’s decision up', async () => {
  const { update, approve, read } = await declared(world);
  const noise = Array.from({ length: 40 }, (_, n) => update(n % 2 === 0 ? { n } : 'nothing'));
  // While the machine is busy with the noise an answer may be 503: may still take effect, ask again.
  const told = await eventually(
    () => approve().catch((busy: unknown) => busy),
    (answer) => (answer as { status?: unknown }).status === 'approved',
  );
  expect(told).toMatchObject({ status: 'approved' });
  expect(await Promise.allSettled(noise)).not.toContainEqual(
    expect.objectContaining({ value: { status: 'approved' } }),
  );
  expect((await read()).status).toBe('approved');
});
