/**
 * Goal: a person with a phone and a link enrols a passkey, approves with it, and never needs an API key. Method:
 * Chromium with the viewport of a phone and virtual authenticators on the real pages, the real API, worker and Temporal.
 * @module
 */
import { afterAll, beforeAll, expect } from '@jest/globals';
// biome-ignore lint/correctness/noUnresolvedImports: its types are re-exported in a way that the linter does not follow
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { customersArea } from '../../../src/domains/parties/customers/customer.contract.ts';
import {
  addAuthenticator,
  browserTest,
  hasBrowser,
  heading,
  type OpenPage,
  openBrowser,
  openPage,
} from '../../support/browser.ts';
import { anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { anInvitation } from '../../support/factories/invitations.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let browser: Browser;
const opened: OpenPage[] = [];

beforeAll(async () => {
  if (!hasBrowser) return;
  world = await startWorld({ worker: true });
  browser = await openBrowser();
});
afterAll(async () => {
  if (!hasBrowser) return;
  for (const one of opened) await one.close();
  await browser.close();
  await world.close();
});

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true } as const;

async function aDevice(options: BrowserContextOptions = phone) {
  const device = await openPage(browser, options);
  opened.push(device);
  const sent: string[] = [];
  device.page.on('request', (request) => sent.push(request.headers().authorization ?? ''));
  return { ...device, sent, authenticator: await addAuthenticator(device.devtools) };
}

async function anOwner() {
  const owner = await world.owner();
  const { agentId } = await anAgentWithCard(world, owner);
  await world.sql('update policies set auto_approve_limit_cents = 5000, daily_limit_cents = null where agent_id = $1', [
    agentId,
  ]);
  const customers = owner.client(customersArea);
  const { id } = await customers.getOwnCustomer();
  await customers.updateCustomer({ params: { id }, body: { companyName: 'Acme Tools GmbH' } });
  const asks = (more: object = {}) =>
    clientsOf(owner).intents.declareIntent({
      body: {
        agentId,
        purpose: 'a reference book',
        expectedAmountEuros: 80,
        expectedMerchant: 'Example Shop',
        ...more,
      },
    });
  return { owner, asks };
}

const widest = (page: Page) => page.evaluate('document.documentElement.scrollWidth');

/** For a person who looks at the pages: TEST_PICTURES names a folder. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.TEST_PICTURES;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

browserTest(
  'the owner invites two people on the page; each enrols on a phone and approves under the own name',
  async () => {
    const { owner, asks } = await anOwner();
    const desk = await aDevice({ viewport: { width: 1280, height: 800 } });
    const invite = async (name: string): Promise<string> => {
      await desk.page.goto(new URL('/docs/passkeys', world.config.publicUrl).href);
      await desk.page.getByText('Invite another person instead').click();
      const form = desk.page.locator('#invite');
      await desk.page.getByLabel('API key').fill(owner.key);
      await form.getByLabel('Person').fill(name);
      await picture(desk.page, 'invite-1280');
      await form.getByRole('button', { name: 'Make the link' }).click();
      await heading(desk.page, 'Invitation made');
      return desk.page.locator('#link').inputValue();
    };
    const anna = await aDevice();
    await anna.page.goto(await invite('Anna Berg'));
    expect(await anna.page.locator('main').innerText()).toContain('Bursar for Acme Tools GmbH');
    await picture(anna.page, 'enrol-390');
    expect(await widest(anna.page)).toBe(390);
    await anna.page.getByRole('button', { name: 'Enrol a passkey' }).click();
    await heading(anna.page, 'Passkey enrolled');
    await picture(anna.page, 'enrolled-390');

    // Anna's passkey confirms the second invitation, on the owner's desk.
    const [credential] = await anna.authenticator.credentials();
    await desk.devtools.send('WebAuthn.addCredential', {
      authenticatorId: desk.authenticator.id,
      credential: { ...credential, signCount: 100 } as never,
    });
    const bob = await aDevice();
    await bob.page.goto(await invite('Bob Čapek'));
    await bob.page.getByRole('button', { name: 'Enrol a passkey' }).click();
    await heading(bob.page, 'Passkey enrolled');

    const intent = await asks({ recurring: { cadence: 'monthly', amountTolerancePercent: 10 } });
    const link = intent.approvalUrl ?? '';
    await bob.page.goto(link);
    const asked = await bob.page.locator('main').innerText();
    for (const word of ['Bursar for Acme Tools GmbH', 'up to 88.00 EUR each', 'every month; last charge on']) {
      expect(asked).toContain(word);
    }
    await picture(bob.page, 'approve-390');
    await bob.page.getByRole('button', { name: 'Approve with a passkey' }).click();
    await heading(bob.page, 'Approved');
    const said = (await bob.page.locator('main').innerText()).replaceAll(/\s+/g, ' ');
    for (const word of ['with the passkey Bob Čapek', '80.00 EUR up to 88.00 EUR each', 'Example Shop']) {
      expect(said).toContain(word);
    }
    expect(said).not.toContain('reference book');
    await picture(bob.page, 'approved-390');
    const wide = await aDevice({ viewport: { width: 1280, height: 800 } });
    await wide.page.goto(link);
    await picture(wide.page, 'approved-1280');
    expect([await widest(bob.page), await widest(wide.page)]).toEqual([390, 1280]);
    expect([...anna.sent, ...bob.sent].filter((header) => header !== '')).toEqual([]);
    expect([anna.complaints, bob.complaints, desk.complaints]).toEqual([[], [], []]);
  },
);

browserTest(
  'a stranger’s passkey on the same link never looks like one’s own, and a lost answer is no loss',
  async () => {
    const { owner } = await anOwner();
    const press = async (page: Page) => {
      await page.bringToFront(); // A passkey is made in the tab that has the focus.
      await page.getByRole('button', { name: 'Enrol a passkey' }).click();
    };
    const warning =
      /enrolled with this link on .+ your time\. If that was not you, tell the person who sent you the link/;
    const told = async (page: Page) => (await page.locator('main').innerText()).replaceAll(/\s+/g, ' ');
    const { enrolUrl } = await anInvitation(owner);
    const [anna, stranger] = [await aDevice(), await aDevice()];
    for (const { page } of [anna, stranger]) await page.goto(enrolUrl);
    let sent = 0;
    // Anna's device has made its passkey, and the stranger is faster.
    await anna.page.route(enrolUrl, async (route) => {
      if (route.request().method() === 'POST' && sent++ === 0) {
        await press(stranger.page);
        await heading(stranger.page, 'Passkey enrolled');
      }
      await route.continue();
    });
    await press(anna.page);
    await heading(anna.page, 'This link was used');
    const said = await told(anna.page);
    expect(said).toMatch(warning);
    for (const word of ['✓', 'of this device', 'Passkey enrolled']) expect(said).not.toContain(word);
    expect(sent).toBe(2);
    expect(await world.sql('select 1 from passkeys where owner_id = $1', [owner.ownerId])).toHaveLength(1);
    await stranger.page.reload();
    expect(await told(stranger.page)).toMatch(warning);

    const other = await anOwner();
    const lossy = await aDevice();
    const url = (await anInvitation(other.owner)).enrolUrl;
    await lossy.page.goto(url);
    let lost = 0;
    await lossy.page.route(url, async (route) => {
      if (route.request().method() !== 'POST' || lost > 1) return route.continue();
      lost += 1;
      await route.fetch();
      return route.abort();
    });
    await press(lossy.page);
    await lossy.page.getByText('Bursar cannot be reached').waitFor();
    await press(lossy.page);
    await heading(lossy.page, 'Passkey enrolled');
    expect(await told(lossy.page)).toMatch(
      /^Bursar for .+ ✓ Passkey enrolled Anna Berg approves .+ this device from .+ your time on\./,
    );
  },
);

browserTest('a link that was used, in another tab too, or whose time is over, says so', async () => {
  const { owner } = await anOwner();
  const { token, enrolUrl, id } = await anInvitation(owner);
  const { page } = await aDevice();
  await page.goto(enrolUrl);
  const second = await page.context().newPage();
  await second.goto(enrolUrl);
  await page.bringToFront(); // A passkey is made in the tab that has the focus.
  await page.getByRole('button', { name: 'Enrol a passkey' }).click();
  await heading(page, 'Passkey enrolled');
  await second.getByRole('button', { name: 'Enrol a passkey' }).click();
  await heading(second, 'This link was used');
  expect(await world.sql('select 1 from passkeys where owner_id = $1', [owner.ownerId])).toHaveLength(1);
  await world.sql(
    'update passkey_invitations set passkey_id = null, used_at = null, expires_at = now() where id = $1',
    [id],
  );
  await page.goto(enrolUrl);
  await heading(page, 'This link cannot be used');
  await page.goto(enrolUrl.replace(token, token.replaceAll(/\d/g, '0')));
  await heading(page, 'No such link');
});
