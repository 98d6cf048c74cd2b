/** Goal: the architecture stays visible. Method: the import graph against the direction rules, and words by grep. @module */

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { cruise } from 'dependency-cruiser';
import { directions } from './directions.ts';

type Violation = { rule: { name: string }; from: string; to: string };

const graph = () =>
  cruise(['src', 'workflows', 'activities'], {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    validate: true,
    ruleSet: { forbidden: directions as never },
  });
let cruised: ReturnType<typeof graph> | undefined;

/** The graph of all imports, types included; read once. */
async function imports() {
  cruised ??= graph();
  const { output } = await cruised;
  if (typeof output === 'string') throw new Error('expected the graph itself');
  expect(output.modules.length).toBeGreaterThan(100);
  return output;
}

test('imports go in the allowed directions only', async () => {
  const violations = ((await imports()).summary.violations as Violation[]).map(
    ({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`,
  );
  expect(violations).toEqual([]);
});

/** `src/db`, `workflows` …: a rule of dependency-cruiser over folders compares nested folders only by their full path. */
const topFolder = (file: string) => /^(src\/[^/]+|workflows|activities)\//.exec(file)?.[1];

test('folders do not import each other in a loop', async () => {
  const edges = new Map<string, Map<string, string>>();
  for (const { source, dependencies } of (await imports()).modules) {
    const from = topFolder(source);
    for (const { resolved } of dependencies) {
      const to = topFolder(resolved);
      if (from === undefined || to === undefined || from === to) continue;
      const known = edges.get(from) ?? new Map<string, string>();
      edges.set(from, known.set(to, known.get(to) ?? `${source} -> ${resolved}`));
    }
  }
  const reachable = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of edges.get(from)?.keys() ?? []) if (!seen.has(to)) reachable(to, seen.add(to));
    return seen;
  };
  const loops = [...edges].flatMap(([from, targets]) =>
    [...targets].filter(([to]) => reachable(to).has(from)).map(([, example]) => example),
  );
  expect(edges.size).toBeGreaterThan(15);
  expect(loops).toEqual([]);
});

const sources = async (): Promise<string[]> => {
  const { stdout } = await promisify(execFile)('git', [
    'ls-files',
    '-co',
    '--exclude-standard',
    'src',
    'workflows',
    'activities',
  ]);
  return stdout.split('\n').filter((file) => file.endsWith('.ts'));
};

/** Files in which `pattern` occurs outside comments. */
async function occurrences(files: string[], pattern: RegExp): Promise<string[]> {
  const texts = await Promise.all(
    files.map(async (file) => ({ file, text: await readFile(file, 'utf8').catch(() => '') })),
  );
  const code = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  return texts.filter(({ text }) => pattern.test(code(text))).map(({ file }) => file);
}

test('rules, messages and workflows read no clock, no chance and no environment', async () => {
  const files = (await sources()).filter((file) => /\.(rules|messages|workflow)\.ts$|^workflows\//.test(file));
  expect(files.length).toBeGreaterThan(5);
  expect(await occurrences(files, /Date\.now|new Date\(\)|Math\.random|\bprocess\./)).toEqual([]);
});

test('handlers of signals and updates are registered by the shared reader only', async () => {
  const files = (await sources()).filter((file) => file.startsWith('workflows/'));
  expect(await occurrences(files, /\bsetHandler\b|\bdefine(Signal|Update)\b/)).toEqual([
    'workflows/lib/messages.ts',
    'workflows/lib/wake.ts',
  ]);
});

test('all output goes through the log, and no type check is switched off', async () => {
  const files = await sources();
  expect(await occurrences(files, /\bconsole\./)).toEqual([]);
  expect(await occurrences(files, /\bas any\b|: any\b|@ts-ignore|@ts-expect-error/)).toEqual([]);
});

test('only the outbound module, the clients and the simulated world dial with fetch or node:http', async () => {
  const files = (await sources()).filter(
    (file) => !/^src\/(outbound|sandbox|client|cli|supervisor|demo|main|http)\//.test(file),
  );
  expect(await occurrences(files, /\bfetch\(|from 'node:https?'/)).toEqual([]);
});

test('business columns never take their time from the database', async () => {
  const { stdout } = await promisify(execFile)(
    'git',
    ['grep', '-nE', '(created|updated|closed|completed|approved|due)_at.{0,40}now\\(\\)', '--', 'src'],
    {
      encoding: 'utf8',
    },
  ).catch((error: { stdout: string }) => error);
  const lines = stdout.split('\n').filter((line) => line !== '' && !/idempotency|rescued_at = /.test(line)); // Both in real time.
  expect(lines).toEqual([]);
});

test('every source file has a header comment', async () => {
  const files = (await sources()).filter((file) => !file.endsWith('.sql'));
  const silent: string[] = [];
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch(() => '/** @module');
    if (!/^\/\*\*[\s\S]*?@module/.test(text)) silent.push(file);
  }
  expect(silent).toEqual([]);
});

test('a file of ours is found by its path also where that has a space in it', async () => {
  expect(await occurrences(await sources(), /import\.meta\.url\)\.pathname/)).toEqual([]);
});
