/**
 * Goal: minting binds a credential to one intent, card, payee and amount, once, and leaves no secret behind. Method: the
 * use case over a real database, with a processor and a key set that the test controls.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allowAllRisk } from '../../../src/adapters/risk/allow-all.ts';
import type { Database } from '../../../src/db/database.ts';
import type { CardProcessor, MintOutcome } from '../../../src/domains/cards/cards/card.port.ts';
import type { KeySetOutcome } from '../../../src/domains/payments/mpp-credentials/merchant-keys.port.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { evaluateCharge } from '../../../src/usecases/payments/evaluate-charge.ts';
import { type MintResult, mintCredential } from '../../../src/usecases/payments/mint-credential.ts';
import type { CredentialOrder } from '../../../src/usecases/payments/reserve-credential.ts';
import { hashSecret } from '../../../src/vault/secret-hash.ts';
import { createVault } from '../../../src/vault/vault.ts';
import { readVaultKeys } from '../../../src/vault/vault-keys.ts';
import {
  challengeHeader,
  encryptionJwk,
  openCredential,
  readChallengeHeader,
} from '../../support/payment-challenges.ts';
import { anIntent, aPayer, inDatabase, type Payer } from '../../support/payments-world.ts';
import { businessNow, startWorld, type World } from '../../support/world.ts';

let world: World;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld();
  payer = await aPayer(world);
});
afterAll(async () => {
  await world.close();
});

type MintCall = Parameters<CardProcessor['mintPaymentToken']>[0];

/** Gives the same token for the same key, as the port demands. */
function processorOf(refusal?: Extract<MintOutcome, { outcome: 'refused' }>) {
  const calls: MintCall[] = [];
  return {
    calls,
    mintPaymentToken: async (call: MintCall): Promise<MintOutcome> => {
      calls.push(call);
      if (refusal !== undefined) return refusal;
      return { outcome: 'minted', paymentToken: `spt_${call.idempotencyKey}`, expiresAt: call.expiresAt.toISOString() };
    },
  };
}

function keySetOf(answer: KeySetOutcome) {
  const uris: string[] = [];
  return {
    uris,
    fetchKeySet: async (uri: string) => {
      uris.push(uri);
      return answer;
    },
  };
}

const noKeys = keySetOf({ outcome: 'no_answer', why: 'not asked', isForGood: true });

type Options = {
  readonly processor?: Pick<CardProcessor, 'mintPaymentToken'>;
  readonly merchantKeys?: ReturnType<typeof keySetOf>;
};

const vaultOf = () => createVault({ keys: readVaultKeys(world.config.BURSAR_VAULT_KEY) });

async function causeNow() {
  return {
    causeId: `test:${randomUUID()}`,
    requestId: randomUUID(),
    actor: { kind: 'system' },
    at: await businessNow(world),
  } as const;
}

async function mintWith(database: Database, order: CredentialOrder, options: Options = {}): Promise<MintResult> {
  const mint = mintCredential({
    database,
    vault: vaultOf(),
    evaluate: evaluateCharge({ risk: allowAllRisk }),
    merchantKeys: options.merchantKeys ?? noKeys,
    cardProcessor: options.processor ?? processorOf(),
  });
  return mint(order, await causeNow());
}

const minted = (order: CredentialOrder, options: Options = {}): Promise<MintResult> =>
  inDatabase(world, (database) => mintWith(database, order, options));

async function anOrder(
  header = challengeHeader(),
  changes: Partial<CredentialOrder> & { readonly of?: Payer; readonly intent?: Parameters<typeof anIntent>[2] } = {},
): Promise<CredentialOrder> {
  const { of = payer, intent = { merchant: 'shop.example' }, ...more } = changes;
  return {
    credentialId: newId('mppCredential'),
    intentId: await anIntent(world, of, intent),
    cardId: of.cardId,
    paymentId: null,
    origin: 'https://shop.example',
    ...readChallengeHeader(header),
    ...more,
  };
}

type Stored = Record<string, unknown> & { status: string; sealed_credential: string | null };
async function storedCredential(id: string): Promise<Stored | undefined> {
  const [row] = await world.sql<Stored>('select * from mpp_credentials where id = $1', [id]);
  return row;
}

const eventsOf = (id: string) =>
  world.sql<{ name: string; data: Record<string, unknown> }>(
    'select name, data from events where subject_id = $1 order by seq',
    [id],
  );

test('a credential is minted for the amount and payee of the challenge, and only the merchant can read its token', async () => {
  const processor = processorOf();
  const order = await anOrder();
  const result = await minted(order, { processor });
  if (result.outcome !== 'minted') throw new Error(JSON.stringify(result));
  expect(result.header.name).toBe('Authorization');
  const { challenge, payload, plaintext } = await openCredential(result.header.value);
  expect(challenge).toEqual(order.challenge);
  expect(payload).toMatchObject({
    network: 'visa',
    panLastFour: '4242',
    panExpirationMonth: '12',
    panExpirationYear: '2030',
  });
  expect(plaintext).toMatchObject({
    token: { paymentToken: `spt_${order.credentialId}`, eci: '07' },
    dynamicData: { dynamicDataType: 'NONE', dynamicDataValue: '' },
  });
  expect(processor.calls).toHaveLength(1);
  const [call] = processor.calls;
  expect(call).toMatchObject({ cardRef: payer.cardRef, merchantId: 'merch_1', ceilingCents: 1_250 });
  expect(call?.expiresAt.toISOString()).toBe(order.challenge.expires);
  const row = await storedCredential(order.credentialId);
  expect(row).toMatchObject({
    status: 'minted',
    intent_id: order.intentId,
    card_id: payer.cardId,
    origin: 'https://shop.example',
    host: 'shop.example',
    recipient: 'merch_1',
    token_hash: hashSecret(`spt_${order.credentialId}`),
    challenge: null,
  });
  const opened = await vaultOf().open(row?.sealed_credential ?? '', `mpp-credential/${order.credentialId}`);
  expect(JSON.parse(opened)).toEqual(result.header);
  expect(await eventsOf(order.credentialId)).toMatchObject([
    { name: 'mpp.credential.minted', data: { id: order.credentialId, amountEuros: 12.5, status: 'minted' } },
  ]);
});

test('no table holds the token or the credential in clear', async () => {
  const order = await anOrder();
  const result = await minted(order);
  if (result.outcome !== 'minted') throw new Error('not minted');
  const tables = await world.sql<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const secrets = [`spt_${order.credentialId}`, result.header.value.slice(8, 60)];
  for (const { name } of tables) {
    const found = await world.sql(
      `select 1 from "${name}" t where exists (select from unnest($1::text[]) s where position(s in t::text) > 0)`,
      [secrets],
    );
    expect([name, found.length]).toEqual([name, 0]);
  }
});

test('a credential of a payment is not stored, and the run of the payment follows it', async () => {
  const order = await anOrder(challengeHeader(), { paymentId: 'mppp_test00000' });
  expect(await minted(order)).toMatchObject({ outcome: 'minted' });
  expect(await storedCredential(order.credentialId)).toMatchObject({ sealed_credential: null, challenge: null });
  const runs = await world.sql('select workflow, is_open from workflow_runs where subject_id = $1', [
    order.credentialId,
  ]);
  expect(runs).toEqual([]);
});

test('a repeat asks the processor under the same key and gives the same token, once recorded', async () => {
  const processor = processorOf();
  const order = await anOrder(challengeHeader(), { paymentId: 'mppp_test00001' });
  const [first, second] = [await minted(order, { processor }), await minted(order, { processor })];
  if (first.outcome !== 'minted' || second.outcome !== 'minted') throw new Error('not minted');
  const { plaintext } = await openCredential(first.header.value);
  expect((await openCredential(second.header.value)).plaintext).toEqual(plaintext);
  expect(new Set(processor.calls.map(({ idempotencyKey }) => idempotencyKey))).toEqual(new Set([order.credentialId]));
  expect(processor.calls[0]).toEqual(processor.calls[1]);
  expect(await eventsOf(order.credentialId)).toHaveLength(1);
});

test('of two credentials at once for one intent exactly one is minted', async () => {
  const first = await anOrder();
  const second = { ...first, credentialId: newId('mppCredential') };
  const results = await inDatabase(world, (database) =>
    Promise.all([mintWith(database, first), mintWith(database, second)]),
  );
  expect(results.map(({ outcome }) => outcome).sort()).toEqual(['minted', 'refused']);
  expect(results).toContainEqual(
    expect.objectContaining({ code: 'intent', reason: expect.stringContaining('is valid until') }),
  );
});

test('a credential whose time is over makes room for another, and is not given again', async () => {
  const first = await anOrder();
  expect(await minted(first)).toMatchObject({ outcome: 'minted' });
  await world.sql(`update mpp_credentials set expires_at = now() - interval '1 second' where id = $1`, [
    first.credentialId,
  ]);
  const second = { ...first, credentialId: newId('mppCredential') };
  expect(await minted(second)).toMatchObject({ outcome: 'minted' });
  expect(await storedCredential(first.credentialId)).toMatchObject({ status: 'expired', sealed_credential: null });
  expect(await minted(first)).toMatchObject({ outcome: 'ended', status: 'expired' });
  const runs = await world.sql('select is_open from workflow_runs where subject_id = $1', [first.credentialId]);
  expect(runs).toEqual([{ is_open: false }]);
});

test.each<[string, Parameters<typeof challengeHeader>[0], Parameters<typeof anIntent>[2], Partial<CredentialOrder>]>([
  ['challenge_amount', { amountCents: 1_251 }, { merchant: 'shop.example' }, {}],
  ['challenge_merchant', {}, { merchant: 'Shop' }, {}],
  ['challenge_merchant', { recipient: undefined }, { merchant: 'merch_1' }, {}],
  ['challenge_payee', { recipient: undefined }, { merchant: null }, { origin: null }],
  ['challenge_network', { networks: ['amex'] }, { merchant: null }, {}],
  ['intent', {}, { status: 'pending_approval' }, {}],
  ['intent', {}, { status: 'cancelled' }, {}],
  ['card', {}, { merchant: null }, { cardId: newId('card') }],
])(
  '%s: challenge %j for intent %j is refused before anything is reserved',
  async (code, challenge, intent, changes) => {
    const processor = processorOf();
    const order = await anOrder(challengeHeader(challenge), { intent, ...changes });
    expect(await minted(order, { processor })).toMatchObject({ outcome: 'refused', code });
    expect(processor.calls).toEqual([]);
    expect(await storedCredential(order.credentialId)).toBeUndefined();
  },
);

test.each<[string, Record<string, unknown>]>([
  ['merchant_blocklist', { merchant_blocklist: ['shop.example'] }],
  ['merchant_allowlist', { merchant_allowlist: ['other.example'] }],
  ['max_transaction', { max_transaction_cents: 1_000 }],
  ['attestation', { require_attestation: true }],
])('the rule %s of the policy forbids minting', async (code, policy) => {
  const of = await aPayer(world, { policy });
  expect(await minted(await anOrder(challengeHeader(), { of }))).toMatchObject({ outcome: 'refused', code });
});

test('category and country are left to the network’s authorization, which names them', async () => {
  const of = await aPayer(world, { policy: { allowed_countries: ['FR'], allowed_mccs: ['5734'] } });
  expect(await minted(await anOrder(challengeHeader(), { of }))).toMatchObject({ outcome: 'minted' });
});

test('an empty account mints nothing', async () => {
  const of = await aPayer(world, { fundsCents: 1_249 });
  expect(await minted(await anOrder(challengeHeader(), { of }))).toMatchObject({ code: 'insufficient_funds' });
});

test.each<[string, Parameters<typeof challengeHeader>[0]]>([
  ['a short key', { keySource: { encryptionJwk: { ...encryptionJwk, n: 'AQAB' } } }],
  ['a key for another use', { keySource: { encryptionJwk: { ...encryptionJwk, use: 'sig' } } }],
  ['a key set of another origin', { keySource: { jwksUri: 'https://evil.example/jwks.json', kid: 'enc-1' } }],
  ['a key set without https', { keySource: { jwksUri: 'http://shop.example/jwks.json', kid: 'enc-1' } }],
])('%s is refused, and the intent is free again', async (_what, challenge) => {
  const processor = processorOf();
  const merchantKeys = keySetOf({ outcome: 'answered', body: { keys: [encryptionJwk] } });
  const order = await anOrder(challengeHeader(challenge));
  expect(await minted(order, { processor, merchantKeys })).toMatchObject({ outcome: 'refused', code: 'challenge_key' });
  expect([processor.calls, merchantKeys.uris]).toEqual([[], []]);
  expect(await storedCredential(order.credentialId)).toMatchObject({
    status: 'refused',
    outcome_code: 'challenge_key',
  });
  expect(
    await minted({ ...order, ...readChallengeHeader(challengeHeader()), credentialId: newId('mppCredential') }),
  ).toMatchObject({ outcome: 'minted' });
  expect(await minted(order)).toMatchObject({ outcome: 'refused', code: 'challenge_key' });
});

test('a published key is fetched once for the credential; another kid in the set is refused', async () => {
  const published = { keySource: { jwksUri: 'https://shop.example/jwks.json', kid: 'enc-1' } };
  const merchantKeys = keySetOf({ outcome: 'answered', body: { keys: [encryptionJwk] } });
  const order = await anOrder(challengeHeader(published), { paymentId: 'mppp_test00002' });
  expect(await minted(order, { merchantKeys })).toMatchObject({ outcome: 'minted' });
  expect(await minted(order, { merchantKeys })).toMatchObject({ outcome: 'minted' });
  expect(merchantKeys.uris).toEqual(['https://shop.example/jwks.json']);
  const other = await anOrder(challengeHeader({ keySource: { ...published.keySource, kid: 'enc-2' } }));
  expect(await minted(other, { merchantKeys })).toMatchObject({ outcome: 'refused', code: 'challenge_key' });
});

test('a key set that does not answer now is asked again; one that never will is a refusal', async () => {
  const published = challengeHeader({ keySource: { jwksUri: 'https://shop.example/jwks.json', kid: 'enc-1' } });
  const order = await anOrder(published);
  const away = keySetOf({ outcome: 'no_answer', why: 'shop.example is not reachable', isForGood: false });
  await expect(minted(order, { merchantKeys: away })).rejects.toMatchObject({ code: 'unavailable' });
  expect(await storedCredential(order.credentialId)).toMatchObject({ status: 'requested' });
  const gone = keySetOf({ outcome: 'no_answer', why: 'shop.example answered 404', isForGood: true });
  expect(await minted(order, { merchantKeys: gone })).toMatchObject({ outcome: 'refused', code: 'challenge_key' });
});

test('a card that the processor has closed is refused', async () => {
  const order = await anOrder();
  const processor = processorOf({ outcome: 'refused', reason: 'closed' });
  expect(await minted(order, { processor })).toMatchObject({ outcome: 'refused', code: 'card_refused' });
  expect(await storedCredential(order.credentialId)).toMatchObject({ status: 'refused', token_hash: null });
});

test.each([
  ['the card is frozen', `update cards set status = 'frozen', frozen_by = 'card' where id = $1`, 'cardId'],
  ['the agent is frozen', `update agents set status = 'frozen' where id = $1`, 'agentId'],
] as const)('%s while the processor is asked: nothing is given out', async (_what, statement, id) => {
  const of = await aPayer(world);
  const order = await anOrder(challengeHeader(), { of });
  const processor = processorOf();
  const freezing = {
    mintPaymentToken: async (call: MintCall) => {
      await world.sql(statement, [of[id]]);
      return processor.mintPaymentToken(call);
    },
  };
  expect(await minted(order, { processor: freezing })).toMatchObject({ outcome: 'refused', code: 'intent' });
  expect(await storedCredential(order.credentialId)).toMatchObject({ status: 'refused', sealed_credential: null });
});

test('an intent that is cancelled while the processor is asked gives nothing out', async () => {
  const order = await anOrder();
  const processor = processorOf();
  const cancelling = {
    mintPaymentToken: async (call: MintCall) => {
      await world.sql(`update intents set status = 'cancelled' where id = $1`, [order.intentId]);
      return processor.mintPaymentToken(call);
    },
  };
  expect(await minted(order, { processor: cancelling })).toMatchObject({ outcome: 'refused', code: 'intent' });
});

test('a credential whose time ends while the processor is asked gives nothing out', async () => {
  const order = await anOrder();
  const processor = processorOf();
  const slow = {
    mintPaymentToken: async (call: MintCall) => {
      await world.sql(`update mpp_credentials set expires_at = now() - interval '1 second' where id = $1`, [
        order.credentialId,
      ]);
      return processor.mintPaymentToken(call);
    },
  };
  expect(await minted(order, { processor: slow })).toMatchObject({ outcome: 'ended', status: 'expired' });
  expect(await storedCredential(order.credentialId)).toMatchObject({ token_hash: null, sealed_credential: null });
});

test('a processor that mints another token for the same key is not believed: the first one stays', async () => {
  const order = await anOrder(challengeHeader(), { paymentId: 'mppp_test00002' });
  expect(await minted(order)).toMatchObject({ outcome: 'minted' });
  const first = await storedCredential(order.credentialId);
  const processor = processorOf();
  const forgetful = {
    mintPaymentToken: (call: MintCall) => processor.mintPaymentToken({ ...call, idempotencyKey: randomUUID() }),
  };
  await expect(minted(order, { processor: forgetful })).rejects.toMatchObject({ code: 'conflict' });
  expect(await storedCredential(order.credentialId)).toEqual(first);
});

test('a frozen agent mints nothing', async () => {
  const of = await aPayer(world);
  const order = await anOrder(challengeHeader(), { of });
  await world.sql(`update agents set status = 'frozen' where id = $1`, [of.agentId]);
  expect(await minted(order)).toMatchObject({ outcome: 'refused', code: 'agent_status' });
});

async function protect(of: Payer, type: 'allow' | 'deny', merchant: string): Promise<void> {
  await world.sql(
    `insert into protect_rules (id, owner_id, type, merchant, request_id, created_at) values ($1, $2, $3, $4, 'req', now())`,
    [newId('protectRule'), of.owner.ownerId, type, merchant],
  );
}

test.each<['allow' | 'deny', string, string | null, MintResult['outcome']]>([
  ['deny', 'shop.example', 'https://shop.example', 'refused'],
  ['deny', 'other.example', 'https://shop.example', 'minted'],
  ['allow', 'shop.example', 'https://shop.example', 'minted'],
  ['allow', 'other.example', 'https://shop.example', 'refused'],
  // Without an address a rule that denies compares the realm; one that allows compares nothing that the payee wrote.
  ['deny', 'shop.example', null, 'refused'],
  ['deny', 'other.example', null, 'minted'],
  ['allow', 'shop.example', null, 'refused'],
])('with the protection rule %s %s, a challenge of %s is %s', async (type, merchant, origin, outcome) => {
  const of = await aPayer(world);
  await protect(of, type, merchant);
  const result = await minted(await anOrder(challengeHeader(), { of, origin, intent: { merchant: null } }));
  expect(result.outcome).toBe(outcome);
  if (result.outcome === 'refused') expect(result.code).toBe('protect_rule');
});
