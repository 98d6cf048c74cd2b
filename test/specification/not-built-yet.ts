/**
 * Areas of the specification of which nothing is served yet, by their tags, and single facts of areas that are built
 * in part. The one list that only gets shorter: a test fails when an area on it has an operation, or when a test
 * proves a fact on it.
 * @module
 */
export const notBuiltYet: readonly string[] = [
  'MPP',
  'Billing',
  'Disputes',
  'GDPR',
  'Merchants',
  'Intelligence',
  'Transfers',
  'Refunds',
  'Receipts',
  'Card Controls',
  'Beneficiaries',
  'Onboarding',
  'KYC',
  'Runs',
  'Delegations',
  'Statements',
  'Credentials',
  'Risk',
  'Analytics',
  'Forecast',
  'Audit',
  'Outcomes',
  'Collect',
  'Pass-Through',
  'Merchant Applications',
  'Push Subscriptions',
  'Security Incidents',
  'Canvas',
  'Sessions',
  'Mandates',
  'CLI Auth',
  'Well-Known',
  'does:Checkout:a zero-knowledge credential flow',
];
