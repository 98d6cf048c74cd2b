/**
 * Goal: repeated requests for challenges of one intent do not prevent its approval by another client, and no more than
 * five are open at any time. Method: real HTTP from several client addresses, real signatures by a software passkey.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aPasskey, type EnrolledPasskey, intentChallengeOf } from '../../support/factories/passkeys.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
let passkey: EnrolledPasskey;
let agentId: string;

beforeAll(async () => {
  world = await startWorld({ worker: true, env: { BURSAR_TRUSTED_PROXIES: '127.0.0.1' } });
  owner = await world.owner();
  const api = clientsOf(owner);
  await api.fund.fundWallet({ body: { amountEuros: 500 } });
  agentId = (await api.agents.createAgent({ body: { name: 'shopper' } })).id;
  passkey = await aPasskey(world, owner);
});
afterAll(() => world.close());

type Challenge = { challengeId: string; options: { challenge: string } };

async function waitingIntent() {
  const body = { agentId, purpose: 'a book', expectedAmountEuros: 80, expectedMerchant: 'Example Shop' };
  const intent = await clientsOf(owner).intents.declareIntent({ body });
  expect(intent.status).toBe('pending_approval');
  return { id: intent.id, token: intent.approvalUrl?.split('/').at(-1) ?? '' };
}

const byLink = async (client: string, path: string, body: object = {}) => {
  const answer = await fetch(`${world.apiUrl}/approve/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': client },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Challenge & { error?: string; status?: string } };
};
const open = async (id: string): Promise<number> =>
  (
    await world.sql(
      'select 1 from passkey_challenges where subject_id = $1 and used_at is null and expires_at > clock_timestamp()',
      [id],
    )
  ).length;

const stranger = '198.51.100.66';
const person = '203.0.113.7';

test('after 40 challenges by one client, and 40 at once, a person under the same link still approves', async () => {
  const { id, token } = await waitingIntent();
  for (let i = 0; i < 40; i++) expect((await byLink(stranger, `${token}/challenge`)).status).toBe(200);
  const flood = () => Promise.all(Array.from({ length: 40 }, () => byLink(stranger, `${token}/challenge`)));
  expect((await flood()).map(({ status }) => status)).toEqual(Array(40).fill(200));
  expect(await open(id)).toBe(3);

  const { status, body: challenge } = await byLink(person, `${token}/challenge`);
  expect(status).toBe(200);
  await flood(); // While the person is at the device.
  const approved = await byLink(person, token, { webauthnAssertion: passkey.answer(challenge) });
  expect([approved.status, approved.body.status]).toEqual([200, 'approved']);
});

test('challenges of the link and of the owner’s key have separate limits', async () => {
  const { id, token } = await waitingIntent();
  const mine = await intentChallengeOf(owner, id);
  const { body: theirs } = await byLink(person, `${token}/challenge`);
  for (let i = 0; i < 10; i++) await byLink(stranger, `${token}/challenge`);
  for (let i = 0; i < 10; i++) await byLink(`198.51.100.${i}`, `${token}/challenge`);
  expect(await open(id)).toBe(4);
  const { body: again } = await byLink(person, `${token}/challenge`);
  for (let i = 0; i < 10; i++) await intentChallengeOf(owner, id);
  expect(await open(id)).toBe(5);

  // Whose place was taken asks again; the others go on.
  const replaced = await byLink(person, token, { webauthnAssertion: passkey.answer(theirs) });
  expect([replaced.status, replaced.body.error]).toEqual([400, expect.stringContaining('ask for one first')]);
  const attest = (challenge: Challenge) =>
    clientsOf(owner).intents.attestIntent({ params: { id }, body: { webauthnAssertion: passkey.answer(challenge) } });
  await expect(attest(mine)).rejects.toThrow(/ask for one first/);
  const approved = await byLink(person, token, { webauthnAssertion: passkey.answer(again) });
  expect([approved.status, approved.body.status]).toEqual([200, 'approved']);
});

test('from eight addresses at once no more than three are open under a link', async () => {
  const { id, token } = await waitingIntent();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) => byLink(`198.51.100.${n % 8}`, `${token}/challenge`)),
  );
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(await open(id)).toBe(3);
  const marks = await world.sql<{ mark: string }>(
    'select asked_from as mark from passkey_challenges where subject_id = $1',
    [id],
  );
  expect(marks.every(({ mark }) => /^[\w-]{16}$/.test(mark))).toBe(true);
});
