/**
 * Goal: passkeys come and go by the rules, and no challenge is good for anything but the one thing it was made for.
 * Method: real HTTP and real signatures by software authenticators; test/browser has the ceremonies of people.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Client, createClient, sendTo } from '../../../src/client/client.ts';
import { agentTokensArea } from '../../../src/domains/identity/agent-tokens/agent-token.contract.ts';
import { passkeysArea } from '../../../src/domains/identity/passkeys/passkey.contract.ts';
import { type SoftPasskey, softPasskey, type Wrong } from '../../support/authenticator.ts';
import { eventNamesOf, eventsOf } from '../../support/events.ts';
import { anAgentWithCard } from '../../support/factories/agent-with-card.ts';
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

const soft = () => softPasskey(world.config.publicUrl);
const registration = () => passkeys.startPasskeyRegistration({ body: {} });
const enrolment = async (passkey: SoftPasskey, more: object = {}, wrong: Wrong & { fmt?: string } = {}) => {
  const { challengeId, options } = await registration();
  return { body: { challengeId, attestation: passkey.create(options, wrong) as never, ...more } };
};
const toRevoke = (subjectId: string) =>
  passkeys.createPasskeyChallenge({ body: { purpose: 'revoke_passkey', subjectId } });
const revoke = (id: string, webauthnAssertion?: { challengeId: string; assertion: never }) =>
  passkeys.revokePasskey({ params: { id }, body: webauthnAssertion === undefined ? {} : { webauthnAssertion } });
const ids = async () => (await passkeys.listPasskeys()).map(({ id }) => id);

// spec: does:Passkeys:WebAuthn passkey enrollment, listing, revocation
test('the first passkey needs no assertion; its event names no person, its audit row does, and neither has a key', async () => {
  const { challengeId, options, expiresAt } = await passkeys.startPasskeyRegistration({
    body: { name: 'Anna’s phone' },
  });
  expect(Buffer.from(options.challenge, 'base64url')).toHaveLength(32);
  const leftMs = Date.parse(expiresAt) - Date.now();
  expect([leftMs > 295_000, leftMs <= 300_500]).toEqual([true, true]);
  expect(options).toMatchObject({
    rp: { id: 'localhost', name: 'Bursar' },
    attestation: 'none',
    excludeCredentials: [],
    authenticatorSelection: { userVerification: 'required' },
    pubKeyCredParams: [-7, -8, -257].map((alg) => ({ alg, type: 'public-key' })),
  });
  const one = soft();
  const record = await passkeys.finishPasskeyRegistration({
    body: { challengeId, attestation: one.create(options) as never },
  });
  expect(record).toEqual({
    id: expect.stringMatching(/^psk_[a-z0-9]{26}$/),
    name: 'Anna’s phone',
    credentialId: one.credentialId,
    transports: ['internal'],
    backedUp: false,
    createdAt: expect.any(String),
    lastUsedAt: null,
    approvesFrom: record.createdAt,
  });
  expect(await passkeys.listPasskeys()).toEqual([record]);
  const [event] = await eventsOf(world, record.id);
  expect(event).toMatchObject({ name: 'passkey.enrolled', data: { id: record.id, status: 'enrolled' } });
  const audited = await world.sql('select details from audit where subject_id = $1', [record.id]);
  expect(audited).toEqual([{ details: { person: 'Anna’s phone' } }]);
  const [published, kept] = [JSON.stringify(event), JSON.stringify(audited)];
  const hidden = [one.credentialId, options.challenge];
  expect([...hidden, 'Anna’s phone'].filter((text) => published.includes(text))).toEqual([]);
  expect(hidden.filter((text) => kept.includes(text))).toEqual([]);
});

test('a further passkey needs an assertion of an enrolled one, for the same registration', async () => {
  const one = await aPasskey(world, owner);
  const two = soft();
  const bare = await enrolment(two);
  expect(await refusalOf(passkeys.finishPasskeyRegistration(bare))).toEqual([
    400,
    expect.stringMatching(/purpose enroll/),
  ]);

  const other = await registration();
  const forOther = await passkeys.createPasskeyChallenge({ body: { purpose: 'enroll', subjectId: other.challengeId } });
  const misled = { body: { ...bare.body, webauthnAssertion: one.answer(forOther) } };
  expect(await refusalOf(passkeys.finishPasskeyRegistration(misled))).toEqual([
    400,
    expect.stringMatching(/was made for chl_/),
  ]);

  const challenge = await passkeys.createPasskeyChallenge({
    body: { purpose: 'enroll', subjectId: bare.body.challengeId },
  });
  const stranger = { body: { ...bare.body, webauthnAssertion: two.answer(challenge) } };
  expect(await refusalOf(passkeys.finishPasskeyRegistration(stranger))).toEqual([
    400,
    expect.stringMatching(/not enrolled/),
  ]);
  expect(await ids()).toEqual([one.id]);
  const vouched = await aPasskey(world, owner, one);
  expect(await ids()).toEqual([one.id, vouched.id]);
  const { options } = await registration();
  expect(options.excludeCredentials).toMatchObject([{ id: one.credentialId }, { id: vouched.credentialId }]);
});

test('the same credential again is 409, also for another owner', async () => {
  const one = await aPasskey(world, owner);
  const { challengeId, options } = await registration();
  const vouch = await passkeys.createPasskeyChallenge({ body: { purpose: 'enroll', subjectId: challengeId } });
  const again = { challengeId, attestation: one.create(options) as never, webauthnAssertion: one.answer(vouch) };
  expect(await refusalOf(passkeys.finishPasskeyRegistration({ body: again }))).toEqual([
    409,
    'this credential is enrolled already',
  ]);
  owner = await world.owner();
  passkeys = owner.client(passkeysArea);
  expect((await refusalOf(passkeys.finishPasskeyRegistration(await enrolment(one))))[0]).toBe(409);
  expect(await ids()).toEqual([]);
});

test.each<[string, Wrong & { fmt?: string }, RegExp]>([
  ['another origin', { origin: 'http://evil.example' }, /another origin than http:\/\/localhost:\d+/],
  ['another relying party', { rpId: 'evil.example' }, /another relying party than localhost/],
  ['a page inside another one', { crossOrigin: true }, /inside a page of another origin/],
  ['another challenge', { challenge: 'A'.repeat(43) }, /answers another challenge/],
  ['an unverified user', { userVerified: false }, /did not verify its user/],
  ['an absent user', { userPresent: false }, /did not report that a user was present/],
  ['an assertion instead', { type: 'webauthn.get' }, /other kind of ceremony/],
  ['a maker’s attestation', { fmt: 'tpm' }, /attestation of the maker/],
])('a registration with %s is refused, and its challenge is used up', async (_name, wrong, sentence) => {
  const attempt = await enrolment(soft(), {}, wrong);
  const [status, message] = await refusalOf(passkeys.finishPasskeyRegistration(attempt));
  expect([status, message]).toEqual([400, expect.stringMatching(sentence)]);
  expect(message).not.toContain('evil');
  expect((await refusalOf(passkeys.finishPasskeyRegistration(attempt)))[1]).toMatch(/was used before/);
  expect(await ids()).toEqual([]);
});

test.each([
  ['no CBOR', { attestationObject: 'AAAA' }],
  ['no JSON', { clientDataJSON: 'AAAA' }],
  ['a JSON null', { clientDataJSON: Buffer.from('null').toString('base64url') }],
])('a registration with %s is 400', async (_name, broken) => {
  const { body } = await enrolment(soft());
  const attestation = body.attestation as { response: object };
  const answer = { ...attestation, response: { ...attestation.response, ...broken } } as never;
  expect((await refusalOf(passkeys.finishPasskeyRegistration({ body: { ...body, attestation: answer } })))[0]).toBe(
    400,
  );
});

test.each(['ES256', 'EdDSA', 'RS256'] as const)('a key of the kind %s is taken', async (kind) => {
  const one = softPasskey(world.config.publicUrl, kind);
  const { id } = await passkeys.finishPasskeyRegistration(await enrolment(one));
  const two = await aPasskey(world, owner, one);
  expect((await revoke(two.id, one.answer(await toRevoke(two.id)))).revoked).toBe(true);
  expect(await ids()).toEqual([id]);
});

test('a key of another kind is not', async () => {
  const attempt = await enrolment(softPasskey(world.config.publicUrl, 'ES384'));
  expect(await refusalOf(passkeys.finishPasskeyRegistration(attempt))).toEqual([
    400,
    expect.stringMatching(/none of the kinds ES256, EdDSA, RS256/),
  ]);
});

test('an authenticator that does not count at all is taken, as those of synced passkeys', async () => {
  const one = await aPasskey(world, owner);
  for (let round = 0; round < 2; round++) {
    const { challengeId, options } = await registration();
    const vouch = await passkeys.createPasskeyChallenge({ body: { purpose: 'enroll', subjectId: challengeId } });
    const webauthnAssertion = one.answer(vouch, { counter: 0 });
    const attestation = soft().create(options) as never;
    await passkeys.finishPasskeyRegistration({ body: { challengeId, attestation, webauthnAssertion } });
  }
  expect(await ids()).toHaveLength(3);
});

// spec: path:DELETE /passkeys/{id}
// spec: passkey-rule:1
test('the only passkey is removed without an assertion; then it is 404', async () => {
  const one = await aPasskey(world, owner);
  expect(await revoke(one.id)).toEqual({ id: one.id, revoked: true });
  expect(await ids()).toEqual([]);
  expect((await refusalOf(revoke(one.id)))[0]).toBe(404);
  expect((await refusalOf(revoke('psk_aaaaaaaaaaaaaaaa')))[0]).toBe(404);
  const [, gone] = await eventsOf(world, one.id);
  expect(gone).toMatchObject({ name: 'passkey.revoked', data: { id: one.id, status: 'revoked', remaining: 0 } });
  const until = Date.parse(String(gone?.data.approvalsBlockedUntil));
  expect(Math.abs(until - Date.now() - 86_400_000)).toBeLessThan(60_000);
});

// spec: path:DELETE /passkeys/{id}
// spec: passkey-rule:2
// spec: passkey-rule:3
// spec: status:403:passkey self-revoke attempted while two or more passkeys exist
// spec: field:WebAuthn assertion envelope.webauthnAssertion
// spec: field:WebAuthn assertion envelope.challengeId
// spec: field:WebAuthn assertion envelope.assertion
// spec: does:Passkeys:WebAuthn passkey enrollment, listing, revocation
test('with two or more, an assertion by another one is needed, and by the removed one it is 403', async () => {
  const one = await aPasskey(world, owner);
  const two = await aPasskey(world, owner, one);
  expect(await refusalOf(revoke(one.id))).toEqual([400, expect.stringMatching(/^2 passkeys are enrolled: send/)]);
  expect(await refusalOf(revoke(one.id, one.answer(await toRevoke(one.id))))).toEqual([
    403,
    expect.stringMatching(/made the assertion, and none removes itself/),
  ]);
  const forged = two.answer(await toRevoke(one.id), { signature: Buffer.alloc(70).toString('base64url') });
  expect(await refusalOf(revoke(one.id, forged))).toEqual([400, expect.stringMatching(/signature does not hold/)]);
  expect(await ids()).toEqual([one.id, two.id]);

  expect(await revoke(one.id, two.answer(await toRevoke(one.id)))).toEqual({ id: one.id, revoked: true });
  expect(await ids()).toEqual([two.id]);
  expect((await eventsOf(world, one.id)).at(-1)?.data).toMatchObject({ remaining: 1, approvalsBlockedUntil: null });
  const [audit] = await world.sql('select details from audit where subject_id = $1 and action = $2', [
    one.id,
    'passkey.revoked',
  ]);
  expect(audit).toMatchObject({ details: { assertedBy: two.id } });
  // Rule 1 again, also with an assertion that the operation does not need.
  expect(await revoke(two.id, two.answer(await toRevoke(two.id)))).toEqual({ id: two.id, revoked: true });
});

test('a challenge is valid only for its purpose, its subject and its owner', async () => {
  const one = await aPasskey(world, owner);
  const two = await aPasskey(world, owner, one);
  const three = await aPasskey(world, owner, one);
  const generic = await passkeys.createPasskeyChallenge({ body: { purpose: 'generic', subjectId: one.id } });
  expect(await refusalOf(revoke(one.id, two.answer(generic)))).toEqual([
    400,
    expect.stringMatching(/made for the purpose generic, not for revoke_passkey/),
  ]);
  expect(await refusalOf(revoke(one.id, two.answer(await toRevoke(three.id))))).toEqual([
    400,
    expect.stringMatching(new RegExp(`was made for ${three.id}, not for ${one.id}`)),
  ]);
  const [own, stranger] = [passkeys, await world.owner()];
  passkeys = stranger.client(passkeysArea);
  const theirs = await aPasskey(world, stranger);
  const foreign = await toRevoke(theirs.id);
  passkeys = own;
  expect(await refusalOf(revoke(one.id, two.answer(foreign)))).toEqual([
    400,
    expect.stringMatching(/no challenge chl_/),
  ]);
  expect((await refusalOf(toRevoke(theirs.id)))[0]).toBe(404);
  // Nothing that was refused for being another matter is used up by that.
  expect((await revoke(three.id, two.answer(await toRevoke(three.id)))).revoked).toBe(true);
});

test('a challenge expires after five minutes of real time', async () => {
  const one = await aPasskey(world, owner);
  const two = await aPasskey(world, owner, one);
  const challenge = await toRevoke(one.id);
  await world.sql(
    `update passkey_challenges set expires_at = clock_timestamp() - interval '1 millisecond' where id = $1`,
    [challenge.challengeId],
  );
  expect(await refusalOf(revoke(one.id, two.answer(challenge)))).toEqual([400, expect.stringMatching(/expired at 20/)]);
  const kept = await toRevoke(one.id);
  await world.advance(6 * 60_000); // Business time means nothing to it.
  expect((await revoke(one.id, two.answer(kept))).revoked).toBe(true);
});

test.each<[string, Wrong, RegExp]>([
  ['another origin', { origin: 'https://localhost' }, /another origin/],
  ['another relying party', { rpId: 'evil.example' }, /another relying party/],
  ['a page inside another one', { crossOrigin: true }, /inside a page of another origin/],
  ['another challenge', { challenge: 'A'.repeat(43) }, /answers another challenge/],
  ['an unverified user', { userVerified: false }, /did not verify its user/],
  ['an absent user', { userPresent: false }, /did not report that a user was present/],
  ['a counter that went back', { counter: 1 }, /counter of the passkey did not increase/],
  ['a counter that stood still', { counter: 7 }, /counter of the passkey did not increase/],
  ['a registration instead', { type: 'webauthn.create' }, /other kind of ceremony/],
])(
  'an assertion with %s is refused, its challenge is used up, and the passkey is as before',
  async (_name, wrong, sentence) => {
    const one = await aPasskey(world, owner);
    const two = await aPasskey(world, owner, one);
    await world.sql('update passkeys set counter = 7 where id = $1', [two.id]);
    two.counter = 7;
    const challenge = await toRevoke(one.id);
    expect(await refusalOf(revoke(one.id, two.answer(challenge, wrong)))).toEqual([
      400,
      expect.stringMatching(sentence),
    ]);
    two.counter = 20;
    expect(await refusalOf(revoke(one.id, two.answer(challenge)))).toEqual([
      400,
      expect.stringMatching(/was used before/),
    ]);
    expect(await world.sql('select counter::int, last_used_at from passkeys where id = $1', [two.id])).toEqual([
      { counter: 7, last_used_at: null },
    ]);
    expect((await revoke(one.id, two.answer(await toRevoke(one.id)))).revoked).toBe(true);
  },
);

test('of two concurrent uses of one challenge one succeeds', async () => {
  const one = await aPasskey(world, owner);
  const two = await aPasskey(world, owner, one);
  const three = await aPasskey(world, owner, one);
  const { challengeId, options } = await registration();
  const vouch = await passkeys.createPasskeyChallenge({ body: { purpose: 'enroll', subjectId: challengeId } });
  const assertions = [one, two, three].map((passkey) => passkey.answer(vouch));
  const answers = await Promise.allSettled(
    assertions.map((webauthnAssertion) =>
      passkeys.finishPasskeyRegistration({
        body: { challengeId, attestation: soft().create(options) as never, webauthnAssertion },
      }),
    ),
  );
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await ids()).toHaveLength(4);
});

test('of two concurrent first enrolments the second needs an assertion of the first', async () => {
  const attempts = [await enrolment(soft()), await enrolment(soft())];
  const answers = await Promise.allSettled(attempts.map((attempt) => passkeys.finishPasskeyRegistration(attempt)));
  expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(await ids()).toHaveLength(1);
});

test('two passkeys that remove each other at once: one stays', async () => {
  for (let round = 0; round < 5; round++) {
    owner = await world.owner();
    passkeys = owner.client(passkeysArea);
    const one = await aPasskey(world, owner);
    const two = await aPasskey(world, owner, one);
    const byTwo = two.answer(await toRevoke(one.id));
    const byOne = one.answer(await toRevoke(two.id));
    const answers = await Promise.allSettled([revoke(one.id, byTwo), revoke(two.id, byOne)]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await ids()).toHaveLength(1);
  }
});

test('an enrolment repeated with its key after the answer was lost returns the same passkey, with one event', async () => {
  const first = await aPasskey(world, owner);
  const { challengeId, options } = await registration();
  const vouch = await passkeys.createPasskeyChallenge({ body: { purpose: 'enroll', subjectId: challengeId } });
  const body = {
    challengeId,
    attestation: soft().create(options) as never,
    webauthnAssertion: first.answer(vouch),
  };
  const headers = { 'Idempotency-Key': randomUUID() };
  const once = await passkeys.finishPasskeyRegistration({ body, headers });
  await world.sql('update idempotency set status = null, body = null, lease_until = null where key = $1', [
    headers['Idempotency-Key'],
  ]);
  expect(await passkeys.finishPasskeyRegistration({ body, headers })).toEqual(once);
  expect(await eventNamesOf(world, once.id)).toEqual(['passkey.enrolled']);
  expect((await refusalOf(passkeys.finishPasskeyRegistration({ body })))[1]).toMatch(/was used before/);
});

test('a fault after the challenge was used leaves it unused: the same answer works when the fault is over', async () => {
  const one = await aPasskey(world, owner);
  const two = await aPasskey(world, owner, one);
  const assertion = two.answer(await toRevoke(one.id));
  await world.sql(`create function fail_now() returns trigger language plpgsql as $$ begin raise 'no' ; end $$`);
  await world.sql(`create trigger failing before insert on events for each row when (new.subject_id = '${one.id}')
    execute function fail_now()`);
  expect((await refusalOf(revoke(one.id, assertion)))[0]).toBe(500);
  await world.sql('drop trigger failing on events');
  expect((await revoke(one.id, assertion)).revoked).toBe(true);
});

test('challenges that need a passkey say so where there is none', async () => {
  const generic = passkeys.createPasskeyChallenge({ body: { purpose: 'generic' } });
  expect(await refusalOf(generic)).toEqual([400, expect.stringMatching(/no passkey is enrolled/)]);
  expect((await refusalOf(toRevoke('psk_aaaaaaaaaaaaaaaa')))[0]).toBe(404);
  const enroll = (subjectId: string) => passkeys.createPasskeyChallenge({ body: { purpose: 'enroll', subjectId } });
  await aPasskey(world, owner);
  expect((await refusalOf(enroll('chl_aaaaaaaaaaaaaaaa')))[0]).toBe(404);
  const bodies = [{}, { purpose: 'revoke_passkey' }, { purpose: 'login' }, { purpose: 'enroll', subjectId: 'x' }];
  for (const body of bodies)
    expect((await refusalOf(passkeys.createPasskeyChallenge({ body: body as never })))[0]).toBe(400);
});

test('the dashboard acts for the owner that it names; an agent token may do none of it', async () => {
  const dashboard = createClient(passkeysArea, (request) =>
    sendTo(world.apiUrl)({
      ...request,
      headers: { ...request.headers, 'X-Dashboard-Secret': world.dashboardSecret, 'X-Owner-Id': owner.ownerId },
    }),
  );
  const { challengeId, options } = await dashboard.startPasskeyRegistration({ body: {} });
  const one = soft();
  const { id } = await dashboard.finishPasskeyRegistration({
    body: { challengeId, attestation: one.create(options) as never },
  });
  expect((await dashboard.listPasskeys()).map((passkey) => passkey.id)).toEqual([id]);
  expect(await world.sql('select actor from audit where subject_id = $1', [id])).toEqual([{ actor: 'dashboard' }]);
  await dashboard.createPasskeyChallenge({ body: { purpose: 'generic' } });
  expect((await dashboard.revokePasskey({ params: { id }, body: {} })).revoked).toBe(true);

  const unnamed = createClient(passkeysArea, (request) =>
    sendTo(world.apiUrl)({
      ...request,
      headers: { ...request.headers, 'X-Dashboard-Secret': world.dashboardSecret },
    }),
  );
  expect(await refusalOf(unnamed.listPasskeys())).toEqual([400, expect.stringMatching(/X-Owner-Id/)]);

  const { agentId } = await anAgentWithCard(world, owner);
  const { token } = await owner.client(agentTokensArea).createAgentToken({ params: { id: agentId }, body: {} });
  const agent = world.as(token).client(passkeysArea);
  for (const attempt of [
    () => agent.listPasskeys(),
    () => agent.startPasskeyRegistration({ body: {} }),
    () => agent.createPasskeyChallenge({ body: { purpose: 'generic' } }),
    () => agent.revokePasskey({ params: { id }, body: {} }),
  ]) {
    expect((await refusalOf(attempt()))[0]).toBe(403);
  }
});

test('a deployment at an IP address refuses passkeys with a message', async () => {
  const nameless = await startWorld({ env: { BURSAR_PUBLIC_URL: 'http://127.0.0.1:9' } });
  try {
    const lonely = (await nameless.owner()).client(passkeysArea);
    expect(await refusalOf(lonely.startPasskeyRegistration({ body: {} }))).toEqual([
      400,
      expect.stringMatching(/passkeys need a host name.*BURSAR_PUBLIC_URL/),
    ]);
    expect(await lonely.listPasskeys()).toEqual([]);
  } finally {
    await nameless.close();
  }
});
