/**
 * Goal: README.md and docs/security.md tell what there is. Method: the table of areas is compared with the published
 * ones, the tables of variables with those that programs read, and what the dashboard opens with what is said of it.
 * @module
 */
import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import type { Operation } from '../../src/http/route.ts';
import { configNames } from '../../src/main/config.ts';
import { publishedAreas } from '../../src/main/modules/index.ts';
import { SandboxEnvironment } from '../../src/sandbox/environment.ts';

const root = new URL('../../', import.meta.url);
const readme = await readFile(new URL('README.md', root), 'utf8');

/** The first cells of all tables below a heading, without their heads. */
function firstCells(heading: string): string[] {
  const [, section = ''] = readme.split(`\n## ${heading}\n`);
  const lines = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  const isHead = (line: string, index: number): boolean =>
    (lines[index + 1] ?? '').startsWith('|--') || /^\|-/.test(line);
  return lines.filter((line, index) => !isHead(line, index)).map((line) => line.split('|')[1]?.trim() ?? '');
}

/** Set by the system, and no setting of ours. */
const ofTheSystem = ['PATH', 'HOME', 'XDG_CACHE_HOME'];

async function namesRead(): Promise<Set<string>> {
  const files = (await readdir(new URL('src', root), { recursive: true })).filter((file) => /\.m?[jt]s$/.test(file));
  const texts = await Promise.all(files.map((file) => readFile(new URL(`src/${file}`, root), 'utf8')));
  const named = texts.flatMap((text) => [...text.matchAll(/\benv\.([A-Z][A-Z_]+)\b/g)].map(([, name = '']) => name));
  const ours = named.filter((name) => !ofTheSystem.includes(name));
  return new Set([...ours, ...configNames, ...Object.keys(SandboxEnvironment.shape)]);
}

test('"What works so far" names exactly the areas that are served, in their order', () => {
  const cells = firstCells('What works so far');
  // Areas that share a tag have their noun behind it.
  expect(cells.map((cell) => cell.split(': ')[0])).toEqual(publishedAreas.map(({ tag }) => tag));
  expect(new Set(cells).size).toBe(cells.length);
});

test('"Configuration" names exactly the variables that are read, each once', async () => {
  const told = firstCells('Configuration').flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(told.toSorted()).toEqual([...(await namesRead())].sort());
});

test('README.md explains the settings for which .env.example refers to it', async () => {
  const example = await readFile(new URL('.env.example', root), 'utf8');
  const [, optional = ''] = example.split('the meanings stand in README.md');
  const names = [...optional.matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !firstCells('Configuration').some((cell) => cell.includes(`\`${name}\``)))).toEqual([]);
});

test('the dashboard’s secret permits exactly the operations in docs/security.md, and decides no intent', () => {
  const opened = publishedAreas.flatMap(({ tag, operations }) =>
    Object.entries(operations as Record<string, Operation>).flatMap(([name, { auth }]) =>
      auth.includes('dashboard') ? [`${tag} ${name}`] : [],
    ),
  );
  const ofArea = (tag: string): string[] =>
    opened.filter((one) => one.startsWith(`${tag} `)).map((one) => one.slice(tag.length + 1));
  expect([...new Set(opened.map((one) => one.split(' ')[0]))]).toEqual([
    'Customers',
    'Limits',
    'Keys',
    'Passkeys',
    'Policies',
    'MPP',
    'Merchant',
    'Beneficiaries',
    'Bank',
    'Sandbox',
  ]);
  expect(ofArea('Passkeys')).toHaveLength(6);
  expect([ofArea('Customers'), ofArea('Policies')]).toEqual([['updateCustomer'], ['updateAgentPolicy']]);
  expect(ofArea('MPP')).toEqual(['resolveMppPayment']);
  expect(ofArea('Merchant Registry')).toEqual(['createMerchant']);
  expect(ofArea('Beneficiaries')).toEqual(['dismissBeneficiaryMatch']);
  expect(ofArea('Bank files')).toEqual(['listBankEntries', 'assignBankEntry']);
});
