/**
 * Goal: a person on a phone or a desktop sees the state of a subscription and acts on it with the buttons. Method: Chromium
 * on the real page, with the real API, relay, worker and Temporal, and a real receiver that fails and recovers.
 * @module
 */
import { afterAll, beforeAll, expect } from '@jest/globals';
// biome-ignore lint/correctness/noUnresolvedImports: its types are re-exported in a way that the linter does not follow
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { webhookPagesArea } from '../../../src/domains/delivery/webhook-pages/webhook-page.contract.ts';
import { customersArea } from '../../../src/domains/parties/customers/customer.contract.ts';
import { browserTest, hasBrowser, heading, type OpenPage, openBrowser, openPage } from '../../support/browser.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { aPageLink } from '../../support/factories/webhook-pages.ts';
import { inTurn, status } from '../../support/receiver.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
let browser: Browser;
const opened: OpenPage[] = [];

beforeAll(async () => {
  if (!hasBrowser) return;
  bursar = await startDeliveryWorld({ retries: true });
  browser = await openBrowser();
});
afterAll(async () => {
  if (!hasBrowser) return;
  for (const one of opened) await one.close();
  await browser.close();
  await bursar.close();
});

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true } as const;
const desk = { viewport: { width: 1280, height: 800 } } as const;

async function aReader(url: string, options: BrowserContextOptions) {
  const one = await openPage(browser, options);
  opened.push(one);
  await one.page.goto(url);
  return one;
}

async function watched(box: string) {
  const subscriber = await bursar.subscriber();
  const { client } = bursar.world.as(subscriber.key);
  const customers = client(customersArea);
  const { id: customerId } = await customers.getOwnCustomer();
  await customers.updateCustomer({ params: { id: customerId }, body: { companyName: 'Acme Tools GmbH' } });
  const body = { url: `${bursar.receiver.urlOf(box)}`, events: ['policy.created'] };
  const webhook = await subscriber.webhooks.createWebhook({ body });
  const { url, token } = await aPageLink({ client }, webhook.id);
  const { getWebhookPage } = bursar.world.as('').client(webhookPagesArea);
  /** Waits until every attempt has its result, and this number of deliveries wait for another attempt. */
  const settled = (retrying: number) =>
    eventually(
      () => getWebhookPage({ params: { token } }),
      ({ queue }) => queue.retrying === retrying && queue.unsent + queue.underWay === 0,
    );
  return { ...subscriber, id: webhook.id, url, settled };
}

/** So many failures that the next attempt is due after the end of the test. */
const failsForLong = (code: number) => status(code, { headers: { 'retry-after': '3600' } });

/** A week of a busy subscription, with many failures in some hours. */
const aWeekOf = (webhookId: string) =>
  bursar.world.sql(
    `insert into webhook_hours (webhook_id, hour, attempts, failures, answered, answer_ms, slowest_ms)
     select $1, hour, made, bad, made - bad / 2, (made - bad / 2) * ms, ms * 4 + bad * 7
     from (select hour, 40 + (n * 37) % 160 as made, case when n % 24 in (9, 10, 11) then 20 + n % 17 else 0 end as bad,
             35 + (n * 13) % 60 as ms
           from generate_series(1, 160) n, lateral (select date_trunc('hour', now(), 'UTC') - n * interval '1 hour' as hour) h) w`,
    [webhookId],
  );

const said = async (page: Page) => (await page.locator('main').innerText()).replaceAll(/\s+/g, ' ');
const widest = (page: Page) => page.evaluate('document.documentElement.scrollWidth');

/** Waits until the page, which reloads by a timer, shows the text. */
const says = (page: Page, words: RegExp) =>
  eventually(
    () => said(page),
    (text) => words.test(text),
  );

/** The event that a browser sends to a page whose tab is shown again. */
const returnToThePage = `document.dispatchEvent(new Event('visibilitychange'))`;

/** For a person who looks at the pages: TEST_PICTURES names a folder. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.TEST_PICTURES;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

browserTest('a receiver fails: retried from the phone, given up and delivered again at the desk', async () => {
  const one = await watched('watched-page');
  await aWeekOf(one.id);
  bursar.receiver.answers('watched-page', failsForLong(503));
  await bursar.emit(one.ownerId, 7);
  await one.settled(7);
  const mobile = await aReader(one.url, phone);
  await says(mobile.page, /Failing since .+ your time: \d+ failures in a row, the last one HTTP 503/);
  await says(mobile.page, /7 deliveries wait/);
  expect(await said(mobile.page)).toContain('Bursar for Acme Tools GmbH');
  await picture(mobile.page, 'webhook-failing-390');
  expect(await widest(mobile.page)).toBe(390);

  const wide = await aReader(one.url, desk);
  await picture(wide.page, 'webhook-failing-1280');
  await wide.page.getByRole('link', { name: 'Last 7 days' }).click();
  await wide.page.waitForURL(/period=7d$/);
  await wide.page.getByText('The same as a table').click();
  expect(await wide.page.locator('tbody tr').count()).toBe(28);
  await picture(wide.page, 'webhook-week-1280');
  expect(await widest(wide.page)).toBe(1280);
  const dark = await aReader(one.url, { ...phone, colorScheme: 'dark' });
  await dark.page.getByText('The same as a table').click();
  await dark.page.getByText('Give up …').click();
  await picture(dark.page, 'webhook-failing-dark-390');
  expect(await widest(dark.page)).toBe(390);

  // The first of the seven fails again, and the others arrive.
  const before = bursar.receiver.received('watched-page').length;
  bursar.receiver.answers('watched-page', (response, n) =>
    (n === before + 1 ? failsForLong(503) : status(200))(response, n),
  );
  await mobile.page.getByRole('button', { name: 'Retry now' }).click();
  await says(mobile.page, /7 deliveries are attempted now\./);
  await one.settled(1);
  await says(mobile.page, /1 delivery waits/);
  expect(bursar.receiver.received('watched-page').length).toBe(before + 7);

  // The table stays open when the page reloads.
  await wide.page.reload();
  await wide.page.getByText('The same as a table').click();
  await wide.page.getByText('Give up …').click();
  await wide.page.getByRole('button', { name: 'Give up 1 delivery' }).click();
  await says(wide.page, /1 delivery was given up\. ?/);
  await says(wide.page, /Nothing waits\..*1 delivery used all attempts or was given up/);
  expect(await wide.page.locator('tbody').isVisible()).toBe(true);
  await picture(wide.page, 'webhook-letters-1280');
  bursar.receiver.answers('watched-page', status(200));
  await wide.page.getByRole('button', { name: /^Deliver policy\.created whd_\w+ again$/ }).click();
  await says(wide.page, /1 delivery is on its way\..*|Dead letters None\./);
  await eventually(
    async () => bursar.receiver.received('watched-page').length,
    (received) => received === before + 8,
  );
  await says(wide.page, /Active\. The last attempt succeeded\..* Dead letters None\./);
  await picture(wide.page, 'webhook-active-1280');

  await mobile.page.reload();
  await mobile.page.getByRole('button', { name: 'Send a test event' }).click();
  await says(mobile.page, /A test event is on its way\./);
  const [last] = await eventually(
    async () => bursar.receiver.received('watched-page').slice(before + 8),
    (all) => all.length === 1,
  );
  expect(JSON.parse(last?.body ?? '')).toMatchObject({ data: { test: true } });
  expect([mobile.complaints, wide.complaints, dark.complaints]).toEqual([[], [], []]);
});

browserTest(
  'many dead letters are delivered again at once; a paused subscription offers nothing that sends',
  async () => {
    const one = await watched('many-letters');
    bursar.receiver.answers(
      'many-letters',
      inTurn(...Array.from({ length: 60 }, () => failsForLong(500)), status(200)),
    );
    await bursar.emit(one.ownerId, 60);
    await one.settled(60);
    const { page, complaints } = await aReader(one.url, phone);
    await says(page, /60 deliveries wait/);
    await page.getByText('Give up …').click();
    await page.getByRole('button', { name: 'Give up 60 deliveries' }).click();
    await says(page, /60 deliveries used all attempts or were given up\. The newest 50 are shown\./);
    expect(await page.getByRole('button', { name: /^Deliver policy/ }).count()).toBe(50);
    await picture(page, 'webhook-letters-390');
    expect(await widest(page)).toBe(390);
    await one.webhooks.updateWebhook({ params: { id: one.id }, body: { status: 'paused' } });
    await page.reload();
    await says(page, /Paused by its owner\./);
    expect(await page.locator('button').count()).toBe(0);
    await picture(page, 'webhook-paused-390');
    await one.webhooks.updateWebhook({ params: { id: one.id }, body: { status: 'active' } });
    await page.reload();
    await page.getByRole('button', { name: 'Deliver all again' }).click();
    await says(page, /60 deliveries are on their way\./);
    await says(page, /Dead letters None\./);
    await eventually(
      async () => bursar.receiver.received('many-letters').length,
      (received) => received === 120,
    );
    expect(complaints).toEqual([]);
  },
);

browserTest('what cannot be done is said in words, and a link that is not good leads to a sentence', async () => {
  const one = await watched('in-words');
  const reader = await openPage(browser, phone);
  opened.push(reader);
  const { page } = reader;
  // The test reloads the page itself, because a reload would replace the buttons while the test uses them.
  await page.route(one.url, (route) => (route.request().isNavigationRequest() ? route.continue() : route.abort()));
  await page.goto(one.url);
  await one.webhooks.updateWebhook({ params: { id: one.id }, body: { status: 'paused' } });
  await page.getByRole('button', { name: 'Send a test event' }).click();
  await page.getByText(/^Not done: webhook wh_\w+ is paused; make it active first\.$/).waitFor();
  await one.webhooks.updateWebhook({ params: { id: one.id }, body: { status: 'active' } });
  await page.reload();
  await page.route('**/test', (route) => route.abort());
  await page.getByRole('button', { name: 'Send a test event' }).click();
  await page.getByText('Bursar cannot be reached. Try again in a moment.').waitFor();
  await page.unroute(one.url);
  await one.webhooks.deleteWebhook({ params: { id: one.id } });
  await page.evaluate(returnToThePage);
  await heading(page, 'This link is not good');
  await picture(page, 'webhook-not-good-390');
  const requested: string[] = [];
  page.on('request', (request) => requested.push(new URL(request.url()).pathname));
  await page.evaluate(`(async () => { ${returnToThePage}; await fetch('/webhook-pages/another'); })()`);
  // An invalid link is not requested again. The browser may fetch an icon.
  expect(requested.filter((path) => path.startsWith('/webhook-pages/'))).toEqual(['/webhook-pages/another']);
});
