/**
 * `npm run schemathesis`: every published operation of a whole installation, called by Schemathesis with what its
 * document allows and forbids, by throwaway owners; what ends something comes last. Fails on a 5xx, a status that
 * the document does not name, an answer that breaks its schema. Says "skipped" where there is no Python.
 * @module
 */
import { spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keysArea } from '../../../src/domains/identity/keys/key.contract.ts';
import { type Installation, startInstallation } from '../../support/installation.ts';
import type { Owner } from '../../support/world.ts';
import { configurationOf, type Document, type KnownValues } from './configuration.ts';
import { type Program, schemathesis } from './program.ts';
import { answersIn } from './report.ts';
import { destructible, records } from './throwaway.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const examples = process.env.SCHEMATHESIS_EXAMPLES ?? '20';

/** What would take away what the other calls need. */
const ends = '(^DELETE .*)|(.*/(close|revoke|rotate|freeze|unfreeze)$)|(^PATCH /agents/\\{id\\}$)';
const movesTheClock = '.*/clock/advance$';

/** Their success is signed by a passkey; the browser's tests have it. */
const needsAnAuthenticator = ['finishPasskeyRegistration', 'attestIntent', 'approveByLink'];

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'missing_required_header',
  'unsupported_method',
  'allow_header_conformance',
  'ignored_auth',
  'use_after_free',
  'negative_data_rejection',
];

type Pass = {
  readonly name: string;
  readonly ownerKey: string;
  readonly known: KnownValues;
  readonly only: readonly string[];
  readonly phases: string;
};

const over = new AbortController();
const program = schemathesis(say);
if (program === undefined) {
  say('schemathesis: skipped: no Python 3.10 or newer here');
} else {
  const installation = await startInstallation({ BURSAR_TRUSTED_PROXIES: '127.0.0.1,::1' }); // See hooks.py.
  const dir = await mkdtemp(join(tmpdir(), 'bursar-schemathesis-'));
  try {
    say(`schemathesis ${program.version} against ${installation.apiUrl}`);
    process.exitCode = (await Promise.race([allPasses(installation, program, dir), interrupted()])) ? 0 : 1;
  } finally {
    over.abort();
    await installation.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

/** A signal that ends this process also ends the installation. */
function interrupted(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => reject(new Error(`ended by ${signal}`)));
  });
}

async function allPasses(installation: Installation, using: Program, dir: string): Promise<boolean> {
  const answer = await fetch(`${installation.apiUrl}/openapi.json`);
  const document = (await answer.json()) as Document;
  const [first, second, third] = [await installation.owner(), await installation.owner(), await installation.owner()];
  const known = await records(installation, first);
  const failed: string[] = [];
  const passes: Pass[] = [
    {
      name: 'a customer, which an owner has once',
      ownerKey: (await installation.owner()).key,
      known: {},
      only: ['--include-name=POST /customers'],
      phases: 'examples,coverage,fuzzing',
    },
    {
      name: 'everything that ends nothing',
      ownerKey: first.key,
      known,
      only: [`--exclude-name-regex=${ends}|${movesTheClock}`],
      phases: 'examples,coverage,fuzzing',
    },
    {
      name: 'what is made, used and ended in turn',
      ownerKey: third.key,
      known: await records(installation, third),
      only: [`--exclude-name-regex=${movesTheClock}`],
      phases: 'stateful',
    },
    {
      name: 'what ends something',
      ownerKey: second.key,
      known: await destructible(installation, second),
      only: [`--include-name-regex=${ends}`],
      phases: 'examples,coverage,fuzzing',
    },
    {
      name: 'the clock',
      ownerKey: second.key,
      known: {},
      only: [`--include-name-regex=${movesTheClock}`],
      phases: 'examples,coverage,fuzzing',
    },
  ];
  const chosen = passes.filter(({ name }) => name.includes(process.argv[2] ?? ''));
  for (const [index, pass] of chosen.entries()) {
    say(`\n== pass ${index + 1} of ${chosen.length}: ${pass.name}`);
    if (!(await runs(pass, `${index}.har`, { installation, using, document, dir }))) failed.push(pass.name);
  }
  if (!(await endsItself(installation, second))) failed.push('the very credential');
  const seen = await answersIn(dir, document);
  say(`${seen.calls} calls; answered: ${seen.statuses.join(', ')}`);
  const neverDone = seen.neverDone.filter((name) => !needsAnAuthenticator.includes(name));
  if (chosen.length === passes.length && neverDone.length > 0) {
    failed.push(`never answered with success: ${neverDone.join(', ')}`);
  }
  say(failed.length === 0 ? '\nschemathesis: every pass held' : `\nschemathesis: failed: ${failed.join('; ')}`);
  return failed.length === 0;
}

type Place = {
  readonly installation: Installation;
  readonly using: Program;
  readonly document: Document;
  readonly dir: string;
};

async function runs(pass: Pass, report: string, { installation, using, document, dir }: Place): Promise<boolean> {
  const configuration = join(dir, 'schemathesis.toml');
  await writeFile(configuration, configurationOf(document, pass.known));
  await copyFile(new URL('hooks.py', import.meta.url), join(dir, 'hooks.py')); // It is looked for where the call is made.
  const { networkKey = '', dashboardSecret } = installation.ready;
  const child = spawn(
    using.command,
    [
      ...using.args,
      `--config-file=${configuration}`,
      'run',
      `${installation.apiUrl}/openapi.json`,
      `--url=${installation.apiUrl}`,
      `--phases=${pass.phases}`,
      `--checks=${checks.join(',')}`,
      `--max-examples=${examples}`,
      '--workers=1',
      '--continue-on-failure',
      '--generation-deterministic',
      '--suppress-health-check=all',
      '--warnings=off',
      '--no-color',
      '--request-timeout=30',
      `--report-har-path=${join(dir, report)}`,
      ...pass.only,
    ],
    {
      cwd: dir,
      signal: over.signal,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        ...using.env,
        SCHEMATHESIS_HOOKS: 'hooks',
        OWNER_KEY: pass.ownerKey,
        DASHBOARD_SECRET: dashboardSecret,
        NETWORK_KEY: networkKey,
        SANDBOX_URL: installation.sandboxUrl,
      },
    },
  );
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  return code === 0;
}

/** The last call of all: a key that is not the owner's last one revokes itself. */
async function endsItself({ apiUrl, as }: Installation, owner: Owner): Promise<boolean> {
  const { id, key } = await owner.client(keysArea).createKey({ body: {} });
  const headers = { Authorization: `Bearer ${key}` };
  const ended = await fetch(`${apiUrl}/keys/${id}`, { method: 'DELETE', headers });
  const after = await as(key).send({ method: 'GET', path: '/keys', headers: {} });
  say(`\na key that ends itself: ${ended.status}, its next call: ${after.status}`);
  return ended.status === 200 && after.status === 401;
}
