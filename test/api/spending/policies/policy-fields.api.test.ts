/**
 * Goal: each field of a policy means what is published, at its edges. Method: the field is set over the API, and then
 * the network asks for charges; where a declaration can know it, it is declared too. The clock is moved where time counts.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../../../src/client/client.ts';
import { cardsArea } from '../../../../src/domains/cards/cards/card.contract.ts';
import { intentsArea } from '../../../../src/domains/spending/intents/intent.contract.ts';
import { policiesArea } from '../../../../src/domains/spending/policies/policy.contract.ts';
import { sandboxClockArea } from '../../../../src/http/sandbox-clock.ts';
import { day, hour, minute } from '../../../../src/kernel/instant.ts';
import { eventsOf } from '../../../support/events.ts';
import {
  anIntent,
  aPayer,
  brokenInvariants,
  networkOf,
  type Payer,
  sandboxShop,
} from '../../../support/payments-world.ts';
import { startWorld, type World } from '../../../support/world.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
beforeAll(async () => {
  world = await startWorld();
  network = networkOf(world);
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await world.close();
});

type Asked = NonNullable<Parameters<ReturnType<typeof policiesOf>['updateAgentPolicy']>[0]>;
type Terms = NonNullable<Asked['body']>;
const policiesOf = ({ owner }: Payer) => owner.client(policiesArea);

/** With no other rule than these. */
async function aPayerWith(terms: Terms): Promise<Payer> {
  const payer = await aPayer(world, { fundsCents: 1_000_000 });
  await policiesOf(payer).updateAgentPolicy({ params: { agentId: payer.agentId }, body: terms });
  return payer;
}

type Charge = {
  amountCents?: number;
  merchant?: Partial<typeof sandboxShop>;
  recurring?: boolean;
  kind?: 'purchase' | 'verification';
};
/** The rule that refused, or `within_rules`. */
async function charge(payer: Payer, { merchant, ...over }: Charge = {}): Promise<string> {
  const { body } = await network.authorize(payer, { ...over, merchant: { ...sandboxShop, ...merchant } });
  return body.rule;
}
const passes = 'within_rules';

const declare = ({ owner, agentId }: Payer, expectedAmountEuros: number, expectedMerchant?: string) =>
  owner.client(intentsArea).declareIntent({
    body: {
      agentId,
      purpose: 'a thing',
      expectedAmountEuros,
      ...(expectedMerchant === undefined ? {} : { expectedMerchant }),
    },
  });

const clock = () =>
  createClient(sandboxClockArea, (request) =>
    sendTo(world.apiUrl)({ ...request, headers: { ...request.headers, 'X-Dashboard-Secret': world.dashboardSecret } }),
  );
const now = async () => new Date((await clock().getSandboxClock()).now);
const advanceTo = async (at: Date) => world.advance(at.getTime() - (await now()).getTime());
const nextDay = (at: Date, hours = 0) =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1, hours));

const shop = (name: string, id = `m_${name.replace(/\W/g, '').toLowerCase()}`) => ({ merchant: { id, name } });
const at = (mcc: string) => ({ merchant: { mcc } });
const from = (country: string) => ({ merchant: { country } });

type Row = [field: string, what: string, terms: Terms, charge: Charge, expected: string];
const rows: Row[] = [
  ['maxTransactionEuros', 'its very amount', { maxTransactionEuros: 12.5 }, { amountCents: 1_250 }, passes],
  ['maxTransactionEuros', 'a cent more', { maxTransactionEuros: 12.5 }, { amountCents: 1_251 }, 'max_transaction'],
  ['maxTransactionEuros', 'none at all', { maxTransactionEuros: 0 }, { amountCents: 1 }, 'max_transaction'],
  ['dailyLimitEuros', 'its very amount', { dailyLimitEuros: 12.5 }, { amountCents: 1_250 }, passes],
  ['dailyLimitEuros', 'a cent more', { dailyLimitEuros: 12.5 }, { amountCents: 1_251 }, 'daily_limit'],
  ['monthlyLimitEuros', 'its very amount', { monthlyLimitEuros: 12.5 }, { amountCents: 1_250 }, passes],
  ['monthlyLimitEuros', 'a cent more', { monthlyLimitEuros: 12.5 }, { amountCents: 1_251 }, 'monthly_limit'],
  ['autoApproveLimitEuros', 'null never asks', { autoApproveLimitEuros: null }, { amountCents: 900_000 }, passes],
  ['autoApproveLimitEuros', '0 always asks', { autoApproveLimitEuros: 0 }, { amountCents: 1 }, 'auto_approve_limit'],
  ['autoApproveLimitEuros', 'its very amount', { autoApproveLimitEuros: 12.5 }, { amountCents: 1_250 }, passes],
  [
    'autoApproveLimitEuros',
    'a cent more',
    { autoApproveLimitEuros: 12.5 },
    { amountCents: 1_251 },
    'auto_approve_limit',
  ],
  ['merchantAllowlist', 'empty restricts nothing', { merchantAllowlist: [] }, shop('Anybody'), passes],
  ['merchantAllowlist', 'in another case', { merchantAllowlist: ['SANDBOX shop'] }, {}, passes],
  ['merchantAllowlist', 'by id', { merchantAllowlist: ['Sandbox-Shop'] }, shop('Another name', 'sandbox-shop'), passes],
  ['merchantAllowlist', 'a domain', { merchantAllowlist: ['Example.com'] }, shop('example.com'), passes],
  ['merchantAllowlist', 'its subdomain', { merchantAllowlist: ['example.com'] }, shop('shop.EXAMPLE.com'), passes],
  [
    'merchantAllowlist',
    'not a domain that only ends alike',
    { merchantAllowlist: ['example.com'] },
    shop('badexample.com'),
    'merchant_allowlist',
  ],
  [
    'merchantAllowlist',
    'not the domain above it',
    { merchantAllowlist: ['shop.example.com'] },
    shop('example.com'),
    'merchant_allowlist',
  ],
  ['merchantAllowlist', 'nobody else', { merchantAllowlist: ['a', 'b'] }, {}, 'merchant_allowlist'],
  ['merchantBlocklist', 'in another case', { merchantBlocklist: ['sandbox SHOP'] }, {}, 'merchant_blocklist'],
  [
    'merchantBlocklist',
    'its subdomain',
    { merchantBlocklist: ['example.com'] },
    shop('a.example.com'),
    'merchant_blocklist',
  ],
  ['merchantBlocklist', 'nobody else', { merchantBlocklist: ['Sandbox Casino'] }, {}, passes],
  [
    'merchantBlocklist',
    'beats the allowlist',
    { merchantBlocklist: ['Sandbox Shop'], merchantAllowlist: ['Sandbox Shop'] },
    {},
    'merchant_blocklist',
  ],
  ['allowedMccs', 'one of them', { allowedMccs: ['5942', '5734'] }, at('5734'), passes],
  ['allowedMccs', 'no other', { allowedMccs: ['5942'] }, at('5734'), 'mcc_allowlist'],
  ['blockedMccs', 'one of them', { blockedMccs: ['7995', '5734'] }, at('5734'), 'mcc_blocklist'],
  ['blockedMccs', 'no other', { blockedMccs: ['7995'] }, at('5734'), passes],
  ['blockedMccs', 'beats the allowed', { blockedMccs: ['5734'], allowedMccs: ['5734'] }, at('5734'), 'mcc_blocklist'],
  ['mccCategories', 'a code of the group', { mccCategories: ['Gambling'] }, at('7995'), passes],
  ['mccCategories', 'no code outside', { mccCategories: ['gambling'] }, at('5734'), 'mcc_allowlist'],
  ['mccCategories', 'or an allowed code', { mccCategories: ['gambling'], allowedMccs: ['5734'] }, at('5734'), passes],
  [
    'mccCategories',
    'a blocked code of it',
    { mccCategories: ['gambling'], blockedMccs: ['7995'] },
    at('7995'),
    'mcc_blocklist',
  ],
  ['allowedCountries', 'one of them, in another case', { allowedCountries: ['fr', 'de'] }, from('DE'), passes],
  ['allowedCountries', 'no other', { allowedCountries: ['FR', 'AT'] }, from('DE'), 'country'],
  ['requireIntent', 'without one', { requireIntent: true }, {}, 'intent_required'],
  ['requireIntent', 'off', { requireIntent: false }, {}, passes],
];

// spec: does:Policies:limits
// spec: does:Policies:allowlists
// spec: does:Policies:blocklists
test.each(rows)('%s: %s', async (_field, _what, terms, asked, expected) => {
  const payer = await aPayerWith(terms);
  expect(await charge(payer, asked)).toBe(expected);
  // A verification of zero euros uses no limit and needs no approval.
  const isLimit = /max_transaction|limit|intent_required/.test(expected);
  if (isLimit) expect(await charge(payer, { ...asked, kind: 'verification', amountCents: 0 })).toBe(passes);
});

describe('a declaration is refused by the facts that it has', () => {
  const declared: [
    what: string,
    terms: Terms,
    euros: number,
    merchant: string | undefined,
    status: string,
    rule: RegExp,
  ][] = [
    ['a cent above the transaction', { maxTransactionEuros: 5 }, 5.01, undefined, 'denied', /^transaction limit 5\.00/],
    ['a cent above the day', { dailyLimitEuros: 5 }, 5.01, undefined, 'denied', /^daily limit 5\.00, spent 0\.00/],
    ['a cent above the month', { monthlyLimitEuros: 5 }, 5.01, undefined, 'denied', /^monthly limit 5\.00/],
    [
      'exactly the limits',
      { maxTransactionEuros: 5, dailyLimitEuros: 5, monthlyLimitEuros: 5 },
      5,
      undefined,
      'approved',
      /^$/,
    ],
    ['auto-approve null', { autoApproveLimitEuros: null }, 9_999, undefined, 'approved', /^$/],
    ['auto-approve 0', { autoApproveLimitEuros: 0 }, 0.01, undefined, 'pending_approval', /a person has to approve/],
    ['auto-approve met', { autoApproveLimitEuros: 5 }, 5, undefined, 'approved', /^$/],
    [
      'auto-approve passed',
      { autoApproveLimitEuros: 5 },
      5.01,
      undefined,
      'pending_approval',
      /a person has to approve/,
    ],
    [
      'a blocked merchant',
      { merchantBlocklist: ['example.com'] },
      1,
      'https://shop.example.com/x',
      'denied',
      /is blocked/,
    ],
    ['an allowed merchant', { merchantAllowlist: ['example.com'] }, 1, 'shop.example.com', 'approved', /^$/],
    ['another merchant', { merchantAllowlist: ['example.com'] }, 1, 'example.org', 'denied', /none of the 1 allowed/],
    ['no merchant named', { merchantAllowlist: ['example.com'] }, 1, undefined, 'approved', /^$/],
  ];
  test.each(declared)('%s', async (_what, terms, euros, merchant, status, reason) => {
    const payer = await aPayerWith(terms);
    const intent = await declare(payer, euros, merchant);
    expect(intent.status).toBe(status);
    expect(intent.policyCheck.reason ?? '').toMatch(reason);
  });

  test('an open intent counts against the day until it is cancelled', async () => {
    const payer = await aPayerWith({ dailyLimitEuros: 10 });
    const first = await declare(payer, 6);
    expect((await declare(payer, 4.01)).status).toBe('denied');
    expect((await declare(payer, 4)).status).toBe('approved');
    await payer.owner.client(intentsArea).cancelIntent({ params: { id: first.id as never } });
    expect((await declare(payer, 6)).status).toBe('approved');
  });
});

describe('days and months are those of UTC, by the time of the authorization', () => {
  test('the day’s sum restarts at midnight; a reversed charge does not count', async () => {
    await advanceTo(nextDay(await now(), 23));
    const payer = await aPayerWith({ dailyLimitEuros: 20 });
    const message = network.authorizationOf(payer, { amountCents: 1_250 });
    await network.send('authorizations', message);
    expect(await charge(payer, { amountCents: 751 })).toBe('daily_limit');
    await network.clear(payer, { authorizationId: message.id, amountCents: 1_000, final: true });
    expect(await charge(payer, { amountCents: 1_001 })).toBe('daily_limit'); // Collected counts, the rest does not.
    const second = network.authorizationOf(payer, { amountCents: 1_000 });
    expect((await network.send('authorizations', second)).body).toMatchObject({ decision: 'approved' });
    await network.reverse(payer, { authorizationId: second.id });
    expect(await charge(payer, { amountCents: 1_000 })).toBe(passes);
    const midnight = nextDay(await now());
    await advanceTo(new Date(midnight.getTime() - minute));
    expect(await charge(payer, { amountCents: 1 })).toBe('daily_limit');
    await advanceTo(midnight);
    expect(await charge(payer, { amountCents: 2_000 })).toBe(passes);
    expect(await charge(payer, { amountCents: 1 })).toBe('daily_limit');
  });

  test('the month’s sum adds its days and restarts on the first', async () => {
    const today = await now();
    const first = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 1));
    await advanceTo(first);
    const payer = await aPayerWith({ monthlyLimitEuros: 30 });
    expect(await charge(payer, { amountCents: 1_000 })).toBe(passes);
    await world.advance(3 * day);
    expect(await charge(payer, { amountCents: 2_001 })).toBe('monthly_limit');
    expect(await charge(payer, { amountCents: 2_000 })).toBe(passes);
    const next = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1));
    await advanceTo(new Date(next.getTime() - minute));
    expect(await charge(payer, { amountCents: 1 })).toBe('monthly_limit');
    await advanceTo(next);
    expect(await charge(payer, { amountCents: 3_000 })).toBe(passes);
  });

  test('activeHours: from the start, to before the end, over midnight, and equal means always', async () => {
    await advanceTo(nextDay(await now(), 12));
    const hours = (start: number | null, end: number | null) =>
      aPayerWith({ activeHoursStart: start, activeHoursEnd: end });
    const payers = {
      day: await hours(12, 14),
      night: await hours(14, 12),
      equal: await hours(3, 3),
      open: await hours(13, null),
      upTo: await hours(null, 13),
    };
    const asked = async () =>
      Object.fromEntries(
        await Promise.all(
          Object.entries(payers).map(async ([name, payer]) => [name, (await charge(payer)) === passes] as const),
        ),
      );
    await world.advance(minute);
    expect(await asked()).toEqual({ day: true, night: false, equal: true, open: false, upTo: true });
    await advanceTo(nextDay(await now(), 13));
    expect(await asked()).toEqual({ day: true, night: false, equal: true, open: true, upTo: false });
    await advanceTo(nextDay(await now(), 14));
    expect(await asked()).toEqual({ day: false, night: true, equal: true, open: true, upTo: false });
    await advanceTo(nextDay(await now(), 0));
    expect(await asked()).toEqual({ day: false, night: true, equal: true, open: false, upTo: true });
    expect(await charge(payers.day)).toBe('active_hours');
    const { policyCheck } = await declare(payers.day, 1);
    expect(policyCheck).toMatchObject({
      allowed: false,
      reason: expect.stringMatching(/12:00 to 14:00 UTC, it is 00:0/),
    });
  });
});

test('cooldownMinutes: the gap lies between two payments of any merchant; 0 is none', async () => {
  const payer = await aPayerWith({ cooldownMinutes: 30 });
  expect(await charge(payer)).toBe(passes);
  expect(await charge(payer, shop('Another'))).toBe('cooldown');
  expect(await charge(payer, { recurring: true })).toBe(passes); // By standing agreement; counts as the last payment.
  await world.advance(29 * minute);
  expect(await charge(payer)).toBe('cooldown');
  expect((await declare(payer, 1)).policyCheck.reason).toMatch(/30 min must lie between payments/);
  await world.advance(minute);
  expect(await charge(payer)).toBe(passes);
  await policiesOf(payer).updateAgentPolicy({ params: { agentId: payer.agentId }, body: { cooldownMinutes: 0 } });
  expect(await charge(payer)).toBe(passes);
});

test('cooldownMinutes: a declined charge and a reversed one are no payment', async () => {
  const payer = await aPayerWith({ cooldownMinutes: 30, maxTransactionEuros: 20 });
  expect(await charge(payer, { amountCents: 2_001 })).toBe('max_transaction');
  const message = network.authorizationOf(payer);
  expect((await network.send('authorizations', message)).body).toMatchObject({ decision: 'approved' });
  await network.reverse(payer, { authorizationId: message.id });
  expect(await charge(payer)).toBe(passes);
});

test('lockToFirstMerchant: the first that was paid stays the only one, until that payment is fully reversed', async () => {
  const payer = await aPayerWith({ lockToFirstMerchant: true, blockedMccs: ['7995'] });
  expect(await charge(payer, { merchant: { ...shop('Casino').merchant, mcc: '7995' } })).toBe('mcc_blocklist');
  const message = network.authorizationOf(payer);
  await network.send('authorizations', message);
  expect(await charge(payer, shop('Another'))).toBe('first_merchant');
  expect(await charge(payer, { merchant: { name: 'sandbox SHOP' } })).toBe(passes);
  expect((await declare(payer, 1, 'Another')).policyCheck.reason).toMatch(/locked to its first merchant Sandbox Shop/);
  const fresh = await aPayerWith({ lockToFirstMerchant: true });
  const first = network.authorizationOf(fresh);
  await network.send('authorizations', first);
  await network.reverse(fresh, { authorizationId: first.id, amountCents: 250 });
  expect(await charge(fresh, shop('Another'))).toBe('first_merchant'); // A part is not all of it.
  await network.reverse(fresh, { authorizationId: first.id });
  expect(await charge(fresh, shop('Another'))).toBe(passes);
  expect(await charge(fresh)).toBe('first_merchant');
});

test('lockToFirstMerchant: branches and places drift, and nothing that was paid under them widens the lock', async () => {
  const payer = await aPayerWith({ lockToFirstMerchant: true });
  const named = (name: string, mcc = '5734') => ({ merchant: { id: `acceptor ${name}`, name, mcc, country: 'DE' } });
  expect(await charge(payer, named('SUNRISE BAKERY 0087 PARIS'))).toBe(passes);
  expect(await charge(payer, named('SUNRISE BAKERY 0412 LYON'))).toBe(passes);
  expect(await charge(payer, named('SQ *SUNRISE BAKERY'))).toBe(passes);
  expect(await charge(payer, named('SUNRISE BAKERY LYON CASINO'))).toBe('first_merchant');
  expect(await charge(payer, named('SUNRISE BREWERY 0412 LYON'))).toBe('first_merchant');
  expect(await charge(payer, named('SUNRISE BAKERY 0999', '7995'))).toBe('first_merchant');
  const { merchantLock } = await payer.owner
    .client(cardsArea)
    .getCardPolicy({ params: { cardId: payer.cardId as `ca_${string}` } });
  expect(merchantLock).toEqual({
    merchant: 'SUNRISE BAKERY 0087 PARIS',
    merchantId: 'acceptor SUNRISE BAKERY 0087 PARIS',
    mcc: '5734',
    names: ['SQ *SUNRISE BAKERY', 'SUNRISE BAKERY 0412 LYON', 'SUNRISE BAKERY 0087 PARIS'],
  });
});

describe('maxUsageCount', () => {
  test('allows that many charges; the card freezes when they are collected, with an event', async () => {
    const payer = await aPayerWith({ maxUsageCount: 2 });
    const [first, second] = [network.authorizationOf(payer), network.authorizationOf(payer)];
    await network.send('authorizations', first);
    await network.clear(payer, { authorizationId: first.id });
    const card = () => world.sql('select status, frozen_by from cards where id = $1', [payer.cardId]);
    expect(await card()).toEqual([{ status: 'active', frozen_by: null }]);
    await network.send('authorizations', second);
    expect(await charge(payer)).toBe('usage_count');
    expect((await declare(payer, 1)).policyCheck.reason).toMatch(/usage count 2, used 2/);
    await network.clear(payer, { authorizationId: second.id });
    expect(await card()).toEqual([{ status: 'frozen', frozen_by: 'policy' }]);
    const frozen = (await eventsOf(world, payer.owner.ownerId)).filter(({ name }) => name === 'card.frozen');
    expect(frozen.map(({ data }) => data)).toEqual([expect.objectContaining({ id: payer.cardId, status: 'frozen' })]);
    expect(await charge(payer)).toBe('card_status');
  });

  test('gives one back that was fully reversed', async () => {
    const payer = await aPayerWith({ maxUsageCount: 1 });
    const message = network.authorizationOf(payer);
    await network.send('authorizations', message);
    expect(await charge(payer)).toBe('usage_count');
    await network.reverse(payer, { authorizationId: message.id });
    expect(await charge(payer)).toBe(passes);
  });
});

test.each([
  [null, 1_000, passes],
  [null, 1_001, 'intent_required'],
  [0, 1_001, 'intent_required'],
  [10, 1_100, passes],
  [10, 1_101, 'intent_required'],
  [2.5, 1_025, passes],
  [2.5, 1_026, 'intent_required'],
  [10, 400, passes],
])(
  'amountTolerancePercent %s: a charge of %i cents for an intent of 10.00 is %s',
  async (percent, amountCents, rule) => {
    const payer = await aPayerWith({ amountTolerancePercent: percent, requireIntent: true });
    await anIntent(world, payer, { amountCents: 1_000 });
    expect(await charge(payer, { amountCents })).toBe(rule);
  },
);

test('amountTolerancePercent stretches no limit', async () => {
  const payer = await aPayerWith({ amountTolerancePercent: 50, requireIntent: true, maxTransactionEuros: 10 });
  await anIntent(world, payer, { amountCents: 1_000 });
  expect(await charge(payer, { amountCents: 1_001 })).toBe('max_transaction');
  const asking = await aPayerWith({ amountTolerancePercent: 50, requireIntent: true, autoApproveLimitEuros: 10 });
  await anIntent(world, asking, { amountCents: 1_000 });
  expect(await charge(asking, { amountCents: 1_001 })).toBe('auto_approve_limit');
});

test('requireIntent: an approved intent lets one charge through', async () => {
  const payer = await aPayerWith({ requireIntent: true });
  expect((await declare(payer, 12.5, 'Sandbox Shop')).status).toBe('approved');
  expect(await charge(payer)).toBe(passes);
  expect(await charge(payer)).toBe('intent_required');
});

test('expiresAfterMinutes: from that minute on, declarations and charges are refused, with every expirationAction', async () => {
  for (const expirationAction of ['freeze', 'close', 'notify'] as const) {
    const payer = await aPayerWith({ expiresAfterMinutes: 60, expirationAction });
    await world.advance(hour - minute);
    expect(await charge(payer)).toBe(passes);
    await world.advance(minute);
    expect(await charge(payer)).toBe('policy_expiry');
    expect((await declare(payer, 1)).policyCheck.reason).toMatch(/^the policy expired at /);
  }
});
