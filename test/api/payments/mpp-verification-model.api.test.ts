/**
 * Goal: the verification of a credential does what the model of payment histories takes it to do, in every state of the
 * credential, of its charge, of the intent and of the agent. Method: random states; the charge comes from the network.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { verification } from '../../rules/payments/mpp-payments/payment-history.rules.ts';
import { registeredMerchant } from '../../support/factories/merchants.ts';
import { aCredential, apiShop, type Credential } from '../../support/mpp-world.ts';
import { anIntent, aPayer, networkOf, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let merchant: { id: string; merchant_secret_key: string };
beforeAll(async () => {
  world = await startWorld();
  merchant = await registeredMerchant(await world.owner());
});
afterAll(() => world.close());

/** How the credential was used before. */
const uses = ['none', 'declined', 'authorized', 'cleared', 'reversed', 'verified', 'authorized and verified'] as const;
const unused = ['minted', 'requested', 'expired', 'refused'] as const;

const state = fc.record({
  use: fc.constantFrom('none' as const, ...uses),
  unused: fc.constantFrom('minted' as const, 'minted' as const, ...unused),
  isPastExpiry: fc.constantFrom(false, false, true),
  intent: fc.constantFrom('approved', 'approved', 'approved', 'pending_approval', 'completed', 'cancelled', 'overdue'),
  inactive: fc.constantFrom(null, null, null, 'agents', 'cards'),
});
type State = typeof state extends fc.Arbitrary<infer T> ? T : never;

async function verify({ id }: Credential): Promise<number> {
  const answer = await fetch(`${world.apiUrl}/v1/mpp/credentials/${id}/verify`, {
    method: 'POST',
    headers: { 'X-Merchant-Key': merchant.merchant_secret_key },
  });
  await answer.arrayBuffer();
  return answer.status;
}

async function use(payer: Payer, credential: Credential, how: State['use']): Promise<void> {
  const network = networkOf(world);
  if (how === 'none') return;
  if (how === 'verified') return void (await verify(credential));
  const message = network.authorizationOf(payer, {
    token: credential.token,
    merchant: apiShop,
    ...(how === 'declined' ? { amountCents: 1_251 } : {}),
  });
  const { body } = await network.send<{ decision: string }>('authorizations', message);
  expect(body.decision).toBe(how === 'declined' ? 'declined' : 'approved');
  if (how === 'cleared') await network.clear(payer, { authorizationId: message.id, merchant: apiShop });
  if (how === 'reversed') await network.reverse(payer, { authorizationId: message.id, amountCents: 1_250 });
  if (how === 'authorized and verified') expect(await verify(credential)).toBe(200);
}

const chargeOf = {
  none: null,
  declined: null,
  authorized: 'approved',
  cleared: 'cleared',
  reversed: 'reversed',
} as const;
const statusAfter = { none: undefined, declined: 'declined' } as const;

const expected = ({ use: how, unused: status, isPastExpiry, intent, inactive }: State) =>
  verification({
    status: how === 'none' ? status : how === 'declined' ? statusAfter[how] : 'consumed',
    isVerified: how === 'verified' || how === 'authorized and verified',
    isPastExpiry,
    charge: how === 'verified' || how === 'authorized and verified' ? 'promised' : chargeOf[how],
    isIntentPayable: intent === 'approved',
    isActive: inactive === null,
  });

async function stateIn(given: State): Promise<{ payer: Payer; credential: Credential }> {
  const payer = await aPayer(world);
  const intentId = await anIntent(world, payer, { merchant: apiShop.id });
  const minted = { merchant_id: merchant.id, origin: null, host: null, sealed_credential: null };
  const credential = await aCredential(world, payer, intentId, {
    ...minted,
    ...(given.use === 'none' ? { status: given.unused } : {}),
  });
  await use(payer, credential, given.use);
  if (given.isPastExpiry)
    await world.sql(`update mpp_credentials set expires_at = now() - interval '1 second' where id = $1`, [
      credential.id,
    ]);
  if (given.intent === 'overdue')
    await world.sql(`update intents set expires_at = now() - interval '1 second' where id = $1`, [intentId]);
  else if (given.intent !== 'approved')
    await world.sql('update intents set status = $2 where id = $1', [intentId, given.intent]);
  if (given.inactive === 'agents')
    await world.sql(`update agents set status = 'frozen' where id = $1`, [payer.agentId]);
  if (given.inactive === 'cards')
    await world.sql(`update cards set status = 'frozen', frozen_by = 'card' where id = $1`, [payer.cardId]);
  return { payer, credential };
}

const recordsOf = async ({ id, intentId }: Credential) => ({
  transactions: await world.sql('select id, status from transactions where intent_id = $1 order by id', [intentId]),
  intent: (await world.sql('select status from intents where id = $1', [intentId]))[0]?.status,
  isVerified: (await world.sql('select 1 from mpp_credentials where id = $1 and verified_at is not null', [id])).length,
});

const usual = { unused: 'minted', isPastExpiry: false, intent: 'approved', inactive: null } as const;
/** One state for each outcome, whatever the random states are. */
const oneOfEach: readonly State[] = [
  { ...usual, use: 'none' },
  { ...usual, use: 'authorized' },
  { ...usual, use: 'declined' },
  { ...usual, use: 'none', inactive: 'cards' },
];
const seen = new Set<string>();

test('a verification has the outcome of the model, and changes what the outcome says and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(state, async (given) => {
      const { credential } = await stateIn(given);
      const before = await recordsOf(credential);
      const outcome = expected(given);
      seen.add(outcome);
      const status = await verify(credential);
      expect([given, status]).toEqual([given, { promised: 200, confirmed: 200, conflict: 409, gone: 410 }[outcome]]);
      const after = await recordsOf(credential);
      if (outcome === 'conflict' || outcome === 'gone') expect(after).toEqual(before);
      if (outcome === 'confirmed') expect(after).toEqual({ ...before, isVerified: 1 });
      if (outcome === 'promised')
        expect(after).toEqual({
          transactions: [{ id: expect.any(String), status: 'pending' }],
          intent: 'completed',
          isVerified: 1,
        });
    }),
    { numRuns: 80, examples: oneOfEach.map((one) => [one]) },
  );
  expect([...seen].sort()).toEqual(['confirmed', 'conflict', 'gone', 'promised']);
}, 300_000);
