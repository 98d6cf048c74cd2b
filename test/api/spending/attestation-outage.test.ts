/**
 * Goal: a challenge is never used up without effect: an approval that the workflow could not carry out is finished by
 * a repeat with the same key, and the attestation is kept meanwhile. Method: the worker taken away and given back.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { signDecision } from '../../../src/domains/identity/approvals/decision-signature.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { minute } from '../../../src/kernel/instant.ts';
import { createVault } from '../../../src/vault/vault.ts';
import { readVaultKeys } from '../../../src/vault/vault-keys.ts';
import { type CheckoutWorld, startCheckoutWorld } from '../../support/checkout-world.ts';
import { aPasskey, intentChallengeOf } from '../../support/factories/passkeys.ts';
import { openTemporal } from '../../support/operator-view.ts';
import { anIntent, aPayer } from '../../support/payments-world.ts';
import { updateRun } from '../../support/update-run.ts';

let whole: CheckoutWorld;
beforeAll(async () => {
  whole = await startCheckoutWorld();
});
afterAll(async () => {
  await whole.close();
});

test('503 without a worker; the repeat with the same key approves once a worker runs; the assertion counts once', async () => {
  const { world } = whole;
  const payer = await aPayer(world, { policy: { require_attestation: true } });
  const intentId = await anIntent(world, payer, { status: 'pending_approval', isAutoApproved: false });
  const passkey = await aPasskey(world, payer.owner);
  const intents = payer.owner.client(intentsArea);
  const body = { webauthnAssertion: passkey.answer(await intentChallengeOf(payer.owner, intentId)) };
  const ask = (key: string) =>
    intents.approveIntent({ params: { id: intentId }, body, headers: { 'Idempotency-Key': key } });
  const key = randomUUID();

  await whole.stopWorker();
  await expect(ask(key)).rejects.toMatchObject({ status: 503, message: expect.stringMatching(/same Idempotency-Key/) });
  const { attestedAt, status } = await intents.getIntent({ params: { id: intentId } });
  expect([status, attestedAt]).toEqual(['pending_approval', expect.any(String)]);

  await whole.startWorker();
  expect(await ask(key)).toEqual({ id: intentId, status: 'approved', approvedBy: `passkey:${passkey.id}` });
  expect(await ask(key)).toEqual({ id: intentId, status: 'approved', approvedBy: `passkey:${passkey.id}` });
  await expect(ask(randomUUID())).rejects.toMatchObject({ status: 400, message: expect.stringMatching(/used before/) });
  const told = await world.sql<{ name: string }>(
    `select name from events where subject_id = $1 and name in ('intent.attested', 'intent.approved') order by seq`,
    [intentId],
  );
  expect(told.map(({ name }) => name)).toEqual(['intent.attested', 'intent.approved']);
  expect((await intents.getIntent({ params: { id: intentId } })).attestedAt).toBe(attestedAt);
});

test('an update that waited too long for a worker is refused with a reason, and the next request succeeds', async () => {
  const { world } = whole;
  const payer = await aPayer(world);
  const intentId = await anIntent(world, payer, { status: 'pending_approval', isAutoApproved: false });
  const intents = payer.owner.client(intentsArea);
  const temporal = await openTemporal();
  try {
    const vault = createVault({ keys: readVaultKeys(world.config.BURSAR_VAULT_KEY) });
    const asked = {
      decision: 'approve',
      actor: 'key',
      by: 'key_0123456789',
      causeId: 'old',
      requestId: 'req',
    } as const;
    const old = await signDecision(vault, intentId, asked, new Date(Date.now() - 11 * minute));
    await intents.getIntent({ params: { id: intentId } });
    await world.sql('update workflow_runs set wanted_wake = true where id = $1', [`intent/${intentId}`]);
    await temporal.started(`intent/${intentId}`);
    await whole.stopWorker();
    const run = temporal.client.workflow.getHandle(`intent/${intentId}`);
    const late = updateRun(run, 'decide', [old]).catch((error: Error) => (error.cause as Error).message);
    const key = { 'Idempotency-Key': randomUUID() };
    const ask = () => intents.approveIntent({ params: { id: intentId }, body: {}, headers: key });
    await expect(ask()).rejects.toMatchObject({ status: 503 });
    await whole.startWorker();
    expect(await late).toBe(
      'this request to approve is more than 10 minutes old and was not carried out; call the API again',
    );
    expect((await ask()).approvedBy).toMatch(/^key:key_/);
  } finally {
    await temporal.close();
  }
});
