/**
 * Goal: the guides are true, and readable where they are served. Method: the commands of each guide run in a shell as they
 * are printed, and their output is compared with what the guide shows; the pages are read over HTTP, and in real Chromium
 * as a phone and a desktop, checked by axe-core.
 * @module
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { renderMarkdown } from '../../../src/http/guides/markdown.ts';
import { browserTest, openBrowser, openPage } from '../../support/browser.ts';
import { startWorld, type World } from '../../support/world.ts';

const guides = new URL('../../../docs/guides/', import.meta.url);
/** The one that moves the clock comes last. */
const names = (await readdir(guides))
  .map((name) => name.replace(/\.md$/, ''))
  .toSorted((one, other) => Number(one.startsWith('monthly')) - Number(other.startsWith('monthly')));

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: true });
});
afterAll(() => world.close());

type Step = { readonly commands: string; readonly output: readonly string[] };

/** Each block of commands, with the block of output behind it. */
const stepsOf = (markdown: string): Step[] =>
  [...markdown.matchAll(/^```sh\n(.*?)^```$(?:\n\n```text\n(.*?)\n```)?/gms)].map(([, commands = '', output]) => ({
    commands,
    output: output?.split('\n') ?? [],
  }));

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const patternOf = (line: string): RegExp => new RegExp(`^${line.split('…').map(escaped).join('.*')}$`);
const mark = '--- next block ---';

/** Runs in a folder as that of an installation; what each block printed. */
async function run(steps: readonly Step[]): Promise<string[][]> {
  const { key } = await world.owner();
  const folder = await mkdtemp(join(tmpdir(), 'bursar-guide-'));
  try {
    await mkdir(join(folder, '.bursar'));
    const { apiUrl, sandboxUrl, dashboardSecret } = world;
    const ready = { apiUrl, sandboxUrl, dashboardSecret, apiKey: key };
    await writeFile(join(folder, '.bursar', 'ready.json'), JSON.stringify(ready));
    const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
    const program = steps.map(({ commands }) => commands).join(`\necho '${mark}'\n`);
    const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
      execFile('sh', ['-uc', program], { cwd: folder, env, timeout: 90_000 }, (_error, ...streams) =>
        resolve({ stdout: streams[0], stderr: streams[1] }),
      );
    });
    expect(stderr).toBe('');
    return stdout.split(`${mark}\n`).map((text) => text.split('\n').filter((line) => line !== ''));
  } finally {
    await rm(folder, { recursive: true });
  }
}

test.each(names)(
  'the commands of %s work as printed, and print what it shows',
  async (name) => {
    const steps = stepsOf(await readFile(new URL(`${name}.md`, guides), 'utf8'));
    expect(steps.length).toBeGreaterThan(3);
    const printed = await run(steps);
    const expected = steps.map(({ output }) => output);
    const fits = (line: string | undefined, at: number, block: number): boolean =>
      line !== undefined && patternOf(expected[block]?.[at] ?? '').test(line);
    const different = expected.flatMap((lines, block) =>
      lines.length === printed[block]?.length && lines.every((_, at) => fits(printed[block]?.[at], at, block))
        ? []
        : [{ commands: steps[block]?.commands, expected: lines, printed: printed[block] }],
    );
    expect(different).toEqual([]);
  },
  110_000,
);

const page = async (path: string): Promise<{ status: number; headers: Headers; text: string }> => {
  const answer = await fetch(`${world.apiUrl}${path}`);
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};
const linksOf = (text: string): string[] => [...text.matchAll(/<a href="([^"]+)"/g)].map(([, href = '']) => href);

describe('the pages', () => {
  test('the index names every guide, and every link leads to a page, and to an anchor in it', async () => {
    const index = await page('/docs/guides');
    const linked = linksOf(index.text);
    for (const name of names) expect(linked).toContain(`/docs/guides/${name}`);
    const pages = new Map<string, string>();
    for (const path of linked.filter((href) => href.startsWith('/docs/guides/'))) {
      const { status, text } = await page(path);
      expect([path, status]).toEqual([path, 200]);
      pages.set(path, text);
    }
    const broken = [...pages].flatMap(([from, text]) =>
      linksOf(text).flatMap((href) => {
        if (href.startsWith('https://') || href === '/docs/guides') return [];
        const [path = '', anchor] = href.split('#');
        const target = path === '' ? text : pages.get(path);
        const isThere = target !== undefined && (anchor === undefined || target.includes(` id="${anchor}"`));
        return isThere ? [] : [`${from}: ${href}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  test('nothing comes from elsewhere, and a policy forbids it', async () => {
    const { headers, text } = await page('/docs/guides/let-an-agent-buy');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*script-src 'none'.*form-action 'self'/);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(text).not.toMatch(/<script|<style|style=|src="(?!\/)/);
    const resources = [...text.matchAll(/<link [^>]*href="([^"]+)"/g)].map(([, href]) => href);
    for (const path of resources) expect((await page(path ?? '')).status).toBe(200);
  });

  test('the search finds sections by all words, titles first, and shows a question as text', async () => {
    const { text } = await page('/docs/guides?q=phone+PASSKEY');
    const [, results = ''] = text.split('<h2>Found</h2>');
    expect(linksOf(results)[0]).toBe('/docs/guides/approve-on-your-phone#enrol-a-passkey');
    expect(results).toMatch(/<mark>passkey<\/mark>/i);
    expect((await page('/docs/guides?q=zebra')).text).toContain('Nothing has all these words.');
    const hostile = await page(`/docs/guides?q=${encodeURIComponent('"><script>alert(1)</script>')}`);
    expect(hostile.text).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
    expect(hostile.text).not.toContain('<script>');
    for (const question of ['', '%20', '%28%5B.%2A', `${'x%20'.repeat(2_000)}`, 'a&q=b']) {
      expect((await page(`/docs/guides?q=${question}`)).status).toBe(200);
    }
  });

  test('raw HTML and foreign links of a page are shown as text', () => {
    const markdown =
      '# A `title`\n\n<script>x</script>\n\na <b>c</b> [bad](javascript:x) [far](http://x) ![i](https://x/i.png) [ok](#a-title)';
    const { title, body } = renderMarkdown(markdown, () => undefined);
    expect(title).toBe('A title');
    expect(body.text).toContain('<h1 id="a-title">A <code>title</code></h1>');
    expect(body.text).toContain('&lt;script&gt;');
    expect(body.text).toContain('&lt;b&gt;');
    expect(body.text).not.toMatch(/<script|<img|javascript:|http:/);
    expect(body.text).toContain('<a href="#a-title">ok</a>');
  });
});

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const readers = [
  { name: 'desktop, dark', viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  { name: 'phone, light', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
] as const;

for (const { name, ...reader } of readers) {
  browserTest(
    `${name}: axe finds nothing, nothing is cut off, and the search works`,
    async () => {
      const browser = await openBrowser();
      try {
        const { page: tab, complaints } = await openPage(browser, { ...reader, bypassCSP: true });
        const look = async (shown: string): Promise<void> => {
          if (process.env.SCREENSHOTS !== undefined) {
            await tab.screenshot({ path: join(process.env.SCREENSHOTS, `${shown}-${name.replace(', ', '-')}.png`) });
          }
          await tab.evaluate(await readFile(axeFile, 'utf8'));
          const found = (await tab.evaluate('axe.run().then(({ violations }) => violations)')) as {
            id: string;
            nodes: { html: string }[];
          }[];
          expect(found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
          expect(await tab.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
        };
        await tab.goto(`${world.apiUrl}/docs/guides`);
        await tab.getByLabel('Search the guides').fill('budget');
        await tab.getByRole('button', { name: 'Search' }).click();
        await tab.getByRole('heading', { name: 'Found' }).waitFor();
        await look('search');
        await tab.getByRole('link', { name: 'Give an agent a budget', exact: true }).first().click();
        await tab.getByRole('heading', { level: 1, name: 'Give an agent a budget' }).waitFor();
        await look('guide');
        await tab.goto(`${world.apiUrl}/docs/guides/run-in-production`);
        await look('tables');
        expect(complaints).toEqual([]);
      } finally {
        await browser.close();
      }
    },
    120_000,
  );
}
