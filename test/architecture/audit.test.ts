/** The offline part of `npm run audit`: licences on the list, and a bill of materials of the right shape. @module */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { advisoriesIn, refusedLicence, Sbom } from '../../src/dev/audit.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('every production dependency has an allowed licence, and the bill of materials names them all', async () => {
  const { stdout } = await promisify(execFile)('node', ['src/dev/audit.ts', '--offline'], { cwd: root });
  expect(stdout).toContain('licences: all on the list');
  expect(stdout).toContain('known vulnerabilities: not checked (--offline)');
  const sbom = Sbom.parse(JSON.parse(await readFile(`${root}/dist/bursar.cdx.json`, 'utf8')));
  const { dependencies } = JSON.parse(await readFile(`${root}/package.json`, 'utf8')) as { dependencies: object };
  const named = new Set(sbom.components.map(({ name }) => name));
  expect(Object.keys(dependencies).filter((name) => !named.has(name))).toEqual([]);
}, 120_000);

const licensed = (...ids: string[]) => ({ name: 'x', licenses: ids.map((id) => ({ license: { id } })) });

test.each([
  [licensed('MIT'), undefined],
  [licensed('GPL-3.0-only'), 'GPL-3.0-only'],
  [licensed('MIT', 'AGPL-3.0'), 'MIT, AGPL-3.0'],
  [{ name: 'x', licenses: [{ expression: '(MIT OR GPL-2.0) AND ISC' }] }, undefined],
  [{ name: 'x', licenses: [{ expression: '(MIT AND GPL-2.0) OR LGPL-3.0' }] }, '(MIT AND GPL-2.0) OR LGPL-3.0'],
  [{ name: 'x' }, 'none stated'],
  [licensed('MPL-2.0'), 'MPL-2.0'],
  [{ ...licensed('MPL-2.0'), name: 'web-push' }, undefined],
  [{ ...licensed('GPL-3.0-only'), name: 'web-push' }, 'GPL-3.0-only'],
  [{ ...licensed('MPL-2.0', 'GPL-3.0-only'), name: 'web-push' }, 'MPL-2.0, GPL-3.0-only'],
])('%j is refused as %j', (component, refused) => {
  expect(refusedLicence(component)).toBe(refused);
});

test('a registry that does not answer differs from one that has no advisories', () => {
  expect(advisoriesIn('{"message":"405 Method Not Allowed"}')).toEqual({ unknown: '405 Method Not Allowed' });
  expect(advisoriesIn('{"metadata":{"vulnerabilities":{"total":0}},"vulnerabilities":{}}')).toEqual({ found: [] });
  const found = '{"metadata":{"vulnerabilities":{"total":1}},"vulnerabilities":{"lodash":{"severity":"high"}}}';
  expect(advisoriesIn(found)).toEqual({ found: ['lodash: high'] });
});
