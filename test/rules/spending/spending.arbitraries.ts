/** Arbitrary spending facts: small figures, so that limits are met, missed and hit exactly. @module */
import fc from 'fast-check';
import type {
  CardFacts,
  CounterFacts,
  IntentFacts,
  Policy,
  RequestFacts,
  SpendingFacts,
} from '../../../src/domains/spending/policies/policy.rules.ts';
import { defaultTerms } from '../../../src/domains/spending/policies/preset.rules.ts';

const names = ['Sandbox Shop', 'sandbox-shop', 'Example Shop', 'shop.example.com', 'example.com', 'Sandbox Casino'];
const mccs = ['5734', '5942', '7995', '7011', '3351'];
const countries = ['DE', 'FR', 'US'];
const cents = fc.integer({ min: 0, max: 500 });
const limit = fc.option(cents);
const some = (of: readonly string[]) => fc.array(fc.constantFrom(...of), { maxLength: 2 });
export const instant = fc.date({ min: new Date('2026-01-01'), max: new Date('2026-12-31'), noInvalidDate: true });
export const status = fc.constantFrom(
  'active' as const,
  'active' as const,
  'active' as const,
  'frozen' as const,
  'closed' as const,
);

export const policy: fc.Arbitrary<Policy> = fc.record({
  id: fc.constant('po_aaaaaaaa'),
  version: fc.nat(9),
  updatedAt: instant,
  name: fc.constant('rules'),
  maxTransactionCents: limit,
  dailyLimitCents: limit,
  monthlyLimitCents: limit,
  autoApproveLimitCents: limit,
  merchantAllowlist: some(names),
  merchantBlocklist: some(names),
  mccCategories: some(['gambling', 'lodging', 'software', 'nothing']),
  allowedMccs: some(mccs),
  blockedMccs: some(mccs),
  allowedCountries: some(countries),
  lockToFirstMerchant: fc.boolean(),
  cooldownMinutes: fc.option(fc.nat(120)),
  requireIntent: fc.boolean(),
  requireAttestation: fc.boolean(),
  attestationWindowMinutes: fc.option(fc.integer({ min: 1, max: 60 })),
  expiresAfterMinutes: fc.option(fc.integer({ min: 1, max: 600_000 })),
  expirationAction: fc.constantFrom('freeze', 'close', 'notify'),
  activeHoursStart: fc.option(fc.nat(23)),
  activeHoursEnd: fc.option(fc.nat(23)),
  maxUsageCount: fc.option(fc.integer({ min: 1, max: 5 })),
  amountTolerancePercent: fc.option(fc.nat(50)),
  payeeMismatch: fc.constantFrom('ask', 'refuse', 'send'),
});

export const merchant = fc.record({
  id: fc.option(fc.constantFrom('sandbox-shop', 'example-shop'), { nil: undefined }),
  name: fc.option(fc.constantFrom(...names), { nil: undefined }),
  domain: fc.option(fc.constantFrom('example.com', 'shop.example.com', 'other.test'), { nil: undefined }),
});

export const request: fc.Arbitrary<RequestFacts> = fc.record({
  amountCents: cents,
  merchant: fc.option(merchant, { nil: undefined }),
  mcc: fc.option(fc.constantFrom(...mccs)),
  country: fc.option(fc.constantFrom(...countries)),
  kind: fc.constantFrom('purchase' as const, 'purchase' as const, 'verification' as const),
  recurring: fc.boolean(),
});

export const card: fc.Arbitrary<CardFacts> = fc.record({
  status,
  usage: fc.constantFrom('single' as const, 'multi' as const),
  limits: fc.record({ maxTransactionCents: limit, dailyLimitCents: limit, monthlyLimitCents: limit }),
  isProvisioning: fc.constantFrom(false, false, false, true),
  expiryMonth: fc.constantFrom(null, 12),
  expiryYear: fc.constantFrom(2020, 2030, 2031),
  controls: fc.option(
    fc.record({
      allowedMerchants: some(names),
      blockedMerchants: some(names),
      allowedCountries: some(countries),
      blockedCountries: some(countries),
      allowedMccs: some(mccs),
      blockedMccs: some(mccs),
    }),
  ),
});

export const intent: fc.Arbitrary<IntentFacts> = fc.record({
  id: fc.constantFrom('int_aaaaaaaa', 'int_bbbbbbbb'),
  expectedAmountCents: cents,
  expectedMerchant: fc.option(fc.constantFrom(...names)),
  status: fc.constantFrom('approved', 'approved', 'pending_approval', 'completed'),
  autoApproved: fc.boolean(),
  attestedAt: fc.option(instant),
});

export const counters: fc.Arbitrary<CounterFacts> = fc.record({
  spentTodayCents: cents,
  spentThisMonthCents: cents,
  cardSpentTodayCents: cents,
  cardSpentThisMonthCents: cents,
  lastPaymentAt: fc.option(instant),
  usageCount: fc.nat(6),
  firstMerchant: fc.option(merchant),
});

export const facts: fc.Arbitrary<SpendingFacts> = fc.record({
  at: instant,
  policy: fc.option(policy, { freq: 20 }),
  agent: fc.record({ status }),
  card: fc.option(card, { nil: undefined }),
  request,
  intent: fc.option(intent, { nil: undefined }),
  counters,
  phase: fc.constantFrom('declare' as const, 'access' as const, 'charge' as const),
  risk: fc.record({
    outcome: fc.constantFrom('allow' as const, 'allow' as const, 'review' as const, 'deny' as const),
    signals: some(['velocity', 'geo']),
  }),
});

/** Facts under which nothing objects; tests spoil one of them. */
export const harmless: SpendingFacts = {
  at: new Date('2026-05-04T12:00:00.000Z'),
  policy: {
    id: 'po_aaaaaaaa',
    version: 1,
    updatedAt: new Date('2026-05-01T00:00:00.000Z'),
    ...defaultTerms,
    name: 'rules',
    requireIntent: false,
  },
  agent: { status: 'active' },
  request: { amountCents: 1200, merchant: { id: 'sandbox-shop', name: 'Sandbox Shop' }, mcc: '5734', country: 'DE' },
  counters: {
    spentTodayCents: 0,
    spentThisMonthCents: 0,
    cardSpentTodayCents: 0,
    cardSpentThisMonthCents: 0,
    lastPaymentAt: null,
    usageCount: 0,
    firstMerchant: null,
  },
  phase: 'charge',
  risk: { outcome: 'allow', signals: [] },
};
