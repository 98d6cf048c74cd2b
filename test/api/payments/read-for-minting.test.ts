/**
 * Goal: what is read in one statement for minting is what the reads of each domain answer one by one. Method: real rows of
 * merchants, keys and protection rules, of the owner and of strangers, and each combination of recipient and key.
 * @module
 */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cardOnRecord } from '../../../src/domains/cards/cards/card.queries.ts';
import { thumbprintOf } from '../../../src/domains/merchants/merchants/merchant-key.queries.ts';
import type { ChargeRequest } from '../../../src/domains/payments/mpp/challenge.wire.ts';
import { readEncryptionKey } from '../../../src/domains/payments/mpp/encryption-key.rules.ts';
import { protectRulesFor } from '../../../src/domains/spending/protect-rules/protect-rule.queries.ts';
import type { ProtectRule } from '../../../src/domains/spending/protect-rules/protect-rule.rules.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { claimedMerchant, merchantsOfCharge } from '../../../src/usecases/payments/merchant-of-charge.ts';
import { readForMinting } from '../../../src/usecases/payments/read-for-minting.ts';
import { aPayer, inDatabase, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

type Merchant = { readonly id: string; readonly slug: string };
type Jwk = Readonly<Record<string, unknown>>;

let world: World;
let payer: Payer;
let sibling: Payer;
let stranger: Payer;
const merchants: Record<'active' | 'suspended', Merchant> = { active: named('open'), suspended: named('shut') };
const keys: Record<string, Jwk> = {
  'in force': aKey(),
  'in its overlap': aKey(),
  replaced: aKey(),
  'not proven': aKey(),
  'of a suspended merchant': aKey(),
  unknown: aKey(),
  'of another algorithm': { ...aKey(), alg: 'RSA-OAEP' },
};

beforeAll(async () => {
  world = await startWorld();
  payer = await aPayer(world);
  sibling = await aPayer(world, { owner: payer.owner });
  stranger = await aPayer(world);
  for (const [status, { id, slug }] of Object.entries(merchants)) {
    await world.sql(
      `insert into merchants (id, owner_id, slug, name, status, secret_hash, hint, invite_hash, request_id, created_at)
       values ($1, $2, $3, $3, $4, $5, 'hint', $6, 'test', now())`,
      [id, stranger.owner.ownerId, slug, status, hashOf(`secret of ${id}`), hashOf(`invitation of ${id}`)],
    );
  }
  await register(merchants.active, 'in force', 'now()', 'null');
  await register(merchants.active, 'in its overlap', 'now()', `now() + interval '1 hour'`);
  await register(merchants.active, 'replaced', 'now()', `now() - interval '1 hour'`);
  await register(merchants.active, 'not proven', 'null', 'null');
  await register(merchants.suspended, 'of a suspended merchant', 'now()', 'null');
  for (const { owner, agentId } of [payer, sibling, stranger]) {
    await protect(owner.ownerId, agentId, 'allow', merchants.active.slug);
    await protect(owner.ownerId, agentId, 'deny', 'casino.example');
  }
  await protect(payer.owner.ownerId, null, 'deny', merchants.suspended.id);
  await protect(stranger.owner.ownerId, null, 'allow', 'shop.example');
});
afterAll(() => world.close());

function named(name: string): Merchant {
  return { id: newId('merchant'), slug: `${name}-${newId('merchant').slice(-8)}` };
}
function aKey(): Jwk {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return { ...publicKey.export({ format: 'jwk' }), alg: 'RSA-OAEP-256', use: 'enc', kid: 'k1' };
}
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

async function register({ id }: Merchant, key: string, provenAt: string, validUntil: string): Promise<void> {
  const jwk = keys[key] as { kty: 'RSA'; n: string; e: string };
  await world.sql(
    `insert into merchant_encryption_keys (merchant_id, thumbprint, jwk, proven_at, valid_until, created_at)
     values ($1, $2, $3, ${provenAt}, ${validUntil}, now())`,
    [id, await thumbprintOf(jwk), jwk],
  );
}

const protect = (ownerId: string, agentId: string | null, type: 'allow' | 'deny', merchant: string) =>
  world.sql(
    `insert into protect_rules (id, owner_id, agent_id, type, merchant, request_id, created_at)
     values ($1, $2, $3, $4, $5, 'test', now())`,
    [newId('protectRule'), ownerId, agentId, type, merchant],
  );

const byId = (rules: readonly ProtectRule[]) => rules.toSorted((one, other) => (one.id < other.id ? -1 : 1));

const { active, suspended } = merchants;
const recipients = {
  'no one': undefined,
  'an unknown name': 'nobody',
  'the id of a merchant': active.id,
  'the slug of a merchant': active.slug,
  'the id of a suspended one': suspended.id,
  'the slug of a suspended one': suspended.slug,
};
const published = { kind: 'published', uri: 'https://shop.example/keys', kid: 'k1' } as const;
const carried: Record<string, ChargeRequest['key']> = { 'named by an address': published };
for (const [name, jwk] of Object.entries(keys)) carried[name] = { kind: 'embedded', jwk };
const combinations = Object.entries(recipients).flatMap(([recipient, id]) =>
  Object.entries(carried).map(([name, key]) => ({ recipient, name, charge: { recipient: id, key } })),
);

const intentOf = ({ cardId, agentId, owner }: Payer) =>
  ({ cardId, agentId, ownerId: owner.ownerId }) as Parameters<typeof readForMinting>[1];

test.each(combinations)('recipient: $recipient; key: $name', async ({ charge }) => {
  const intent = intentOf(payer);
  const [together, apart] = await inDatabase(world, async (database) => {
    const tx = database.read();
    const reading = charge.key.kind === 'embedded' ? readEncryptionKey(charge.key.jwk) : undefined;
    return [
      await readForMinting(tx, intent, charge),
      {
        card: await cardOnRecord(tx, payer.cardId),
        rules: await protectRulesFor(tx, intent),
        merchants: reading?.ok === true ? await merchantsOfCharge(tx, { ...charge, jwk: reading.jwk }) : undefined,
        claimed: await claimedMerchant(tx, charge),
      },
    ] as const;
  });
  expect(together.rules).toHaveLength(3);
  expect({ ...together, rules: byId(together.rules) }).toEqual({ ...apart, rules: byId(apart.rules) });
});

test('among these are a merchant that is named, one that holds the key, one with a replaced key, and none', async () => {
  const found = await inDatabase(world, (database) =>
    Promise.all(combinations.map(({ charge }) => readForMinting(database.read(), intentOf(payer), charge))),
  );
  const outcomes = found.map(({ merchants: registered, claimed }) =>
    JSON.stringify([registered?.named?.id ?? null, registered?.held?.isUsable ?? null, claimed?.id ?? null]),
  );
  const { id } = active;
  const all = [
    [null, null, null],
    [null, null, id],
    [null, false, id],
    [null, true, id],
    [id, null, id],
    [id, false, id],
    [id, true, id],
  ];
  expect(new Set(outcomes)).toEqual(new Set(all.map((one) => JSON.stringify(one))));
});

test('a card that is not issued yet is not read', async () => {
  await world.sql('update cards set is_provisioning = true where id = $1', [sibling.cardId]);
  await inDatabase(world, async (database) => {
    const tx = database.read();
    const charge = { recipient: undefined, key: published };
    await expect(readForMinting(tx, intentOf(sibling), charge)).rejects.toThrow(`no card ${sibling.cardId}`);
    await expect(cardOnRecord(tx, sibling.cardId)).rejects.toThrow(`no card ${sibling.cardId}`);
  });
});
