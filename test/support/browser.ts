/**
 * A headless Chromium with virtual authenticators, driven over its debugging protocol: for WebAuthn ceremonies as people
 * make them. Tests that need Chromium are skipped by name on machines without it.
 * @module
 */
import { test } from '@jest/globals';
// biome-ignore lint/correctness/noUnresolvedImports: its types are re-exported in a way that the linter does not follow
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import { addVirtualAuthenticator, findChromium } from '../../src/demo/person.ts';

const executablePath = await findChromium();

export const hasBrowser = executablePath !== undefined;

/** `test` where there is a Chromium, else `test.skip`: the name is still shown. */
export const browserTest = hasBrowser ? test : test.skip;

export async function openBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error('no Chromium: set BURSAR_CHROMIUM to its path');
  const { chromium } = await import('playwright-core');
  // Root may not use the sandbox; nothing but our own pages is opened.
  const args = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath, headless: true, args });
}

export type OpenPage = {
  readonly page: Page;
  readonly devtools: CDPSession;
  /** What the page's console and scripts complained about. */
  readonly complaints: string[];
  close(): Promise<void>;
};

/** A page with a new profile. Ceremonies need a secure context: https, or http on localhost. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const devtools = await context.newCDPSession(page);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, devtools, complaints, close: () => context.close() };
}

/** Waits for this heading and for the page's scripts: a page that loads itself again shows its heading before they run. */
export async function heading(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { name, exact: true }).waitFor();
  await page.waitForLoadState('load');
}

/** Built into one page or plugged in. */
export type VirtualAuthenticator = Awaited<ReturnType<typeof addAuthenticator>>;

export async function addAuthenticator(
  devtools: CDPSession,
  { transport = 'internal' }: { transport?: 'internal' | 'usb' } = {},
) {
  const authenticatorId = await addVirtualAuthenticator(devtools, transport);
  const credentials = async () => (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
  return {
    id: authenticatorId,
    credentials,
    /** Puts a credential back as it was, for instance with an older counter. */
    replace: async (credential: Awaited<ReturnType<typeof credentials>>[number]): Promise<void> => {
      const { credentialId } = credential;
      await devtools.send('WebAuthn.removeCredential', { authenticatorId, credentialId });
      await devtools.send('WebAuthn.addCredential', { authenticatorId, credential });
    },
    /** Whether its user gives a finger or a PIN from now on. */
    verifiesUser: async (isUserVerified: boolean): Promise<void> => {
      await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
    /** Whether a user touches the authenticator when it asks; otherwise it waits. */
    isTouched: async (enabled: boolean): Promise<void> => {
      await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
    },
    unplug: async (): Promise<void> => {
      await devtools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    },
  };
}

/** `navigator.credentials.create` on that page: what `register/verify` takes as `attestation`. */
export const createPasskey = (page: Page, options: object): Promise<never> =>
  page.evaluate<never>(`(async () => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(${JSON.stringify(options)});
    return (await navigator.credentials.create({ publicKey })).toJSON();
  })()`);

/** `navigator.credentials.get` on that page: the envelope `{challengeId, assertion}`. */
export async function assertPasskey(
  page: Page,
  { challengeId, options }: { readonly challengeId: string; readonly options: object },
): Promise<{ challengeId: string; assertion: never }> {
  const assertion = await page.evaluate<never>(`(async () => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify(options)});
    return (await navigator.credentials.get({ publicKey })).toJSON();
  })()`);
  return { challengeId, assertion };
}
