/**
 * Goal: passkeys as people have them work with a real browser, and what a browser can be made to do wrong is refused.
 * Method: Chromium with several virtual authenticators; each has separate keys and counters.
 * @module
 */
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import type { Client } from '../../../src/client/client.ts';
import { passkeysArea } from '../../../src/domains/identity/passkeys/passkey.contract.ts';
import {
  addAuthenticator,
  assertPasskey,
  browserTest,
  createPasskey,
  hasBrowser,
  type OpenPage,
  openBrowser,
  openPage,
  type VirtualAuthenticator,
} from '../../support/browser.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { refusalOf } from '../../support/refusals.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let browser: Awaited<ReturnType<typeof openBrowser>>;
let owner: Owner;
let passkeys: Client<typeof passkeysArea>;
const open: OpenPage[] = [];

beforeAll(async () => {
  if (!hasBrowser) return;
  world = await startWorld({ worker: true });
  browser = await openBrowser();
});
afterAll(async () => {
  if (!hasBrowser) return;
  await browser.close();
  await world.close();
});
beforeEach(async () => {
  if (!hasBrowser) return;
  for (const page of open.splice(0)) await page.close();
  owner = await world.owner();
  passkeys = owner.client(passkeysArea);
});

/** A page of a new browser profile with an authenticator. */
async function aDevice(origin = world.config.publicUrl) {
  const opened = await openPage(browser);
  open.push(opened);
  const authenticator = await addAuthenticator(opened.devtools);
  await opened.page.goto(`${origin}/health`); // Any page will do, and this one is small.
  return { ...opened, authenticator };
}
type Device = Awaited<ReturnType<typeof aDevice>>;

async function enrol({ page }: Device, by?: Device) {
  const { challengeId, options } = await passkeys.startPasskeyRegistration({ body: { name: 'phone' } });
  const attestation = await createPasskey(page, options);
  if (by === undefined) return passkeys.finishPasskeyRegistration({ body: { challengeId, attestation } });
  const vouch = await passkeys.createPasskeyChallenge({ body: { purpose: 'enroll', subjectId: challengeId } });
  const webauthnAssertion = await assertPasskey(by.page, vouch);
  return passkeys.finishPasskeyRegistration({ body: { challengeId, attestation, webauthnAssertion } });
}
const toRevoke = (subjectId: string) =>
  passkeys.createPasskeyChallenge({ body: { purpose: 'revoke_passkey', subjectId } });
const revoke = (id: string, webauthnAssertion: Awaited<ReturnType<typeof assertPasskey>>) =>
  passkeys.revokePasskey({ params: { id }, body: { webauthnAssertion } });
const credentialOf = async (authenticator: VirtualAuthenticator) => {
  const [credential] = await authenticator.credentials();
  if (credential === undefined) throw new Error('the authenticator has no credential');
  return credential;
};

browserTest('several devices: each is enrolled with the word of another, none twice', async () => {
  const [phone, laptop, key] = [await aDevice(), await aDevice(), await aDevice()];
  const first = await enrol(phone);
  expect(first).toMatchObject({ name: 'phone', transports: ['internal'], backedUp: false });
  const second = await enrol(laptop, phone);
  const third = await enrol(key, laptop);
  expect((await passkeys.listPasskeys()).map(({ id }) => id)).toEqual([first.id, second.id, third.id]);
  await expect(enrol(phone, laptop)).rejects.toThrow(/InvalidStateError/); // The browser itself knows it.

  expect((await refusalOf(revoke(first.id, await assertPasskey(phone.page, await toRevoke(first.id)))))[0]).toBe(403);
  await revoke(first.id, await assertPasskey(key.page, await toRevoke(first.id)));
  await revoke(third.id, await assertPasskey(laptop.page, await toRevoke(third.id)));
  expect((await passkeys.revokePasskey({ params: { id: second.id }, body: {} })).revoked).toBe(true);
  expect(await passkeys.listPasskeys()).toEqual([]);
});

browserTest('an answer sent again is refused, and so is one of a counter that went back', async () => {
  const [phone, laptop] = [await aDevice(), await aDevice()];
  const first = await enrol(phone);
  await enrol(laptop, phone);
  const copied = await credentialOf(laptop.authenticator);
  const spare = await enrol(await aDevice(), laptop); // The laptop has counted one use more than the copy.
  const answer = await assertPasskey(laptop.page, await toRevoke(spare.id));
  await revoke(spare.id, answer);
  expect((await refusalOf(revoke(spare.id, answer)))[0]).toBe(404);
  expect(await refusalOf(revoke(first.id, answer))).toEqual([400, expect.stringMatching(/was made for psk_/)]);

  await laptop.authenticator.replace(copied);
  const old = await assertPasskey(laptop.page, await toRevoke(first.id));
  expect(await refusalOf(revoke(first.id, old))).toEqual([
    400,
    expect.stringMatching(/counter of the passkey did not increase/),
  ]);
  expect(await refusalOf(revoke(first.id, old))).toEqual([400, expect.stringMatching(/was used before/)]);
  await laptop.authenticator.replace({ ...copied, signCount: 1_000 });
  expect((await revoke(first.id, await assertPasskey(laptop.page, await toRevoke(first.id)))).revoked).toBe(true);
});

browserTest('a page of another origin gets nothing that we take, though its keys are the right ones', async () => {
  const phone = await aDevice();
  await enrol(phone);
  const other = await enrol(await aDevice(), phone);
  // Another port of this machine: the same relying party to the browser, and another origin to us.
  const origin = world.sandboxUrl.replace('127.0.0.1', 'localhost');
  const { challengeId, options } = await passkeys.startPasskeyRegistration({ body: {} });
  const attestation = await createPasskey((await aDevice(origin)).page, options);
  const vouch = await passkeys.createPasskeyChallenge({ body: { purpose: 'enroll', subjectId: challengeId } });
  const webauthnAssertion = await assertPasskey(phone.page, vouch);
  const sentence = /made for another origin than http:\/\/localhost:/;
  expect(
    await refusalOf(passkeys.finishPasskeyRegistration({ body: { challengeId, attestation, webauthnAssertion } })),
  ).toEqual([400, expect.stringMatching(sentence)]);

  const thief = await aDevice(origin);
  const credential = { ...(await credentialOf(phone.authenticator)), signCount: 500 };
  await thief.devtools.send('WebAuthn.addCredential', { authenticatorId: thief.authenticator.id, credential });
  const answer = await assertPasskey(thief.page, await toRevoke(other.id));
  expect(await refusalOf(revoke(other.id, answer))).toEqual([400, expect.stringMatching(sentence)]);
});

browserTest('without finger or PIN there is no passkey, also where the page does not ask for it', async () => {
  const opened = await openPage(browser);
  open.push(opened);
  const options = { protocol: 'ctap2', transport: 'usb', automaticPresenceSimulation: true } as const;
  await opened.devtools.send('WebAuthn.enable', {});
  await opened.devtools.send('WebAuthn.addVirtualAuthenticator', { options }); // It knows no users.
  await opened.page.goto(`${world.config.publicUrl}/health`);
  const { challengeId, options: asked } = await passkeys.startPasskeyRegistration({ body: {} });
  await expect(createPasskey(opened.page, asked)).rejects.toThrow(/NotAllowedError/);
  const careless = { userVerification: 'discouraged', residentKey: 'discouraged' };
  const attestation = await createPasskey(opened.page, { ...asked, authenticatorSelection: careless });
  expect(await refusalOf(passkeys.finishPasskeyRegistration({ body: { challengeId, attestation } }))).toEqual([
    400,
    expect.stringMatching(/did not verify its user/),
  ]);
});

browserTest('strict, with a browser: declared, approved with the passkey, executed, completed', async () => {
  const api = clientsOf(owner);
  await api.fund.fundWallet({ body: { amountEuros: 100 } });
  const { id: agentId } = await api.agents.createAgent({ body: { name: 'buyer' } });
  await api.policies.applyPolicy({ params: { agentId }, body: { presetId: 'strict' } });
  const [phone, laptop] = [await aDevice(), await aDevice()];
  const [first] = [await enrol(phone), await enrol(laptop, phone)];
  const declare = (expectedAmountEuros: number) =>
    api.intents.declareIntent({
      body: { agentId, purpose: 'a book', expectedAmountEuros, expectedMerchant: 'Sandbox Shop' },
    });
  const [intent, other] = [await declare(20), await declare(19)];
  const params = { id: intent.id };
  const challengeFor = (intentId: string) => passkeys.createIntentChallenge({ params: { intentId }, body: {} });
  const forOther = { webauthnAssertion: await assertPasskey(laptop.page, await challengeFor(other.id)) };
  expect((await refusalOf(api.intents.approveIntent({ params, body: forOther })))[1]).toMatch(/was made for int_/);
  const body = { webauthnAssertion: await assertPasskey(phone.page, await challengeFor(intent.id)) };
  expect(await api.intents.approveIntent({ params, body })).toMatchObject({ approvedBy: `passkey:${first.id}` });
  expect((await refusalOf(api.intents.attestIntent({ params, body })))[1]).toMatch(/was used before/);
  const targetUrl = `${world.sandboxUrl}/shops/sandbox-shop?amountCents=2000`;
  const paid = await api.checkout.executeCheckout({ body: { intentId: intent.id, targetUrl } });
  expect(paid).toMatchObject({ success: true });
  await eventually(
    () => api.intents.getIntent({ params }),
    ({ status }) => status === 'completed',
  );
});
