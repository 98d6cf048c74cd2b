/** Licence, contribution guide and changelog are there and say what holds: versions, scripts and links. @module */
import { access, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';

const root = new URL('../../', import.meta.url);
const textOf = (name: string): Promise<string> => readFile(new URL(name, root), 'utf8');
const manifest = JSON.parse(await textOf('package.json')) as {
  version: string;
  license: string;
  scripts: Record<string, string>;
};

test('the licence is the whole Apache License 2.0, and the manifest and README name it', async () => {
  const licence = await textOf('LICENSE');
  expect(licence).toContain('Version 2.0, January 2004');
  expect(licence).toContain('9. Accepting Warranty or Additional Liability.');
  expect(licence).toMatch(/^ {3}Copyright 2026 Bursar contributors$/m);
  expect(licence).not.toMatch(/\[yyyy\]/);
  expect(manifest.license).toBe('Apache-2.0');
  const readme = await textOf('README.md');
  for (const name of ['LICENSE', 'CONTRIBUTING.md', 'CHANGELOG.md']) expect(readme).toContain(`](${name})`);
});

test('the changelog has the version of the manifest, and a section of unreleased changes', async () => {
  const headings = [...(await textOf('CHANGELOG.md')).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(expect.arrayContaining(['Unreleased', manifest.version]));
});

test.each(['CONTRIBUTING.md', 'CHANGELOG.md'])('%s names only scripts and files that exist', async (name) => {
  const text = await textOf(name);
  const scripts = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, script = '']) => script);
  expect(scripts.filter((script) => !(script in manifest.scripts))).toEqual([]);
  const links = [...text.matchAll(/\]\((?!https:)([^)#]+)\)/g)].map(([, path = '']) => path);
  for (const path of links) await access(new URL(path, root));
  expect(text).not.toMatch(/[\w.+-]+@[\w-]+\.\w+/); // No address is invented for reports.
});
