/**
 * Goal: an invitation enrols one passkey for one named person, needs the consent of an enrolled passkey, ends when it
 * says so, and its person is named where it approves. Method: real HTTP, software passkeys, the real worker.
 * @module
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { approvalsArea } from '../../../src/domains/identity/approvals/approval.contract.ts';
import { passkeyInvitationsArea } from '../../../src/domains/identity/passkey-invitations/invitation.contract.ts';
import { passkeysArea } from '../../../src/domains/identity/passkeys/passkey.contract.ts';
import { hour } from '../../../src/kernel/instant.ts';
import { type SoftPasskey, softPasskey } from '../../support/authenticator.ts';
import { eventNamesOf } from '../../support/events.ts';
import { anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { anInvitation } from '../../support/factories/invitations.ts';
import { aPasskey } from '../../support/factories/passkeys.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import { refusalOf } from '../../support/refusals.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;

beforeAll(async () => {
  world = await startWorld({ worker: true });
});
afterAll(async () => {
  await world.close();
});
beforeEach(async () => {
  owner = await world.owner();
});

const anybody = () => world.as('').client(passkeyInvitationsArea);
const invitations = () => owner.client(passkeyInvitationsArea);
const read = (token: string) => anybody().getEnrolment({ params: { token } });

/** What the page of the link does. */
async function enrol(token: string, soft: SoftPasskey = softPasskey(world.config.publicUrl)) {
  const { challengeId, options } = await anybody().startEnrolment({ params: { token }, body: {} });
  const attestation = soft.create(options) as never;
  return anybody().finishEnrolment({ params: { token }, body: { challengeId, attestation } });
}
const auditsOf = (subjectId: string) =>
  world.sql<{ action: string; actor: string; details: Record<string, unknown> }>(
    'select action, actor, details from audit where subject_id = $1 order by created_at, id',
    [subjectId],
  );
const enrolledPasskeys = () => owner.client(passkeysArea).listPasskeys();

describe('the first passkey of an owner', () => {
  test('is enrolled by link alone, carries the name, and the link is good for that one', async () => {
    const made = await anInvitation(owner);
    expect(made).toMatchObject({ name: 'Anna Berg', status: 'open', passkeyId: null });
    expect(made.enrolUrl).toMatch(new RegExp(`^${world.config.publicUrl}/enrol/[0-9a-f]{32}$`));
    expect(await read(made.token)).toMatchObject({
      name: 'Anna Berg',
      businessName: null,
      status: 'open',
      refusal: null,
    });
    const soft = softPasskey(world.config.publicUrl);
    const { challengeId, options } = await anybody().startEnrolment({ params: { token: made.token }, body: {} });
    const body = { challengeId, attestation: soft.create(options) as never };
    const done = await anybody().finishEnrolment({ params: { token: made.token }, body });
    expect(done).toMatchObject({ status: 'enrolled', passkey: { isRemoved: false } });
    const [passkey, ...others] = await enrolledPasskeys();
    expect([passkey?.name, passkey?.credentialId, others]).toEqual(['Anna Berg', soft.credentialId, []]);

    expect(done.passkey?.enrolledAt).toBe(passkey?.createdAt);

    // The answer was lost: the same passkey again changes nothing, another one is refused.
    expect(await anybody().finishEnrolment({ params: { token: made.token }, body })).toEqual(done);
    const why = /each is good for one/;
    expect(await refusalOf(enrol(made.token))).toEqual([400, expect.stringMatching(why)]);
    const other = softPasskey(world.config.publicUrl).create(options) as never;
    const finish = anybody().finishEnrolment({
      params: { token: made.token },
      body: { challengeId, attestation: other },
    });
    expect(await refusalOf(finish)).toEqual([400, expect.stringMatching(why)]);
    expect(await enrolledPasskeys()).toHaveLength(1);
    expect((await invitations().listPasskeyInvitations({ query: {} })).data).toMatchObject([
      { id: made.id, status: 'enrolled', passkeyId: passkey?.id },
    ]);
    expect(await auditsOf(made.id)).toMatchObject([
      { action: 'passkey_invitation.created', actor: expect.stringMatching(/^key:/), details: { person: 'Anna Berg' } },
    ]);
    expect(await auditsOf(passkey?.id ?? '')).toMatchObject([
      {
        action: 'passkey.enrolled',
        actor: `invitation:${made.id}`,
        details: { person: 'Anna Berg', invitationId: made.id },
      },
    ]);
  });

  test('ends the invitations that no passkey has confirmed: a stolen key must not add one later', async () => {
    const [first, second] = [await anInvitation(owner), await anInvitation(owner, { name: 'Mallory' })];
    const challenge = await anybody().startEnrolment({ params: { token: second.token }, body: {} });
    await enrol(first.token);
    const why = /this invitation was revoked/;
    expect((await read(second.token)).refusal).toMatch(why);
    expect(await refusalOf(enrol(second.token))).toEqual([400, expect.stringMatching(why)]);
    const attestation = softPasskey(world.config.publicUrl).create(challenge.options) as never;
    const begun = anybody().finishEnrolment({
      params: { token: second.token },
      body: { challengeId: challenge.challengeId, attestation },
    });
    expect(await refusalOf(begun)).toEqual([400, expect.stringMatching(why)]);
    expect(await enrolledPasskeys()).toHaveLength(1);
  });

  test('revokes them for good, also where it is enrolled without a link: its removal makes none valid again', async () => {
    const [open, expired] = [await anInvitation(owner), await anInvitation(owner, { name: 'Late' })];
    const stranger = await world.owner();
    const theirs = await anInvitation(stranger);
    await world.sql('update passkey_invitations set expires_at = now() where id = $1', [expired.id]);
    const { id } = await aPasskey(world, owner);
    await owner.client(passkeysArea).revokePasskey({ params: { id: id as never }, body: {} });
    expect(await enrolledPasskeys()).toEqual([]);
    expect((await read(open.token)).refusal).toMatch(/was revoked/);
    expect(await refusalOf(enrol(open.token))).toEqual([400, expect.stringMatching(/was revoked/)]);
    const listed = (await invitations().listPasskeyInvitations({ query: {} })).data;
    expect(listed.map((one) => [one.id, one.status])).toEqual([
      [expired.id, 'expired'],
      [open.id, 'revoked'],
    ]);
    expect(await eventNamesOf(world, open.id)).toEqual(['passkey_invitation.created', 'passkey_invitation.revoked']);
    expect((await auditsOf(open.id)).map(({ action, details }) => [action, details.person])).toEqual([
      ['passkey_invitation.created', 'Anna Berg'],
      ['passkey_invitation.revoked', 'Anna Berg'],
    ]);
    expect((await read(theirs.token)).refusal).toBeNull();
  });

  test('the same passkey sent twice at once is enrolled once and answered 200 twice', async () => {
    const { token } = await anInvitation(owner);
    const { challengeId, options } = await anybody().startEnrolment({ params: { token }, body: {} });
    const body = { challengeId, attestation: softPasskey(world.config.publicUrl).create(options) as never };
    const send = () => anybody().finishEnrolment({ params: { token }, body });
    const [first, second] = await Promise.all([send(), send()]);
    expect([first?.status, second]).toEqual(['enrolled', first]);
    expect(await enrolledPasskeys()).toHaveLength(1);
  });

  test('a passkey that another owner has enrolled is 409, and an unknown link 404', async () => {
    const known = await aPasskey(world, await world.owner());
    const { token } = await anInvitation(owner);
    const { challengeId, options } = await anybody().startEnrolment({ params: { token }, body: {} });
    const body = { challengeId, attestation: known.create(options) as never };
    const sent = (to: string) => refusalOf(anybody().finishEnrolment({ params: { token: to }, body }));
    expect((await sent('0'.repeat(32)))[0]).toBe(404);
    expect(await sent(token)).toEqual([409, 'this credential is enrolled already']);
    expect(await enrolledPasskeys()).toEqual([]);
  });

  test('two people at once with one link enrol one passkey', async () => {
    const { token } = await anInvitation(owner);
    const results = await Promise.allSettled([enrol(token), enrol(token), enrol(token)]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await enrolledPasskeys()).toHaveLength(1);
  });
});

describe('with a passkey enrolled', () => {
  test('an invitation needs its assertion, made for this very name, and no second one at the enrolment', async () => {
    const by = await aPasskey(world, owner);
    const create = (name: string, more: object = {}) =>
      invitations().createPasskeyInvitation({ body: { name, ...more } });
    expect(await refusalOf(create('Bob'))).toEqual([
      400,
      expect.stringMatching(/purpose invite and the name of this person/),
    ]);
    const { confirmed } = await anInvitation.prepared(owner, { name: 'Bob', by });
    expect(await refusalOf(create('Mallory', confirmed))).toEqual([
      400,
      expect.stringMatching(/was made for another name/),
    ]);
    const generic = await owner.client(passkeysArea).createPasskeyChallenge({ body: { purpose: 'generic' } });
    expect(await refusalOf(create('Bob', { webauthnAssertion: by.answer(generic) }))).toEqual([
      400,
      expect.stringMatching(/for the purpose generic, not for invite/),
    ]);
    const { enrolUrl } = await create('Bob', confirmed);
    await enrol(enrolUrl.split('/').at(-1) ?? '');
    expect((await enrolledPasskeys()).map(({ name }) => name)).toEqual(['a passkey', 'Bob']);
  });

  test('two people at once with one link that it confirmed enrol one passkey', async () => {
    const by = await aPasskey(world, owner);
    const { token } = await anInvitation(owner, { by });
    const begun = async () => {
      const { challengeId, options } = await anybody().startEnrolment({ params: { token }, body: {} });
      return { challengeId, attestation: softPasskey(world.config.publicUrl).create(options) as never };
    };
    const bodies = [await begun(), await begun()];
    const client = new pg.Client({ connectionString: world.ownerUrl });
    await client.connect();
    try {
      await client.query('begin');
      await client.query('select lock_passkeys($1)', [owner.ownerId]);
      const both = Promise.allSettled(bodies.map((body) => anybody().finishEnrolment({ params: { token }, body })));
      // Both have seen that nobody has used the link.
      await someoneWaits(world, { count: 2 });
      await client.query('commit');
      expect((await both).map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    } finally {
      await client.end();
    }
    expect(await enrolledPasskeys()).toHaveLength(2);
  });

  test('removing the passkey that confirmed an invitation revokes it', async () => {
    const first = await aPasskey(world, owner);
    const second = await aPasskey(world, owner, first);
    const { id, token } = await anInvitation(owner, { by: second });
    const passkeys = owner.client(passkeysArea);
    const challenge = await passkeys.createPasskeyChallenge({
      body: { purpose: 'revoke_passkey', subjectId: second.id },
    });
    await passkeys.revokePasskey({ params: { id: second.id }, body: { webauthnAssertion: first.answer(challenge) } });
    expect(await refusalOf(enrol(token))).toEqual([400, expect.stringMatching(/was revoked/)]);
    expect(await eventNamesOf(world, id)).toEqual(['passkey_invitation.created', 'passkey_invitation.revoked']);
  });
});

describe('an invitation ends', () => {
  test('when the owner revokes it, once, and stays with the owner', async () => {
    const { id, token } = await anInvitation(owner);
    const stranger = (await world.owner()).client(passkeyInvitationsArea);
    expect((await refusalOf(stranger.revokePasskeyInvitation({ params: { id: id as never } })))[0]).toBe(404);
    for (let i = 0; i < 2; i++) {
      expect(await invitations().revokePasskeyInvitation({ params: { id: id as never } })).toEqual({
        id,
        revoked: true,
      });
    }
    expect(await eventNamesOf(world, id)).toEqual(['passkey_invitation.created', 'passkey_invitation.revoked']);
    expect(await refusalOf(enrol(token))).toEqual([400, 'this invitation was revoked; ask for a new one']);
    const begun = anybody().startEnrolment({ params: { token }, body: {} });
    expect(await refusalOf(begun)).toEqual([400, 'this invitation was revoked; ask for a new one']);
    const used = await anInvitation(owner);
    await enrol(used.token);
    const refused = invitations().revokePasskeyInvitation({ params: { id: used.id as never } });
    expect(await refusalOf(refused)).toEqual([400, expect.stringMatching(/remove the passkey instead/)]);
  });

  test('when its time is over, in real time', async () => {
    const { id, token, expiresAt } = await anInvitation(owner, { expiresInHours: 72 });
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(71.9 * hour);
    await world.advance(100 * hour);
    expect((await read(token)).status).toBe('open');
    const next = await anInvitation(owner, { expiresInHours: 72 });
    expect(Date.parse(next.expiresAt) - Date.now()).toBeLessThanOrEqual(72 * hour);
    await world.sql('update passkey_invitations set expires_at = now() where id = $1', [id]);
    expect(await read(token)).toMatchObject({ status: 'expired', refusal: expect.stringMatching(/expired at/) });
    expect(await refusalOf(enrol(token))).toEqual([400, expect.stringMatching(/expired at/)]);
    expect(await refusalOf(anInvitation(owner, { expiresInHours: 73 }))).toEqual([400, expect.stringMatching(/72/)]);
  });
});

test('the link is stored nowhere in clear text, and an unknown one is 404', async () => {
  const { token } = await anInvitation(owner);
  const tables = await world.sql<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    if ((await world.sql(`select 1 from ${name} t where t::text like $1`, [`%${token}%`])).length > 0) found.push(name);
  }
  expect(found).toEqual([]);
  for (const wrong of [token.replace(/.$/, (last) => (last === '0' ? '1' : '0')), 'x']) {
    expect((await refusalOf(read(wrong)))[0]).toBe(404);
    expect((await refusalOf(enrol(wrong)))[0]).toBe(404);
  }
});

test('many challenges of a link replace each other, and the person still enrols', async () => {
  const { token } = await anInvitation(owner);
  const first = await anybody().startEnrolment({ params: { token }, body: {} });
  for (let i = 0; i < 4; i++) await anybody().startEnrolment({ params: { token }, body: {} });
  const attestation = softPasskey(world.config.publicUrl).create(first.options) as never;
  const late = anybody().finishEnrolment({
    params: { token },
    body: { challengeId: first.challengeId as never, attestation },
  });
  expect(await refusalOf(late)).toEqual([400, expect.stringMatching(/no challenge/)]);
  expect((await enrol(token)).status).toBe('enrolled');
});

test('after the removal of the last passkey an invited one waits as any other does', async () => {
  const { id } = await aPasskey(world, owner);
  await owner.client(passkeysArea).revokePasskey({ params: { id: id as never }, body: {} });
  const { token } = await anInvitation(owner);
  await enrol(token);
  const [passkey] = await enrolledPasskeys();
  expect(Date.parse(passkey?.approvesFrom ?? '') - Date.parse(passkey?.createdAt ?? '')).toBeGreaterThan(23 * hour);
});

test('the invited person approves without an API key, page and audit name the person, and removal ends it', async () => {
  const { agentId } = await anAgentWithCard(world, owner);
  await world.sql('update policies set auto_approve_limit_cents = 5000, daily_limit_cents = null where agent_id = $1', [
    agentId,
  ]);
  const api = clientsOf(owner);
  const declare = () =>
    api.intents.declareIntent({
      body: { agentId, purpose: 'a book', expectedAmountEuros: 80, expectedMerchant: 'Example Shop' },
    });
  const soft = softPasskey(world.config.publicUrl);
  await enrol((await anInvitation(owner)).token, soft);
  const [passkey] = await enrolledPasskeys();
  const approver = world.as('').client(approvalsArea);
  const approve = async (url: string | null) => {
    const params = { token: url?.split('/').at(-1) ?? '' };
    const challenge = await approver.createApprovalChallenge({ params, body: {} });
    return approver.approveByLink({ params, body: { webauthnAssertion: soft.answer(challenge) } });
  };
  const intent = await declare();
  const { outcome } = await approve(intent.approvalUrl);
  expect(outcome).toMatchObject({ approvedWith: 'passkey', approverName: 'Anna Berg' });
  const named = (await auditsOf(intent.id)).filter(({ actor }) => actor === `passkey:${passkey?.id}`);
  expect(named.map(({ action, details }) => [action, details.person])).toEqual([
    ['intent.attested', 'Anna Berg'],
    ['intent.approved', 'Anna Berg'],
  ]);
  const events = await world.sql<{ data: object }>('select data from events where owner_id = $1', [owner.ownerId]);
  expect(JSON.stringify(events)).not.toContain('Anna');

  const open = await declare();
  const params = { token: open.approvalUrl?.split('/').at(-1) ?? '' };
  const early = await approver.createApprovalChallenge({ params, body: {} });
  await owner.client(passkeysArea).revokePasskey({ params: { id: passkey?.id as never }, body: {} });
  const late = approver.approveByLink({ params, body: { webauthnAssertion: soft.answer(early) } });
  expect(await refusalOf(late)).toEqual([400, expect.stringMatching(/not enrolled here/)]);
  expect((await approver.getApproval({ params })).passkey?.state).toBe('none');
});
