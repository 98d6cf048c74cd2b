/**
 * Goal: an invited person turns notifications on with a phone, and a notification leads to the approver's page. Method:
 * Chromium with the page, the service worker and the worker as they are; only `pushManager.subscribe` is replaced, because
 * the browser cannot reach its vendor's push service; the messages that our push service decrypts are delivered over CDP.
 * A phone with the features of an iPhone's browser, and without those that it lacks, stands for an iPhone.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
// biome-ignore lint/correctness/noUnresolvedImports: its types are re-exported in a way that the linter does not follow
import type { Browser } from 'playwright-core';
import { addAuthenticator, browserTest, hasBrowser, heading, openBrowser, openPage } from '../../support/browser.ts';
import { anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { anInvitation } from '../../support/factories/invitations.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { type PushServiceForTests, startPushService } from '../../support/push-service.ts';
import { openssl } from '../../support/tls.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
let browser: Browser;
let service: PushServiceForTests;
// The push service of these tests speaks TLS: without openssl there is no certificate, without Chromium no page.
const isPossible = hasBrowser && openssl;
const phoneTest = isPossible ? browserTest : test.skip;

beforeAll(async () => {
  if (!isPossible) return;
  service = await startPushService();
  world = await startWorld({ worker: true, allowedOrigins: [service.origin] });
  browser = await openBrowser();
});
afterAll(async () => {
  if (!isPossible) return;
  await browser.close();
  await world.close();
  await service.close();
});

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

describe('on a page that is open in a browser', () => {
  /** The invitation's page, once a passkey was enrolled with it. */
  async function enrolled(prepare: string) {
    const owner = await world.owner();
    const opened = await openPage(browser, phone);
    await addAuthenticator(opened.devtools);
    await opened.page.addInitScript(prepare);
    await opened.page.goto((await anInvitation(owner)).enrolUrl);
    await opened.page.getByRole('button', { name: 'Enrol a passkey' }).click();
    await heading(opened.page, 'Passkey enrolled');
    const notify = opened.page.getByRole('button', { name: 'Notify me on this device' });
    const steps = opened.page.getByText('Add to Home Screen');
    return { ...opened, isOffered: () => notify.isVisible(), showsSteps: () => steps.isVisible() };
  }

  const inSafari = 'delete window.PushManager; delete window.Notification; navigator.standalone =';

  phoneTest('an iPhone reads how to add it to the home screen, and finds the manifest and its icons', async () => {
    const { page, devtools, complaints, isOffered, showsSteps, close } = await enrolled(`${inSafari} false;`);
    expect([await showsSteps(), await isOffered()]).toEqual([true, false]);
    const folder = process.env.TEST_PICTURES;
    if (folder !== undefined) await page.screenshot({ path: `${folder}/home-screen-390.png`, fullPage: true });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    const { data = '', errors } = await devtools.send('Page.getAppManifest');
    expect(errors).toEqual([]);
    const manifest = JSON.parse(data);
    expect(manifest).toMatchObject({ name: 'Bursar', display: 'standalone', scope: '/' });
    expect(manifest).not.toHaveProperty('start_url'); // The home screen opens the invitation's own page.
    const touchIcon = await page.locator('link[rel=apple-touch-icon]').getAttribute('href');
    const icons = [touchIcon, ...manifest.icons.map(({ src }: { src: string }) => src)];
    for (const icon of icons) {
      const { status, headers } = await fetch(new URL(icon, page.url()));
      expect([icon, status, headers.get('content-type')]).toEqual([icon, 200, expect.stringMatching(/^image\//)]);
    }
    expect(complaints).toEqual([]);
    await close();
  });

  phoneTest('an iPhone that opened it from the home screen, and other browsers, read nothing about it', async () => {
    const fromHomeScreen = await enrolled('navigator.standalone = true;');
    expect([await fromHomeScreen.showsSteps(), await fromHomeScreen.isOffered()]).toEqual([false, true]);
    await fromHomeScreen.close();
    const other = await enrolled('');
    expect([await other.showsSteps(), await other.isOffered()]).toEqual([false, true]);
    await other.close();
    const without = await enrolled('delete window.PushManager;');
    expect(await without.showsSteps()).toBe(false);
    await without.page.getByText('This browser cannot show notifications.').waitFor();
    expect(without.complaints).toEqual([]);
    await without.close();
  });
});

phoneTest('a phone is subscribed from the enrolment page, shows an approval, and leads to its page', async () => {
  const owner = await world.owner();
  const { agentId } = await anAgentWithCard(world, owner);
  await world.sql('update policies set auto_approve_limit_cents = 5000, daily_limit_cents = null where agent_id = $1', [
    agentId,
  ]);
  const { page, devtools, complaints, close } = await openPage(browser, phone);
  await addAuthenticator(devtools);
  const { origin } = new URL(world.config.publicUrl);
  await page.context().grantPermissions(['notifications'], { origin });
  const device = service.device();
  await page.addInitScript(`PushManager.prototype.subscribe = async function (options) {
    window.askedWith = options;
    return { toJSON: () => (${JSON.stringify(device)}) };
  }`);
  const registered = new Promise<string>((found) => {
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const one = registrations.find(({ isDeleted }) => !isDeleted);
      if (one !== undefined) found(one.registrationId);
    });
  });
  await devtools.send('ServiceWorker.enable');
  await page.goto((await anInvitation(owner)).enrolUrl);
  await page.getByRole('button', { name: 'Enrol a passkey' }).click();
  await page.getByRole('button', { name: 'Notify me on this device' }).click();
  await page.getByText('This device gets notifications.').waitFor();
  const folder = process.env.TEST_PICTURES;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/notified-390.png`, fullPage: true });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  expect(await page.evaluate('window.askedWith.userVisibleOnly')).toBe(true);

  const { approvalUrl, id } = await clientsOf(owner).intents.declareIntent({
    body: { agentId, purpose: 'a book', expectedAmountEuros: 80, expectedMerchant: 'Example Shop' },
  });
  const [message] = await eventually(
    async () => service.to(device),
    (messages) => messages.length > 0,
  );
  expect(message?.senderKey).toBe(await page.evaluate('window.askedWith.applicationServerKey'));
  const data = message?.text ?? '';
  await devtools.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await registered, data });
  const shown = await eventually(
    () =>
      page.evaluate<{ title: string; body: string; tag: string }[]>(`navigator.serviceWorker.ready
        .then((one) => one.getNotifications())
        .then((all) => all.map(({ title, body, tag }) => ({ title, body, tag })))`),
    (all) => all.length > 0,
  );
  const body = 'A payment of 80.00 EUR waits for your decision.';
  expect(shown).toEqual([{ title: 'Your approval is needed', body, tag: id }]);

  // A headless browser shows no notification to press: the test makes the event and notes the window that it opens.
  const [worker] = page.context().serviceWorkers();
  const opened = await worker?.evaluate<string>(`(async () => {
    const [notification] = await self.registration.getNotifications();
    return new Promise((done) => {
      self.clients.openWindow = async (url) => done(url);
      self.dispatchEvent(new NotificationEvent('notificationclick', { notification }));
    });
  })()`);
  expect(opened).toBe(new URL(approvalUrl ?? '').pathname);
  await page.goto(new URL(opened ?? '', origin).href);
  await page.getByRole('button', { name: 'Approve with a passkey' }).click();
  await heading(page, 'Approved');
  expect([complaints, service.faults]).toEqual([[], []]);
  await close();
});
