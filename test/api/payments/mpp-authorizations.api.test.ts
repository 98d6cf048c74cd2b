/**
 * Goal: the network's authorization recognises the token inside an MPP credential: it pays for its own intent, at its
 * own merchant, once, up to its ceiling and before its expiry. Method: credentials as rows, the network over real HTTP.
 * @module
 */
import { expect, test } from '@jest/globals';
import { allowAllRisk } from '../../../src/adapters/risk/allow-all.ts';
import { evaluateCharge } from '../../../src/usecases/payments/evaluate-charge.ts';
import { aCredential, apiShop, credentialRow, eventNamesOf } from '../../support/mpp-world.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import { type Authorized, anIntent, aPayer, balancesOf, inDatabase, type Payer } from '../../support/payments-world.ts';
import { businessNow, type World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

const buyer = (over: Parameters<typeof aPayer>[1] = {}) => aPayer(world, { fundsCents: 10_000, ...over });
const shopIntent = (payer: Payer, over: Parameters<typeof anIntent>[2] = {}) =>
  anIntent(world, payer, { merchant: 'shop.example', ...over });

const charge = (payer: Payer, token: string, over: Record<string, unknown> = {}) =>
  network.authorize(payer, { token, merchant: apiShop, ...over });

async function transactionOf(id: string | null) {
  const [row] = await world.sql<Record<string, unknown>>('select * from transactions where id = $1', [id]);
  return row;
}
const intentOf = async (id: string) =>
  (await world.sql('select status, matched_transaction_id from intents where id = $1', [id]))[0];
const runOf = async (id: string) =>
  (await world.sql('select is_open, wanted_wake from workflow_runs where subject_id = $1', [id]))[0];

test('an authorization with the token uses the credential and pays for its intent', async () => {
  const payer = await buyer();
  const [, intentId] = [await shopIntent(payer), await shopIntent(payer)];
  const credential = await aCredential(world, payer, intentId);
  const { body } = await charge(payer, credential.token);
  expect(body.decision).toBe('approved');
  expect(await credentialRow(world, credential.id)).toMatchObject({
    status: 'consumed',
    transaction_id: body.transactionId,
    sealed_credential: null,
  });
  expect(await transactionOf(body.transactionId)).toMatchObject({
    rail: 'mpp',
    status: 'pending',
    intent_id: intentId,
    request_id: 'req-of-the-mint',
  });
  expect(await intentOf(intentId)).toEqual({ status: 'approved', matched_transaction_id: body.transactionId });
  expect(await runOf(credential.id)).toEqual({ is_open: false, wanted_wake: true });
  expect(await eventNamesOf(world, credential.id)).toEqual(['mpp.credential.consumed']);
  const transitions = await world.sql(
    `select from_status, to_status from transitions where noun = 'mpp_credential' and row_id = $1`,
    [credential.id],
  );
  expect(transitions).toEqual([{ from_status: 'minted', to_status: 'consumed' }]);
});

test('a payee that minting found by its recipient is paid under any name; a charge without the token is not', async () => {
  const payer = await buyer({ policy: { require_intent: true } });
  const intentId = await anIntent(world, payer, { merchant: 'Merch 1' });
  const named = { merchant: { ...apiShop, name: 'STRANGE NAME GMBH' } };
  expect((await network.authorize(payer, named)).body).toMatchObject({ decision: 'declined', rule: 'intent_required' });
  const { token } = await aCredential(world, payer, intentId);
  const { body } = await charge(payer, token, named);
  expect(body.decision).toBe('approved');
  expect(await intentOf(intentId)).toEqual({ status: 'approved', matched_transaction_id: body.transactionId });
});

test('the last clearing completes the machine payment, once', async () => {
  const payer = await buyer();
  const credential = await aCredential(world, payer, await shopIntent(payer));
  const message = network.authorizationOf(payer, { token: credential.token, merchant: apiShop });
  await network.send<Authorized>('authorizations', message);
  await network.clear(payer, { authorizationId: message.id, amountCents: 500, final: false });
  expect(await eventNamesOf(world, credential.id)).toEqual(['mpp.credential.consumed']);
  await network.clear(payer, { authorizationId: message.id, amountCents: 750 });
  expect(await eventNamesOf(world, credential.id)).toEqual(['mpp.credential.consumed', 'mpp.transaction.completed']);
  expect(await intentOf(credential.intentId)).toMatchObject({ status: 'completed' });
  expect(await balancesOf(world, payer)).toEqual({ available: 8_750, held: 0, receivable: 0 });
});

test('a part is collected and the rest reversed: the machine payment is completed by the reversal', async () => {
  const payer = await buyer();
  const credential = await aCredential(world, payer, await shopIntent(payer));
  const message = network.authorizationOf(payer, { token: credential.token, merchant: apiShop });
  await network.send<Authorized>('authorizations', message);
  await network.clear(payer, { authorizationId: message.id, amountCents: 500, final: false });
  await network.reverse(payer, { authorizationId: message.id });
  expect(await eventNamesOf(world, credential.id)).toEqual(['mpp.credential.consumed', 'mpp.transaction.completed']);
});

test('a clearing before its authorization: the authorization uses the credential and completes it', async () => {
  const payer = await buyer();
  const credential = await aCredential(world, payer, await shopIntent(payer));
  const message = network.authorizationOf(payer, { token: credential.token, merchant: apiShop });
  await network.clear(payer, { authorizationId: message.id });
  const { body } = await network.send<Authorized>('authorizations', message);
  expect(body.decision).toBe('approved');
  expect(await transactionOf(body.transactionId)).toMatchObject({
    rail: 'mpp',
    status: 'completed',
    intent_id: credential.intentId,
  });
  expect(await eventNamesOf(world, credential.id)).toEqual(['mpp.credential.consumed', 'mpp.transaction.completed']);
});

test('a second authorization with the token is declined and changes nothing', async () => {
  const payer = await buyer();
  const credential = await aCredential(world, payer, await shopIntent(payer));
  const { body } = await charge(payer, credential.token);
  const after = await credentialRow(world, credential.id);
  expect((await charge(payer, credential.token)).body).toMatchObject({ decision: 'declined', rule: 'token_used' });
  expect(await credentialRow(world, credential.id)).toEqual(after);
  expect(await intentOf(credential.intentId)).toEqual({
    status: 'approved',
    matched_transaction_id: body.transactionId,
  });
});

test('ten authorizations at once: one hold', async () => {
  const payer = await buyer();
  const credential = await aCredential(world, payer, await shopIntent(payer));
  const answers = await Promise.all(Array.from({ length: 10 }, () => charge(payer, credential.token)));
  expect(answers.filter(({ body }) => body.decision === 'approved')).toHaveLength(1);
  expect(await balancesOf(world, payer)).toEqual({ available: 8_750, held: 1_250, receivable: 0 });
  expect(await eventNamesOf(world, credential.id)).toEqual(['mpp.credential.consumed']);
});

test('ten declined authorizations at once: the first uses the token up', async () => {
  const payer = await buyer();
  const credential = await aCredential(world, payer, await shopIntent(payer));
  const over = { amountCents: 1_251 };
  const answers = await Promise.all(Array.from({ length: 10 }, () => charge(payer, credential.token, over)));
  const rules = answers.map(({ body }) => body.rule).sort();
  expect(rules).toEqual(['over_ceiling', ...Array.from({ length: 9 }, () => 'token_used')]);
});

test('the same message again gives the same answer', async () => {
  const payer = await buyer();
  const credential = await aCredential(world, payer, await shopIntent(payer));
  const message = network.authorizationOf(payer, { token: credential.token, merchant: apiShop });
  const first = await network.send<Authorized>('authorizations', message);
  expect(await network.send<Authorized>('authorizations', message)).toEqual(first);
});

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['over_ceiling', { amountCents: 1_251 }, {}],
  ['token_merchant', { merchant: { ...apiShop, id: 'merch_2' } }, {}],
  ['checkout_intent', {}, { status: 'cancelled' }],
])(
  '%s: a charge with %j for intent %j is declined, and the credential and its intent end',
  async (rule, over, intent) => {
    const payer = await buyer();
    const credential = await aCredential(world, payer, await shopIntent(payer, intent));
    const { body } = await charge(payer, credential.token, over);
    expect(body).toMatchObject({ decision: 'declined', rule });
    expect(await credentialRow(world, credential.id)).toMatchObject({
      status: 'declined',
      outcome_code: rule,
      transaction_id: body.transactionId,
      sealed_credential: null,
    });
    expect(await intentOf(credential.intentId)).toMatchObject({ status: intent.status ?? 'failed' });
    expect(await transactionOf(body.transactionId)).toMatchObject({ rail: 'mpp', status: 'failed' });
    expect(await balancesOf(world, payer)).toEqual({ available: 10_000, held: 0, receivable: 0 });
  },
);

test('after the expiry a charge is declined, and the intent stays open', async () => {
  const payer = await buyer();
  const credential = await aCredential(world, payer, await shopIntent(payer), {
    expires_at: new Date(Date.now() - 1_000),
  });
  expect((await charge(payer, credential.token)).body).toMatchObject({ decision: 'declined', rule: 'token_expired' });
  expect(await credentialRow(world, credential.id)).toMatchObject({ status: 'minted', authorized_at: null });
  expect(await intentOf(credential.intentId)).toMatchObject({ status: 'approved' });
});

test('a host of the policy’s allowlist is the host that the credential was presented to', async () => {
  const payer = await buyer({ policy: { merchant_allowlist: ['shop.example'] } });
  const credential = await aCredential(world, payer, await shopIntent(payer));
  expect((await charge(payer, credential.token)).body.decision).toBe('approved');
  const plain = await buyer({ policy: { merchant_allowlist: ['shop.example'] } });
  expect((await network.authorize(plain, { merchant: apiShop })).body).toMatchObject({ rule: 'merchant_allowlist' });
});

test('a lock to the first merchant holds for one that names no recipient, by its host', async () => {
  const payer = await buyer({ policy: { lock_to_first_merchant: true } });
  const unnamed = { recipient: null };
  const acquired = { ...apiShop, id: 'acquired_7' };
  const first = await aCredential(world, payer, await shopIntent(payer, { merchant: null }), unnamed);
  expect((await charge(payer, first.token, { merchant: acquired })).body.decision).toBe('approved');
  const at = await businessNow(world);
  const ruleFor = async (id: string | null, domain: string | null) => {
    const intentId = await shopIntent(payer, { merchant: null });
    const request = { amountCents: 1_250, merchant: { id, domain }, kind: 'purchase' } as const;
    const planned = { intentId, cardId: payer.cardId, phase: 'access', request } as const;
    const { decision } = await inDatabase(world, (database) =>
      database.write((tx) => evaluateCharge({ risk: allowAllRisk })(tx, planned, at)),
    );
    return decision.rule;
  };
  // As the next challenges are evaluated before anything is minted.
  expect(await ruleFor(null, 'shop.example')).toBe('within_rules');
  expect(await ruleFor('acquired_7', null)).toBe('within_rules');
  expect(await ruleFor(null, 'other.example')).toBe('first_merchant');
  expect(await ruleFor('other', 'elsewhere.example')).toBe('first_merchant');
  // And as the network's authorization decides.
  const next = await aCredential(world, payer, await shopIntent(payer, { merchant: null }), unnamed);
  expect(
    (await charge(payer, next.token, { merchant: { ...apiShop, id: 'acquired_8', name: 'Another name' } })).body,
  ).toMatchObject({ decision: 'approved' });
  const other = await aCredential(world, payer, await shopIntent(payer, { merchant: null }), {
    ...unnamed,
    host: 'other.example',
  });
  expect(
    (await charge(payer, other.token, { merchant: { ...apiShop, id: 'other', name: 'Other' } })).body,
  ).toMatchObject({
    decision: 'declined',
    rule: 'first_merchant',
  });
});

test('a rule about category or country is applied by the authorization', async () => {
  const payer = await buyer({ policy: { allowed_countries: ['FR'] } });
  const credential = await aCredential(world, payer, await shopIntent(payer));
  expect((await charge(payer, credential.token)).body).toMatchObject({ decision: 'declined', rule: 'country' });
});

test('the token of another card is no token', async () => {
  const [payer, other] = [await buyer({ policy: { require_intent: true } }), await buyer()];
  const credential = await aCredential(world, other, await shopIntent(other));
  expect((await charge(payer, credential.token)).body).toMatchObject({ decision: 'declined', rule: 'intent_required' });
  expect(await credentialRow(world, credential.id)).toMatchObject({ status: 'minted' });
});

test('an account check with the token uses nothing up', async () => {
  const payer = await buyer();
  const credential = await aCredential(world, payer, await shopIntent(payer));
  expect((await charge(payer, credential.token, { kind: 'verification', amountCents: 0 })).body.decision).toBe(
    'approved',
  );
  expect(await credentialRow(world, credential.id)).toMatchObject({ status: 'minted' });
});
