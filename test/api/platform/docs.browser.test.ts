/**
 * Goal: a newcomer can read the page at /docs and follow it. Method: real Chromium, phone and desktop, light and dark,
 * checked by axe-core; the commands of the page are run as they stand, in a shell against a real installation.
 * @module
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { browserTest, openBrowser, openPage } from '../../support/browser.ts';
import { startWorld, type World } from '../../support/world.ts';

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: true });
});
afterAll(() => world.close());

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const unescaped = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name] ?? '');

test('the commands of the first purchase work as printed', async () => {
  const page = await (await fetch(`${world.apiUrl}/docs`)).text();
  const [, ...rest] = page.split('id="first-purchase"');
  const [section = ''] = rest.join('').split('id="operations"');
  const commands = [...section.matchAll(/<pre[^>]*><code>(.*?)<\/code>/gs)].map(([, text = '']) => unescaped(text));
  expect(commands).toHaveLength(6);
  const { key } = await world.owner();
  const folder = await mkdtemp(join(tmpdir(), 'bursar-docs-'));
  try {
    await mkdir(join(folder, '.bursar'));
    const ready = { apiUrl: world.apiUrl, sandboxUrl: world.sandboxUrl, apiKey: key };
    await writeFile(join(folder, '.bursar', 'ready.json'), JSON.stringify(ready));
    const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
    const run = promisify(execFile)('sh', ['-euc', commands.join('\necho\n')], { cwd: folder, env });
    const { stdout } = await run;
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ success: true, amountEuros: 80 });
  } finally {
    await rm(folder, { recursive: true });
  }
});

const readers = [
  { name: 'desktop, light', viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  { name: 'desktop, dark', viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  { name: 'phone, light', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  { name: 'phone, dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
] as const;

for (const { name, ...reader } of readers) {
  browserTest(
    `${name}: axe finds nothing, nothing is cut off, and no operation is missing`,
    async () => {
      const browser = await openBrowser();
      try {
        const { page, complaints } = await openPage(browser, { ...reader, bypassCSP: true });
        await page.goto(`${world.apiUrl}/docs`);
        await page.evaluate(
          "for (const one of [...document.querySelectorAll('details')].slice(0, 12)) one.open = true",
        );
        if (process.env.SCREENSHOTS !== undefined) {
          await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name.replace(', ', '-')}.png`) });
        }
        await page.evaluate(await readFile(axeFile, 'utf8'));
        const found = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as {
          id: string;
          nodes: { html: string }[];
        }[];
        expect(found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
        expect(await page.evaluate("document.querySelectorAll('details').length")).toBeGreaterThan(100);
        expect(complaints).toEqual([]);
      } finally {
        await browser.close();
      }
    },
    120_000,
  );
}
