/**
 * Goal: two PATCHes of one record at the same time are carried out one after the other, and neither takes back the fields
 * of the other. Method: for each PATCH of the interface, pairs of changes of different fields, over HTTP and real rows.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { customersArea } from '../../../src/domains/parties/customers/customer.contract.ts';
import { policiesArea } from '../../../src/domains/spending/policies/policy.contract.ts';
import { aBeneficiary } from '../../support/factories/beneficiaries.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { aPayer, type Payer } from '../../support/payments-world.ts';
import { publishedOperations } from '../../support/published-operations.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld();
  payer = await aPayer(world);
});
afterAll(() => world.close());

type Fields = Readonly<Record<string, unknown>>;
type Case = {
  /** The record, and where it is changed if that is another path. */
  at(): Promise<{ readonly read: string; readonly change?: string }>;
  /** Of the n-th round: what each of the two sends. */
  changes(n: number): readonly [Fields, Fields];
  /** What a body makes of the record, where that is not its own fields. */
  makes?(body: Fields): Fields;
};

const place = (read: string, change?: string) => ({ read, ...(change !== undefined && { change }) });
const limitsOf = (n: number): readonly [Fields, Fields] => [{ dailyLimitEuros: 10 + n }, { monthlyLimitEuros: 50 + n }];

const cases: Readonly<Record<string, Case>> = {
  updateAgent: {
    at: async () => place(`/agents/${payer.agentId}`),
    changes: (n) => [{ name: `Buyer ${n}` }, { externalId: `external-${n}` }],
  },
  updateCustomer: {
    at: async () => place(`/customers/${(await payer.owner.client(customersArea).getOwnCustomer({})).id}`),
    changes: (n) => [{ firstName: `Anna ${n}` }, { addressCity: `City ${n}` }],
  },
  updateWebhook: {
    at: async () => {
      const body = { url: 'https://hooks.example.com/at-once', events: ['card.shipped' as const] };
      return place(`/webhooks/${(await clientsOf(payer.owner).webhooks.createWebhook({ body })).id}`);
    },
    changes: (n) => [{ description: `receiver ${n}` }, { ordered: n % 2 === 0 }],
  },
  updateCard: {
    at: async () => place(`/cards/${payer.cardId}`),
    changes: (n) => [{ name: `card-${n}` }, { displayName: `Card ${n}` }],
  },
  updateCardControls: {
    at: async () => place(`/cards/${payer.cardId}/controls`),
    changes: (n) => [{ blockedMerchants: [`Shop ${n}`] }, { blockedCountries: [['US', 'GB', 'CH'][n % 3]] }],
  },
  updateAgentPolicy: { at: async () => place(`/policies/agent/${payer.agentId}`), changes: limitsOf },
  toggleAgentPolicy: {
    at: async () => place(`/policies/agent/${payer.agentId}`, `/policies/agent/${payer.agentId}/toggle`),
    changes: (n) => [
      { field: 'requireIntent', value: n % 2 === 0 },
      { field: 'lockToFirstMerchant', value: n % 2 === 0 },
    ],
    makes: ({ field, value }) => ({ [String(field)]: value }),
  },
  updatePolicy: {
    at: async () => {
      const { id } = await payer.owner.client(policiesArea).createPolicy({ body: { name: 'at once' } });
      return place(`/policies/${id}`);
    },
    changes: limitsOf,
  },
  updateWallet: {
    at: async () => {
      const [first] = (await clientsOf(payer.owner).wallets.listWallets({ query: {} })).data;
      return place(`/wallets/${first?.id}`);
    },
    changes: (n) => [{ name: `Wallet ${n}` }, { purpose: `purpose ${n}` }],
  },
  updateBeneficiary: {
    at: async () => place(`/beneficiaries/${(await aBeneficiary(payer.owner)).id}`),
    changes: (n) => [{ email: `payee-${n}@example.com` }, { agentsMayPay: n % 2 === 0 }],
  },
};

/** It has one field. */
const withoutPairs = ['updateTransaction'];

test('every PATCH of the interface is among them', () => {
  const patches = publishedOperations.filter(({ operation }) => operation.method === 'patch').map(({ name }) => name);
  expect([...Object.keys(cases), ...withoutPairs].sort()).toEqual(patches.sort());
});

async function send(method: 'GET' | 'PATCH', path: string, body?: Fields): Promise<{ status: number; body: Fields }> {
  const answer = await fetch(`${world.apiUrl}${path}`, {
    method,
    headers: { Authorization: `Bearer ${payer.owner.key}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Fields };
}

test.each(Object.entries(cases))('%s', async (_name, { at, changes, makes = (body) => body }) => {
  const { read, change = read } = await at();
  for (let round = 1; round <= 4; round++) {
    const both = changes(round);
    const answers = await Promise.all(both.map((body) => send('PATCH', change, body)));
    for (const [which, answer] of answers.entries()) {
      expect(answer).toMatchObject({ status: 200, body: makes(both[which] ?? {}) });
    }
    expect((await send('GET', read)).body).toMatchObject({ ...makes(both[0]), ...makes(both[1]) });
  }
});
