/**
 * Goal: receivers verify deliveries with libraries that know nothing of Bursar. Method: the programs of docs/webhooks.md
 * and the unmodified packages `standardwebhooks` and `svix` read what the sender signs; what was changed is refused.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { bodyOf, deliveryHeaders, newWebhookSecret } from '../../src/domains/delivery/webhooks/webhook.signature.ts';
import { install } from './install.ts';

const folder = fileURLToPath(new URL('./webhook-receivers/', import.meta.url));
const [secret, previous] = [newWebhookSecret(), newWebhookSecret()];
const body = bodyOf({
  event: 'card.frozen',
  createdAt: new Date(),
  data: { id: 'ca_01kc1v9m3se7ttw5v1x0h2q8ab', label: 'Größe é €' },
  sequence: 7,
});
const headers = deliveryHeaders(
  { secret, previous },
  { attemptId: 'whd_01kaftm3w0.1', deliveryId: 'whd_01kaftm3w0', unixSeconds: Math.floor(Date.now() / 1_000), body },
  { event: 'card.frozen', sequence: 7, requestId: 'r' },
);
type Delivery = { readonly secret: string; readonly body: string; readonly headers: Record<string, string> };
const genuine: readonly Delivery[] = [secret, previous].map((known) => ({ secret: known, body, headers }));
const forged: readonly Delivery[] = [
  { secret, body: body.replace('"sequence":7', '"sequence":8'), headers },
  { secret: newWebhookSecret(), body, headers },
  { secret, body, headers: { ...headers, 'webhook-id': 'whd_other' } },
  { secret, body, headers: { ...headers, 'webhook-timestamp': '1795161600' } },
];

let work: string;
let docs: string;
beforeAll(async () => {
  await install(folder);
  docs = await readFile(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
  work = await mkdtemp(join(tmpdir(), 'webhook-receivers-'));
}, 120_000);
afterAll(() => rm(work, { recursive: true, force: true }));

const programOf = (language: string): string => {
  const [, program] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(docs) ?? [];
  if (program === undefined) throw new Error(`docs/webhooks.md has no program in ${language}`);
  return program;
};

const isInstalled = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

describe('the npm packages, unmodified', () => {
  test.each(['standardwebhooks', 'svix'])('%s takes what is genuine and nothing else', (name) => {
    const { Webhook } = createRequire(join(folder, 'package.json'))(name) as {
      Webhook: new (secret: string) => { verify(body: string, headers: object): unknown };
    };
    const verify = (one: Delivery): unknown => new Webhook(one.secret).verify(one.body, one.headers);
    // It throws for what is not genuine.
    for (const one of genuine) verify(one);
    for (const one of forged) expect(() => verify(one)).toThrow();
  });
});

describe('the programs of docs/webhooks.md', () => {
  test('Node.js', async () => {
    const file = join(folder, 'node_modules', 'receiver.mjs');
    await writeFile(file, programOf('js'));
    const { readDelivery } = (await import(pathToFileURL(file).href)) as {
      readDelivery(secret: string, body: string, headers: object): unknown;
    };
    for (const one of genuine) expect(readDelivery(one.secret, one.body, one.headers)).toEqual(JSON.parse(body));
    for (const one of forged) expect(() => readDelivery(one.secret, one.body, one.headers)).toThrow();
  });

  const outcomes = (command: string, args: readonly string[]): string[] =>
    [...genuine, ...forged].map((one) =>
      execFileSync(command, args, { cwd: work, input: JSON.stringify(one), encoding: 'utf8' }).trim(),
    );
  const expected = [...genuine.map(() => 'genuine'), ...forged.map(() => 'refused')];

  (isInstalled('go', 'version') ? test : test.skip)(
    'Go',
    async () => {
      await mkdir(join(work, 'receiver'));
      await writeFile(join(work, 'receiver', 'receiver.go'), programOf('go'));
      for (const file of ['main.go', 'go.mod', 'go.sum']) await copyFile(join(folder, 'go', file), join(work, file));
      execFileSync('go', ['build', '-o', 'verify', '.'], { cwd: work });
      expect(outcomes(join(work, 'verify'), [])).toEqual(expected);
    },
    120_000,
  );

  (isInstalled('python3', '-c', 'import standardwebhooks') ? test : test.skip)('Python', async () => {
    const main = [
      'import json, sys',
      'one = json.load(sys.stdin)',
      'try:',
      '    read_delivery(one["secret"], one["body"], one["headers"])',
      '    print("genuine")',
      'except Exception:',
      '    print("refused")',
    ];
    await writeFile(join(work, 'verify.py'), `${programOf('python')}\n${main.join('\n')}\n`);
    expect(outcomes('python3', ['verify.py'])).toEqual(expected);
  });

  (isInstalled('ruby', '-r', 'standardwebhooks', '-e', '') ? test : test.skip)('Ruby', async () => {
    const main = [
      'require "json"',
      'require "standardwebhooks"',
      'one = JSON.parse(STDIN.read)',
      'secret, raw_body, headers = one["secret"], one["body"], one["headers"]',
      'begin',
      programOf('ruby'),
      '  puts "genuine"',
      'rescue StandardWebhooks::WebhookVerificationError',
      '  puts "refused"',
      'end',
    ];
    await writeFile(join(work, 'verify.rb'), `${main.join('\n')}\n`);
    expect(outcomes('ruby', ['verify.rb'])).toEqual(expected);
  });

  // The library is where CLASSPATH says.
  (isInstalled('javap', 'com.standardwebhooks.Webhook') ? test : test.skip)(
    'Java',
    async () => {
      const main = [
        'public class Verify {',
        '  public static void main(String[] given) throws Exception {',
        '    String secret = given[0], rawBody = given[1];',
        '    var lines = new java.util.HashMap<String, java.util.List<String>>();',
        '    for (int i = 2; i < given.length; i += 2) lines.put(given[i], java.util.List.of(given[i + 1]));',
        '    var headers = java.net.http.HttpHeaders.of(lines, (name, value) -> true);',
        '    try {',
        programOf('java'),
        '      System.out.print("genuine");',
        '    } catch (com.standardwebhooks.exceptions.WebhookVerificationException refused) {',
        '      System.out.print("refused");',
        '    }',
        '  }',
        '}',
      ];
      await writeFile(join(work, 'Verify.java'), main.join('\n'));
      execFileSync('javac', ['Verify.java'], { cwd: work });
      const classpath = `${process.env.CLASSPATH}${delimiter}${work}`;
      const ran = [...genuine, ...forged].map((one) => {
        const given = [one.secret, one.body, ...Object.entries(one.headers).flat()];
        // The body has letters that are not ASCII.
        const env = { ...process.env, LC_ALL: 'C.UTF-8' };
        return execFileSync('java', ['-cp', classpath, 'Verify', ...given], { encoding: 'utf8', env });
      });
      expect(ran).toEqual(expected);
    },
    120_000,
  );
});
