/**
 * Goal: a stolen API key cannot keep the owner's passkeys away for good, and unused challenges do not fill the table.
 * Method: real HTTP, software authenticators, challenges whose real time is moved in the table.
 * @module
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Client } from '../../../src/client/client.ts';
import { passkeysArea } from '../../../src/domains/identity/passkeys/passkey.contract.ts';
import { hour } from '../../../src/kernel/instant.ts';
import { softPasskey } from '../../support/authenticator.ts';
import { aPasskey } from '../../support/factories/passkeys.ts';
import { refusalOf } from '../../support/refusals.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
let passkeys: Client<typeof passkeysArea>;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});
beforeEach(async () => {
  owner = await world.owner();
  passkeys = owner.client(passkeysArea);
});

const remove = (id: string) => passkeys.revokePasskey({ params: { id: id as never }, body: {} });

test('while the only one still waits no second one joins it, so that the owner can remove it with the key alone', async () => {
  await remove((await aPasskey(world, owner)).id);
  const begun = await Promise.all([1, 2].map(() => passkeys.startPasskeyRegistration({ body: {} })));
  const [stranger, second] = begun.map(({ challengeId, options }) => ({
    challengeId,
    attestation: softPasskey(world.config.publicUrl).create(options) as never,
  }));
  const { id, approvesFrom } = await passkeys.finishPasskeyRegistration({ body: stranger as never });
  const whole = [400, `passkey ${id} approves nothing before ${approvesFrom}; until then no second one is enrolled`];
  expect(await refusalOf(passkeys.startPasskeyRegistration({ body: {} }))).toEqual(whole);
  expect(await refusalOf(passkeys.finishPasskeyRegistration({ body: second as never }))).toEqual(whole);
  expect((await remove(id)).revoked).toBe(true);
  const own = await aPasskey(world, owner);
  expect(await refusalOf(aPasskey(world, owner, own))).toMatchObject([400, expect.stringContaining('until then')]);
  await world.advance(25 * hour);
  await aPasskey(world, owner, own);
  expect(await passkeys.listPasskeys()).toHaveLength(2);
});

test('unused challenges are deleted ten minutes after they expire, used ones stay for a repeat', async () => {
  const one = await aPasskey(world, owner);
  await aPasskey(world, owner, one);
  const kept = async () => {
    const sql = 'select used_at is not null as used from passkey_challenges where owner_id = $1 order by used';
    return (await world.sql<{ used: boolean }>(sql, [owner.ownerId])).map(({ used }) => used);
  };
  const generic = () => passkeys.createPasskeyChallenge({ body: { purpose: 'generic' } });
  await Promise.all(Array.from({ length: 5 }, generic));
  await world.sql(`update passkey_challenges set expires_at = now() - interval '9 minutes' where owner_id = $1`, [
    owner.ownerId,
  ]);
  await generic();
  expect(await kept()).toEqual([...Array<boolean>(6).fill(false), true, true, true]);
  await world.sql(`update passkey_challenges set expires_at = now() - interval '11 minutes' where owner_id = $1`, [
    owner.ownerId,
  ]);
  await Promise.all([generic(), generic()]);
  expect(await kept()).toEqual([false, false, true, true, true]);
});
