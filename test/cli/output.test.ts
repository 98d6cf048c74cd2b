/** Goal: what is printed is legible and harmless, and what a shell is given means what it should. Method: the parts alone. @module */
import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createApi } from '../../src/cli/api.ts';
import { plain, table, treeLines, wrapped } from '../../src/cli/output.ts';
import type { Settings } from '../../src/cli/settings.ts';
import { type Trace, traceLines } from '../../src/cli/trace.ts';
import { bursar } from './command.ts';

const settings: Settings = {
  apiUrl: 'http://localhost:8400',
  ownerKey: 'sk_secret',
  agentToken: 'at_secret',
  kept: {},
  file: 'cli.json',
  ready: undefined,
};

test('a tree shows what belongs to what', () => {
  const leaf = (line: string) => ({ line, branches: [] });
  expect(treeLines({ line: 'a', branches: [{ line: 'b', branches: [leaf('c')] }, leaf('d')] })).toEqual([
    'a',
    '├─ b',
    '│  └─ c',
    '└─ d',
  ]);
});

test('every entry of a trace is printed once, whatever its parents are', () => {
  const ids = fc.constantFrom(null, 'a', 'b', 'c', 'd');
  const entry = fc.record({ id: ids, parentId: ids });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 8 }), (drawn) => {
      const entries = drawn.map((one, index) => ({
        ...one,
        at: '2026-11-21T12:00:00.000Z',
        part: 'event',
        title: `entry-${index}`,
        status: null,
        amountEuros: null,
        rules: [],
        lines: [],
        details: {},
        link: null,
      }));
      const story: Trace = { id: 'a', rootId: 'a', entries, leftOut: [] };
      const same = (text: string) => text;
      const lines = traceLines(story, { dim: same, bold: same, bad: same }).join('\n');
      for (const { title } of entries) expect(lines.split(title)).toHaveLength(2);
    }),
  );
});

test('data cannot steer the terminal', () => {
  expect(plain('Shop\u001b[2J\u202e\r\n name\u0007')).toBe('Shop[2J name');
});

test('columns are aligned, and text is wrapped between words', () => {
  expect(
    table([
      ['a', 'bb', 'c'],
      ['aaa', 'b', 'c'],
    ]),
  ).toEqual(['a    bb  c', 'aaa  b   c']);
  expect(wrapped('one two three', 9, '  ')).toEqual(['  one two', '  three']);
});

test('a shell reads the printed call as it would have been sent, and it has no secret', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 40 }), async (purpose) => {
      const printed: string[] = [];
      const api = createApi(settings, { print: (line) => void printed.push(line) });
      await api.call('POST', '/intents', { as: 'agent', body: { purpose } });
      const [line = ''] = printed;
      expect(line).not.toContain('secret');
      const { stdout } = spawnSync('sh', ['-c', line.replace('curl ', 'printf "%s\\n" ')], { encoding: 'utf8' });
      expect(stdout.split('\n').at(-2)).toBe(JSON.stringify({ purpose }));
    }),
    { numRuns: 20 },
  );
});

test.each(['bash', 'zsh', 'fish'])('the completion of %s names commands and options', async (shell) => {
  const { code, stdout } = await bursar(['completion', shell]);
  expect(code).toBe(0);
  for (const word of ['listen', 'unfreeze', '--forward', '--skip-failed', 'doctor']) expect(stdout).toContain(word);
});

test('bash completes by it', async () => {
  const { stdout } = await bursar(['completion', 'bash']);
  const asked = `${stdout}\nCOMP_WORDS=(bursar cards fr)\nCOMP_CWORD=2\n_bursar\necho "\${COMPREPLY[@]}"`;
  expect(spawnSync('bash', ['-c', asked], { encoding: 'utf8' }).stdout).toBe('freeze\n');
});

test('help ends with 0, wrong usage with 2, and colours stay away from files', async () => {
  const help = await bursar(['--help']);
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('Exit codes: 0 done') });
  expect(await bursar([])).toMatchObject({ code: 2 });
  expect(await bursar(['nonsense'])).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown command') });
  expect(help.stdout).not.toContain('\u001b[');
});

test('the commands of the database keep their words and codes, also as JSON', async () => {
  const onDatabase = async (args: readonly string[], say: (text: string) => unknown) => {
    say(`${args.join(' ')}\n`);
    return 1;
  };
  expect(await bursar(['ledger', 'prove', 'jr_1'], { onDatabase })).toMatchObject({
    code: 1,
    stdout: 'ledger prove jr_1\n',
  });
  expect((await bursar(['keys', 'revoke', '-begins-with-a-hyphen'], { onDatabase })).stdout).toBe(
    'keys revoke -begins-with-a-hyphen\n',
  );
  const asJson = await bursar(['--json', 'keys', 'rotate'], { onDatabase });
  expect(JSON.parse(asJson.stdout)).toEqual({ exitCode: 1, output: 'keys rotate\n' });
});
