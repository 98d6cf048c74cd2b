/** How an agent comes by its one policy, and loses it: inside the transactions of the agent's own use cases. @module */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { policiesArea } from '../../../../src/domains/spending/policies/policy.contract.ts';
import { policyOfAgent } from '../../../../src/domains/spending/policies/policy.queries.ts';
import { copyPolicyFor, removePolicyOf } from '../../../../src/domains/spending/policies/policy.service.ts';
import { type Id, newId, uuidv7 } from '../../../../src/kernel/ids.ts';
import { type Infrastructure, openInfrastructure } from '../../../../src/main/infrastructure.ts';
import { entities, workflows } from '../../../../src/main/modules/index.ts';
import type { Cause } from '../../../../src/platform/cause.ts';
import { eventNamesOf } from '../../../support/events.ts';
import { aCustomer } from '../../../support/factories/parties.ts';
import { type Owner, startWorld, type World } from '../../../support/world.ts';

let world: World;
let infrastructure: Infrastructure;
let owner: Owner;
let agentId: Id<'agent'>;
beforeAll(async () => {
  world = await startWorld();
  infrastructure = await openInfrastructure(world.config, { name: 'policies-test', entities, workflows });
});
afterAll(async () => {
  await infrastructure.close();
  await world.close();
});
beforeEach(async () => {
  owner = await world.owner();
  agentId = newId('agent');
});

const causeOf = (): Cause => ({ causeId: uuidv7(), requestId: uuidv7(), actor: { kind: 'system' }, at: new Date() });
const copy = (more: { policyId?: string; newId?: Id<'policy'> } = {}) =>
  infrastructure.database.write((tx) =>
    copyPolicyFor(tx, causeOf(), { newId: newId('policy'), ownerId: owner.ownerId, agentId, ...more }),
  );
const stored = () => policyOfAgent(infrastructure.database.read(), agentId);

test('a template is copied whole; changing it later changes no agent', async () => {
  const policies = owner.client(policiesArea);
  const template = await policies.createPolicy({
    body: { name: 'Mine', merchantAllowlist: ['a'], cooldownMinutes: 4, amountTolerancePercent: 1.5 },
  });
  await copy({ policyId: template.id });
  const expected = {
    name: 'Mine',
    merchantAllowlist: ['a'],
    cooldownMinutes: 4,
    amountTolerancePercent: 1.5,
    version: 1,
  };
  expect(await stored()).toMatchObject(expected);
  await policies.updatePolicy({ params: { id: template.id as Id<'policy'> }, body: { name: 'Changed' } });
  expect(await stored()).toMatchObject(expected);
});

test("without a template the owner's default counts, and without that the preset balanced", async () => {
  await copy();
  expect(await stored()).toMatchObject({ name: 'Balanced', maxTransactionCents: 10_000, autoApproveLimitCents: 5_000 });
  agentId = newId('agent');
  const defaultPolicy = {
    maxTransactionCents: 700,
    dailyLimitCents: null,
    monthlyLimitCents: 9_900,
    autoApproveLimitCents: 0,
  };
  await aCustomer(world, owner.ownerId, { defaultPolicy });
  await copy();
  expect(await stored()).toMatchObject({
    name: 'Default',
    maxTransactionCents: 700,
    dailyLimitCents: null,
    monthlyLimitCents: 9_900,
    autoApproveLimitCents: 0,
    requireIntent: true,
  });
});

test('a customer without an own default gets the preset too', async () => {
  await aCustomer(world, owner.ownerId, { defaultPolicy: null });
  await copy();
  expect(await stored()).toMatchObject({ name: 'Balanced' });
});

test("an unknown template, a deleted one and another owner's are refused, and nothing is stored", async () => {
  const policies = owner.client(policiesArea);
  const { id } = await policies.createPolicy({ body: { name: 'Gone' } });
  await policies.deletePolicy({ params: { id: id as Id<'policy'> } });
  const theirs = await (await world.owner()).client(policiesArea).createPolicy({ body: { name: 'Theirs' } });
  for (const policyId of ['po_aaaaaaaa', id, theirs.id]) {
    await expect(copy({ policyId })).rejects.toMatchObject({ code: 'invalid_request' });
  }
  expect(await stored()).toBeNull();
});

test('a repeat finds the copy; its events are those of its agent', async () => {
  const first = await copy();
  const again = await copy();
  expect(again.id).toBe(first.id);
  expect(await eventNamesOf(world, first.id)).toEqual([]);
});

test('it is removed once, with an event', async () => {
  const { id } = await copy();
  for (let i = 0; i < 2; i++) await infrastructure.database.write((tx) => removePolicyOf(tx, causeOf(), agentId));
  expect(await stored()).toBeNull();
  expect(await eventNamesOf(world, id)).toEqual(['policy.deleted']);
});
