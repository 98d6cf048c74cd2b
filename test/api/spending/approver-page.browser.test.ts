/**
 * Goal: a person with nothing but a browser decides an intent, and understands why where that does not work. Method:
 * Chromium on the real pages, its virtual authenticators, the real API, worker and Temporal.
 * @module
 */
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
// biome-ignore lint/correctness/noUnresolvedImports: its types are re-exported in a way that the linter does not follow
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { passkeysArea } from '../../../src/domains/identity/passkeys/passkey.contract.ts';
import { hour } from '../../../src/kernel/instant.ts';
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
import { clientsOf } from '../../support/factories/records.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

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

const asked = { purpose: 'a reference book', expectedAmountEuros: 80, expectedMerchant: 'Example Shop' };

/** An owner whose agent waits for a person. */
async function anOwner(where = world) {
  const owner = await where.owner();
  const { agentId } = await anAgentWithCard(where, owner);
  await where.sql('update policies set auto_approve_limit_cents = 5000, daily_limit_cents = null where agent_id = $1', [
    agentId,
  ]);
  const api = clientsOf(owner).intents;
  const asks = (more: object = {}) => api.declareIntent({ body: { agentId, ...asked, ...more } });
  const read = (id: string) => api.getIntent({ params: { id } });
  return { owner, asks, read };
}

/** A browser profile with a built-in authenticator. */
async function aDevice(options: BrowserContextOptions = {}) {
  const device = await openPage(browser, options);
  opened.push(device);
  return { ...device, authenticator: await addAuthenticator(device.devtools) };
}

const addressOf = (path: string | null, where = world): string => new URL(path ?? '', where.config.publicUrl).href;

async function enrol(page: Page, { key }: Owner, where = world): Promise<void> {
  await page.goto(addressOf('/docs/passkeys', where));
  await page.getByLabel('API key').fill(key);
  await page.getByLabel('Name').fill('A phone');
  await page.getByRole('button', { name: 'Enrol a passkey' }).click();
  await heading(page, 'Passkey enrolled');
}

const pressApprove = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Approve with a passkey' }).click();
const problem = async (page: Page): Promise<string> => {
  const alert = page.getByRole('alert').and(page.locator(':not(:empty)'));
  await alert.waitFor();
  return alert.innerText();
};

browserTest('a person enrols a passkey, opens the link, reads it and approves with one press', async () => {
  const { owner, asks, read } = await anOwner();
  const { page, complaints } = await aDevice();
  await enrol(page, owner);
  const intent = await asks();
  await page.goto(addressOf(intent.approvalUrl));
  const text = await page.locator('main').innerText();
  const rule = 'This agent may spend up to 50.00 EUR without asking: a person has to approve 80.00 EUR';
  for (const word of ['80.00 EUR', 'a reference book', 'Example Shop', rule, 'your time']) {
    expect(text).toContain(word);
  }
  await pressApprove(page);
  await heading(page, 'Approved');
  expect(await page.locator('h1 + p').innerText()).toMatch(
    /^Approved with the passkey A phone on .* The agent may now pay\.$/,
  );
  expect(await read(intent.id)).toMatchObject({
    status: 'approved',
    approvedBy: expect.stringMatching(/^passkey:psk_/),
    attestedAt: expect.any(String),
  });
  expect(complaints).toEqual([]);
});

browserTest('without a passkey the page denies, with a reason, and leads to the enrolment', async () => {
  const { owner, asks, read } = await anOwner();
  const { page, complaints } = await aDevice();
  const intent = await asks();
  await page.goto(addressOf(intent.approvalUrl));
  expect(await page.getByRole('button', { name: 'Approve with a passkey' }).count()).toBe(0);
  const way = page.getByRole('link', { name: 'Enrol a passkey' });
  expect(await way.getAttribute('href')).toBe(addressOf('/docs/passkeys'));
  await page.getByLabel('Reason').fill('too dear\nfor us');
  await page.getByRole('button', { name: 'Deny the payment' }).click();
  await heading(page, 'Denied');
  expect(await read(intent.id)).toMatchObject({ status: 'denied', deniedReason: 'too dear for us' });

  const second = await asks();
  await enrol(page, owner);
  await page.goto(addressOf(second.approvalUrl));
  await pressApprove(page);
  await heading(page, 'Approved');
  expect(complaints).toEqual([]);
});

browserTest('a second passkey is enrolled with the first one’s consent', async () => {
  const { owner } = await anOwner();
  const { page, devtools, authenticator } = await aDevice();
  await enrol(page, owner);
  await page.goto(addressOf('/docs/passkeys'));
  await page.getByLabel('API key').fill('sk_sandbox_wrongwrongwrongwrongwrong');
  await page.getByRole('button', { name: 'Enrol a passkey' }).click();
  expect(await problem(page)).toBe('This API key is unknown, revoked, or of the other mode.');
  await page.getByLabel('API key').fill(owner.key);
  await page.getByRole('button', { name: 'Enrol a passkey' }).click();
  await page.getByText('This device holds an enrolled passkey already.').waitFor();

  const key = await addAuthenticator(devtools, { transport: 'usb' });
  await authenticator.isTouched(false);
  await page.route('**/passkeys/challenges', async (route) => {
    await authenticator.isTouched(true);
    await route.continue();
  });
  await page.getByLabel('Name').fill('A security key');
  await page.getByRole('button', { name: 'Enrol a passkey' }).click();
  await heading(page, 'Passkey enrolled');
  expect(await key.credentials()).toHaveLength(1);
  const enrolled = await owner.client(passkeysArea).listPasskeys();
  expect(enrolled.map(({ name }) => name)).toEqual(['A phone', 'A security key']);
});

describe('after a failed ceremony the page names the reason', () => {
  browserTest('a press in a second tab shows the decision that was made in the first', async () => {
    const { owner, asks, read } = await anOwner();
    const { page } = await aDevice();
    await enrol(page, owner);
    const intent = await asks();
    await page.goto(addressOf(intent.approvalUrl));
    const elsewhere = await page.context().newPage();
    await elsewhere.goto(addressOf(intent.approvalUrl));
    await elsewhere.getByText('Deny', { exact: true }).click();
    await elsewhere.getByRole('button', { name: 'Deny the payment' }).click();
    await heading(elsewhere, 'Denied');
    await pressApprove(page);
    await heading(page, 'Denied');
    expect((await read(intent.id)).status).toBe('denied');
  });

  browserTest('after the deadline', async () => {
    const { owner, asks } = await anOwner();
    const { page } = await aDevice();
    await enrol(page, owner);
    const intent = await asks({ ttlMinutes: 30 });
    await page.goto(addressOf(intent.approvalUrl));
    await world.advance(hour);
    await pressApprove(page);
    await heading(page, 'Expired');
    expect(await page.locator('main').innerText()).toContain(
      'The deadline passed without a decision. Nothing is paid.',
    );
  });

  browserTest('with another owner’s passkey, and with a holder who is not recognised', async () => {
    const mine = await anOwner();
    const theirs = await anOwner();
    const home = await aDevice();
    await enrol(home.page, mine.owner);
    const { page, authenticator } = await aDevice();
    await enrol(page, theirs.owner);
    const intent = await mine.asks();
    await page.goto(addressOf(intent.approvalUrl));
    await pressApprove(page);
    expect(await problem(page)).toMatch(/^No passkey was used/);
    expect((await mine.read(intent.id)).status).toBe('pending_approval');

    await home.page.goto(addressOf(intent.approvalUrl));
    await home.authenticator.verifiesUser(false);
    await pressApprove(home.page);
    expect(await problem(home.page)).toMatch(/^No passkey was used/);
    await home.authenticator.verifiesUser(true);
    await pressApprove(home.page);
    await heading(home.page, 'Approved');
    expect(await authenticator.credentials()).toHaveLength(1);
  });

  browserTest('at another address than the passkeys’, and leads to the right one', async () => {
    const { owner, asks } = await anOwner();
    const { page } = await aDevice();
    await enrol(page, owner);
    const intent = await asks();
    const wrong = addressOf(intent.approvalUrl).replace('localhost', '127.0.0.1');
    await page.goto(wrong);
    expect(await problem(page)).toMatch(/^Passkeys work at http:\/\/localhost:\d+ only/);
    expect(await page.getByRole('button', { name: 'Approve with a passkey' }).isDisabled()).toBe(true);
    await page.getByRole('link', { name: 'Open it there' }).click();
    await page.waitForURL((url) => url.hostname === 'localhost'); // And until its script has run.
    await pressApprove(page);
    await heading(page, 'Approved');
  });

  browserTest('while Temporal is unavailable; the denial still works', async () => {
    const alone = await startWorld({ env: { TEMPORAL_ADDRESS: '127.0.0.1:9' } });
    try {
      const { owner, asks, read } = await anOwner(alone);
      const { page } = await aDevice();
      await enrol(page, owner, alone);
      const intent = await asks();
      await page.goto(addressOf(intent.approvalUrl, alone));
      await pressApprove(page);
      expect(await problem(page)).toMatch(/cannot carry this out just now. Wait \d+ seconds and press again/);
      expect((await read(intent.id)).status).toBe('pending_approval');
      await page.getByText('Deny', { exact: true }).click();
      await page.getByRole('button', { name: 'Deny the payment' }).click();
      await heading(page, 'Denied');
      expect((await read(intent.id)).status).toBe('denied');
    } finally {
      await alone.close();
    }
  });
});

browserTest('a denial while the browser still asks for the passkey takes effect at once', async () => {
  const { owner, asks, read } = await anOwner();
  const { page, authenticator } = await aDevice();
  await enrol(page, owner);
  await authenticator.isTouched(false);
  const intent = await asks();
  await page.goto(addressOf(intent.approvalUrl));
  await pressApprove(page);
  expect(await page.getByRole('status').innerText()).toBe('Waiting for your passkey …');
  await page.getByText('Deny', { exact: true }).click();
  await page.getByRole('button', { name: 'Deny the payment' }).click();
  await heading(page, 'Denied');
  expect((await read(intent.id)).status).toBe('denied');
});

browserTest('what the agent writes is read, never run', async () => {
  const { asks } = await anOwner();
  const { page, complaints } = await aDevice();
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  const purpose = `</dd><script>alert(1)</script><img src=x onerror=alert(2)>"' onfocus=alert(3) javascript:alert(4)`;
  const expectedMerchant = '<svg onload=alert(5)>{{7*7}}';
  const intent = await asks({ purpose, expectedMerchant });
  await page.goto(addressOf(intent.approvalUrl));
  const text = await page.locator('dl').innerText();
  expect(text).toContain(purpose);
  expect(text).toContain(expectedMerchant);
  const reason = '<img src=x onerror=alert(6)>';
  await page.getByLabel('Reason').fill(reason);
  await page.getByRole('button', { name: 'Deny the payment' }).click();
  await heading(page, 'Denied');
  expect([dialogs, complaints]).toEqual([[], []]);
});

browserTest('everything is reached by keyboard, named, large enough, and fits the smallest phone', async () => {
  const { owner, asks, read } = await anOwner();
  const { page } = await aDevice({ viewport: { width: 320, height: 640 } });
  await enrol(page, owner);
  const intent = await asks({ purpose: 'x'.repeat(500) });
  await page.goto(addressOf(intent.approvalUrl));
  const widest = await page.evaluate('document.documentElement.scrollWidth');
  expect(widest).toBe(320);
  const focused = () =>
    page.evaluate<string>(`(() => { const { tagName, id } = document.activeElement; return tagName + '#' + id })()`);
  const reached: string[] = [];
  for (let i = 0; i < 2; i++) {
    await page.keyboard.press('Tab');
    reached.push(await focused());
  }
  await page.keyboard.press('Enter'); // Opens the denial.
  await page.keyboard.press('Tab');
  reached.push(await focused());
  expect(reached).toEqual(['BUTTON#approve', 'SUMMARY#', 'TEXTAREA#reason']);
  for (const part of await page.locator('button, summary, textarea').all()) {
    const box = await part.boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
  }
  await page.keyboard.type('by keyboard');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await heading(page, 'Denied');
  await eventually(
    () => read(intent.id),
    ({ deniedReason }) => deniedReason === 'by keyboard',
  );
});
