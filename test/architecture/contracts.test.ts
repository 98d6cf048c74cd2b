/** Goal: what is published follows from the declarations and keeps their rules. Method: reading the declarations. @module */
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { eventsDocument, openApiDocument } from '../../src/dev/documents.ts';
import { sourceMap } from '../../src/dev/source-map.ts';
import { pageOfLimits, pageOfWebhooks, readmeWithAreas } from '../../src/dev/tables.ts';
import { workflowIndex } from '../../src/dev/workflow-index.ts';
import { codesInWords, mccCategories } from '../../src/domains/spending/policies/mcc-groups.rules.ts';
import { eventNames, isReserved } from '../../src/events/catalog.ts';
import { canonicalPath } from '../../src/http/openapi.ts';
import { codesOfTheEdge } from '../../src/http/openapi-refusals.ts';
import { type Operation, pathsOf } from '../../src/http/route.ts';
import { publishedAreas } from '../../src/main/modules/index.ts';

const operations = publishedAreas.flatMap((area) =>
  Object.entries(area.operations).map(([name, operation]: [string, Operation]) => ({ area, name, operation })),
);

/** Who needs no credential; everything else answers 401 without one. */
const publicPaths = [
  '/',
  '/.well-known/agent-payments.json',
  '/.well-known/agents/{agentId}/jwks.json',
  '/.well-known/jwks.json',
  '/.well-known/verify',
  '/approve/{token}',
  '/approve/{token}/challenge',
  '/approve/{token}/deny',
  '/enrol/{token}',
  '/enrol/{token}/devices',
  '/enrol/{token}/devices/challenge',
  '/enrol/{token}/devices/public-key',
  '/enrol/{token}/options',
  '/health',
  '/webhook-pages/{token}',
  '/webhook-pages/{token}/give-up',
  '/webhook-pages/{token}/redeliver',
  '/webhook-pages/{token}/retry',
  '/webhook-pages/{token}/test',
];

// spec: auth:bearer token
test('only the listed paths are public', () => {
  const open = operations.filter(({ operation }) => operation.auth.includes('public'));
  const paths = open.map(({ area, operation }) => canonicalPath(area, operation) || '/');
  expect([...new Set(paths)].sort()).toEqual(publicPaths);
});

test('a scope is named exactly where an agent may call', () => {
  const wrong = operations.filter(
    ({ operation }) => operation.auth.includes('agent') !== (operation.scope !== undefined),
  );
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

// spec: events:each change fires one
// spec: event:card.shipped
// spec: event:mobile_wallet.updated
test('every operation that changes something names its events, none of them reserved', () => {
  const silent = operations.filter(
    ({ operation }) => operation.method !== 'get' && !operation.fires && !operation.networkCalls && !operation.pure,
  );
  expect(silent.map(({ name }) => name)).toEqual([]);
  const ofNetwork = operations.filter(({ operation }) => operation.auth.includes('network')).map(({ name }) => name);
  const carriedOut = operations.flatMap(({ operation }) => operation.networkCalls ?? []);
  expect(carriedOut.filter((name) => !ofNetwork.includes(name))).toEqual([]);
  const fired = operations.flatMap(({ operation }) => operation.fires ?? []);
  expect(fired.filter((event) => isReserved(event))).toEqual([]);
});

test('no contract lists a refusal that follows from its other declarations', () => {
  const repeated = operations.map(({ name, operation }) => {
    const known = codesOfTheEdge(operation);
    return [name, operation.refusals.filter((code) => known.includes(code))] as const;
  });
  expect(repeated.filter(([, codes]) => codes.length > 0)).toEqual([]);
});

// spec: event:card.shipped
// spec: event:mobile_wallet.updated
// spec: event:mpp.credential.expired
test('exactly the three events without a cause are reserved', () => {
  expect(eventNames.filter((name) => isReserved(name)).sort()).toEqual([
    'card.shipped',
    'mobile_wallet.updated',
    'mpp.credential.expired',
  ]);
});

test('operation names and paths are unique', () => {
  const names = operations.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  const routes = operations.flatMap(({ area, operation }) =>
    pathsOf(area, operation).map((path) => `${operation.method} ${path.replace(/\{\w+\}/g, '{}')}`),
  );
  expect(routes.filter((route, index) => routes.indexOf(route) !== index)).toEqual([]);
});

test('the catalog contains all events of the specification', async () => {
  const published = [
    'intent.created',
    'intent.approved',
    'intent.denied',
    'intent.expired',
    'intent.cancelled',
    'intent.matched',
    'intent.mismatched',
    'transaction.created',
    'transaction.updated',
    'transaction.authorization',
    'transaction.settlement',
    'transaction.settled',
    'transaction.completed',
    'transaction.declined',
    'transaction.refunded',
    'card.issued',
    'card.activated',
    'card.frozen',
    'card.unfrozen',
    'card.closed',
    'card.rotated',
    'card.funded',
    'card.shipped',
    'card.limits_changed',
    'card.details_changed',
    'card_limit_request.updated',
    'wallet.created',
    'wallet.funded',
    'wallet.credited',
    'transfer.completed',
    'transfer.failed',
    'transfer.split.completed',
    'risk.agent_frozen',
    'risk.review_required',
    'risk.alert_created',
    'risk.denied',
    'risk.velocity_alert',
    'risk.geo_impossible',
    'agent.created',
    'agent.frozen',
    'agent.unfrozen',
    'claim.request.created',
    'claim.request.paid',
    'claim.request.expired',
    'claim.request.cancelled',
    'dispute.created',
    'dispute.updated',
    'dispute.resolved',
    'mpp.credential.minted',
    'mpp.credential.consumed',
    'mpp.credential.expired',
    'mpp.transaction.completed',
    'verification.mismatch',
    'mobile_wallet.updated',
    'payment.updated',
    'receipt.updated',
    'bill.updated',
    'cardholder.updated',
  ];
  expect(published.filter((name) => !(eventNames as string[]).includes(name))).toEqual([]);
});

test.each([
  ['openapi.json', openApiDocument],
  ['events.json', eventsDocument],
])('%s is as committed; after a change of the interface: npm run snapshot', async (file, document) => {
  const committed: unknown = JSON.parse(await readFile(new URL(`../../${file}`, import.meta.url), 'utf8'));
  expect(JSON.parse(JSON.stringify(document()))).toEqual(committed);
});

test.each([
  ['src/README.md', sourceMap],
  ['workflows/index.ts', workflowIndex],
  ['README.md', readmeWithAreas],
  ['docs/limits.md', pageOfLimits],
  ['docs/webhooks.md', pageOfWebhooks],
])('%s is as committed; after a change: npm run snapshot', async (file, generate) => {
  expect(await readFile(new URL(`../../${file}`, import.meta.url), 'utf8')).toBe(await generate());
});

test('merchant categories are an enum with a description of each, and the time of token expiry is named', () => {
  const document: unknown = JSON.parse(JSON.stringify(openApiDocument()));
  expect(document).toMatchObject({
    components: {
      schemas: {
        MccCategory: {
          enum: mccCategories,
          'x-enum-descriptions': Object.fromEntries(mccCategories.map((name) => [name, codesInWords(name)])),
          description: expect.stringContaining('`airlines`: 3000 to 3350, 4511;'),
        },
        CreatePolicyInput: namesCategories,
        Policy: { properties: { mccCategories: { description: expect.stringContaining('MccCategory') } } },
        AgentToken: { properties: { expiresAt: { description: expect.stringContaining('real time') } } },
      },
    },
  });
});
const namesCategories = { properties: { mccCategories: { items: { $ref: '#/components/schemas/MccCategory' } } } };
