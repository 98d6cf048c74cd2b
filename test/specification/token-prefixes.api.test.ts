/**
 * Goal: each kind of token opens the mode that its prefix names, and no other. Method: the prefixes are taken from the
 * specification; tokens with each of them are put into a sandbox and into a live deployment.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../src/kernel/ids.ts';
import { hashSecret } from '../../src/vault/secret-hash.ts';
import { aPayer, type Payer } from '../support/payments-world.ts';
import { startWorld, type World } from '../support/world.ts';
import { read, specification } from './facts.ts';
import { isBuiltArea } from './not-built-yet.ts';

let sandbox: World;
let live: World;
const payers = new Map<World, Payer>();
beforeAll(async () => {
  sandbox = await startWorld();
  live = await startWorld({ env: { BURSAR_MODE: 'live', BURSAR_ALLOW_SIMULATED: 'true' } });
  for (const world of [sandbox, live]) payers.set(world, await aPayer(world));
});
afterAll(async () => {
  await sandbox.close();
  await live.close();
});

const prefixes = read(specification).facts.flatMap(({ id, area }) => {
  const [, prefix] = /^token-prefix:(\w+_)$/.exec(id) ?? [];
  return prefix === undefined || !isBuiltArea(area) ? [] : [prefix];
});

/** Plain `at_` is the family's name: agent tokens always say their mode. */
const opens = (prefix: string): 'sandbox' | 'live' | 'nothing' => {
  if (prefix === 'at_') return 'nothing';
  return /_(sandbox|test)_$/.test(prefix) ? 'sandbox' : 'live';
};

// spec: token-prefix:*
test.each(prefixes)('%s', async (prefix) => {
  expect([await isOpenTo(sandbox, prefix), await isOpenTo(live, prefix)]).toEqual([
    opens(prefix) === 'sandbox',
    opens(prefix) === 'live',
  ]);
});

async function isOpenTo(world: World, prefix: string): Promise<boolean> {
  const secret = `${prefix}${randomBytes(16).toString('hex')}`;
  const payer = payers.get(world);
  const common = [payer?.owner.ownerId, hashSecret(secret)];
  if (prefix.startsWith('at_')) {
    await world.sql(
      `insert into agent_tokens (id, owner_id, secret_hash, agent_id, hint, scopes, created_at)
       values ($3, $1, $2, $4, '', '{*}', now())`,
      [...common, newId('token'), payer?.agentId],
    );
  } else {
    await world.sql(
      `insert into api_keys (id, owner_id, secret_hash, hint, created_at) values ($3, $1, $2, '', now())`,
      [...common, newId('key')],
    );
  }
  const { status } = await fetch(`${world.apiUrl}/intents`, { headers: { Authorization: `Bearer ${secret}` } });
  expect([200, 401]).toContain(status);
  return status === 200;
}
