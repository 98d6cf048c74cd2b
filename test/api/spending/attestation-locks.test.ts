/**
 * Goal: passkeys and payments never wait for each other in a circle, and no charge passes on a removed passkey's word.
 * Method: attestations, charges and removals of one owner at once over real HTTP, and PostgreSQL's count of deadlocks.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Refused } from '../../../src/client/client.ts';
import { passkeysArea } from '../../../src/domains/identity/passkeys/passkey.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { deadlocksIn } from '../../support/deadlocks.ts';
import { aPasskey, intentChallengeOf } from '../../support/factories/passkeys.ts';
import { anIntent, aPayer, brokenInvariants, networkOf } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await world.close();
});

test('attest, charge and remove, all at once', async () => {
  const payer = await aPayer(world, { fundsCents: 1_000_000, policy: { require_attestation: true } });
  const { owner } = payer;
  const [passkeys, intents, network] = [owner.client(passkeysArea), owner.client(intentsArea), networkOf(world)];
  const kept = await aPasskey(world, owner);
  const ids: string[] = [];
  for (let n = 0; n < 12; n++) ids.push(await anIntent(world, payer, { amountCents: 100 }));
  const before = await deadlocksIn(world);
  const attest = async (id: string, by: typeof kept): Promise<void> => {
    // It counts nothing, as a synced passkey: answers that overtake each other would be refused for their counter.
    const webauthnAssertion = by.answer(await intentChallengeOf(owner, id), { counter: 0 });
    await intents.attestIntent({ params: { id }, body: { webauthnAssertion } }).catch((error: unknown) => {
      expect([(error as Refused).status, error instanceof Refused]).toEqual([400, true]); // Removed meanwhile.
    });
  };
  for (let round = 0; round < 4; round++) {
    const going = await aPasskey(world, owner, kept);
    const challenge = await passkeys.createPasskeyChallenge({
      body: { purpose: 'revoke_passkey', subjectId: going.id },
    });
    const remove = { params: { id: going.id }, body: { webauthnAssertion: kept.answer(challenge) } };
    const charged = Array.from({ length: 6 }, () => network.authorize(payer, { amountCents: 100 }));
    const attested = ids.map((id) => attest(id, going));
    const removed = Promise.race(attested).then(() => passkeys.revokePasskey(remove));
    await Promise.all([...attested, ...charged, removed]);
    for (const answer of await Promise.all(charged)) expect(answer.status).toBe(200);
    const open = await world.sql('select 1 from intents where attested_by = $1 and matched_transaction_id is null', [
      going.id,
    ]);
    expect(open).toEqual([]);
  }
  expect(await deadlocksIn(world)).toBe(before);
  const told = await world.sql(`select 1 from events where name = 'intent.attested' and agent_id = $1`, [
    payer.agentId,
  ]);
  expect(told.length).toBeGreaterThanOrEqual(4);
});
