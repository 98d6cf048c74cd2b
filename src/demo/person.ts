/**
 * A person with a browser and a passkey: headless Chromium with a virtual authenticator. The person uses the two pages
 * and does not call the API directly.
 * @module
 */
import { access } from 'node:fs/promises';
// biome-ignore lint/correctness/noUnresolvedImports: its types are re-exported in a way that the linter does not follow
import type { Browser, CDPSession, Page } from 'playwright-core';

export type Person = {
  /** Enrols a passkey on the page /docs/passkeys with the owner's API key. */
  enrol(apiUrl: string, apiKey: string): Promise<void>;
  /** Approves with the passkey on the approver's page. Returns the question and the outcome that the page shows. */
  approve(approvalUrl: string): Promise<{ question: string; outcome: string }>;
  leave(): Promise<void>;
};

/** A person with a browser, or the reason why this machine cannot run one. */
export async function findPerson(apiUrl: string): Promise<Person | { readonly missing: string }> {
  const { protocol, hostname } = new URL(apiUrl);
  if (protocol !== 'https:' && hostname !== 'localhost') return { missing: `passkeys need https, not ${apiUrl}` };
  const executablePath = await findChromium();
  if (executablePath === undefined) return { missing: 'no Chromium was found (BURSAR_CHROMIUM names one)' };
  try {
    return await personAt(executablePath);
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : 'it did not start';
    return { missing: `${executablePath} did not start: ${why}` };
  }
}

/** Undefined where no Chromium is found. */
export async function findChromium(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  const places = env.BURSAR_CHROMIUM ? [env.BURSAR_CHROMIUM] : usualPlaces;
  const found = await Promise.all(
    places.map((place) =>
      access(place).then(
        () => place,
        () => undefined,
      ),
    ),
  );
  return found.find((place) => place !== undefined);
}

/** Adds a virtual authenticator to one page. It stores passkeys and verifies its user. Returns its id. */
export async function addVirtualAuthenticator(
  devtools: CDPSession,
  transport: 'internal' | 'usb' = 'internal',
): Promise<string> {
  await devtools.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return authenticatorId;
}

const usualPlaces = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** A busy machine needs half a minute to start a browser. */
const timeoutMs = 60_000;

async function personAt(executablePath: string): Promise<Person> {
  const { chromium } = await import('playwright-core');
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args, timeout: timeoutMs });
  try {
    return personIn(browser, await pageWithPasskey(browser));
  } catch (error) {
    await browser.close();
    throw error;
  }
}

const personIn = (browser: Browser, page: Page): Person => ({
  enrol: async (apiUrl, apiKey) => {
    await page.goto(new URL('/docs/passkeys', apiUrl).href);
    await page.getByLabel('API key').fill(apiKey);
    await page.getByLabel('Name').fill('Anna’s phone');
    await page.getByRole('button', { name: 'Enrol a passkey' }).click();
    await endOf(page, 'Passkey enrolled');
  },
  approve: async (approvalUrl) => {
    await page.goto(approvalUrl);
    const question = await page.getByRole('heading', { level: 1 }).innerText();
    await page.getByRole('button', { name: 'Approve with a passkey' }).click();
    await endOf(page, 'Approved');
    return { question: question.replaceAll(/\s+/g, ' '), outcome: await page.locator('h1 + p').innerText() };
  },
  leave: () => browser.close(),
});

async function pageWithPasskey(browser: Browser): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(timeoutMs);
  await addVirtualAuthenticator(await page.context().newCDPSession(page));
  return page;
}

/** Waits for the heading; throws the problem that the page shows instead. */
async function endOf(page: Page, heading: string): Promise<void> {
  const problem = page.locator('#problem:not(:empty)');
  const end = page.getByRole('heading', { name: heading, exact: true });
  await end.or(problem).first().waitFor();
  if (await problem.isVisible()) throw new Error(`the page says: ${await problem.innerText()}`);
}
