/**
 * Goal: docker-compose.yml says what the processes really read, publishes nothing but loopback, and holds no secret.
 * Method: its YAML is parsed with a made `.env` and compared with the code, the files and the development server.
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { configNames, readConfig } from '../../src/main/config.ts';
import { SandboxEnvironment } from '../../src/sandbox/environment.ts';
import { apiNodeOptions, nodeOptions } from '../../src/supervisor/node-options.ts';
import { temporalLaunch } from '../../src/supervisor/temporal-server.ts';
import { runLists } from '../../src/temporal/run-lists.ts';
import { temporalSecurityNames } from '../../src/temporal/security.ts';
import { readVaultKeys } from '../../src/vault/vault-keys.ts';
import {
  composeText,
  envFrom,
  exampleText,
  madeEnv,
  projectFolder,
  readCompose,
  type Service,
  variablesOf,
} from './compose-file.ts';
import { imageEnv } from './stand-ins.ts';

const example = envFrom(exampleText());
const env = madeEnv();
/** What the command makes. */
const secrets = Object.keys(example).filter((name) => example[name] === '' && env[name] !== '');
const { services, volumes } = readCompose(env);
const all = Object.entries(services);
const ours = all.filter(([, { build }]) => build !== undefined);
const serviceOf = (name: string): Service => services[name] as Service;
/** The keys and secrets that a service's process is given. */
const secretsOf = (name: string): string[] =>
  Object.keys(serviceOf(name).environment ?? {})
    .filter((variable) => /^BURSAR_.*(KEY|SECRET|PASSWORD)$|DATABASE_URL$/.test(variable))
    .sort((a, b) => a.localeCompare(b));
const entryOf = ({ command = [] }: Service): string => command.at(-1) ?? '';

/** What each of our programs reads, by its entry. */
const read: Readonly<Record<string, readonly string[]>> = {
  'src/main/api.ts': configNames,
  'src/main/worker.ts': configNames,
  'src/main/sandbox.ts': Object.keys(SandboxEnvironment.shape),
  'src/main/migrate.ts': ['DATABASE_URL', 'BURSAR_MIGRATION_DATABASE_URL'],
  'src/main/temporal-setup.ts': ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', ...temporalSecurityNames],
};

describe('the environment', () => {
  test.each(ours)('%s is given names that its program reads, and no other', (_, service) => {
    const names = read[entryOf(service)];
    expect(names).toBeDefined();
    const known = [...(names ?? []), 'NODE_OPTIONS']; // Node reads its own.
    expect(Object.keys(service.environment).filter((name) => !known.includes(name))).toEqual([]);
  });

  test('the one-shot programs read the variables of this table', () => {
    for (const entry of ['src/main/migrate.ts', 'src/main/temporal-setup.ts']) {
      const text = readFileSync(join(projectFolder, entry), 'utf8');
      const named = [...text.matchAll(/\b(DATABASE_URL|BURSAR_MIGRATION_DATABASE_URL|TEMPORAL_[A-Z]+)\b/g)].map(
        ([name]) => name,
      );
      expect([...new Set(named)].filter((name) => !read[entry]?.includes(name))).toEqual([]);
      expect(Object.keys(services).some((name) => entryOf(serviceOf(name)) === entry)).toBe(true);
    }
  });

  test('API, worker and sandbox start with it: every required value is there and well formed', () => {
    const [api, worker] = [
      readConfig(serviceOf('api').environment),
      readConfig(serviceOf('worker').environment, ['BURSAR_SIGNING_KEY']),
    ];
    expect(readVaultKeys(api.BURSAR_VAULT_KEY)).toBeDefined();
    for (const name of ['DATABASE_URL', 'BURSAR_VAULT_KEY', 'TEMPORAL_ADDRESS'] as const)
      expect(worker[name]).toBe(api[name]);
    expect(serviceOf('api').environment).not.toHaveProperty('BURSAR_SIGNING_KEY');
    for (const name of ['BURSAR_DASHBOARD_SECRET', 'BURSAR_CLOCK_KEY', 'BURSAR_NETWORK_KEY', 'BURSAR_API_KEY'])
      expect(serviceOf('worker').environment).not.toHaveProperty(name);
    expect(secretsOf('sandbox')).toEqual(['BURSAR_CLOCK_KEY', 'BURSAR_NETWORK_KEY']);
    expect(api).toMatchObject({ HOST: '0.0.0.0', PORT: 8400, BURSAR_MODE: 'sandbox', signalsMayApprove: true });
    const sandbox = SandboxEnvironment.parse(serviceOf('sandbox').environment);
    expect(sandbox.BURSAR_NETWORK_KEY).toBe(api.BURSAR_NETWORK_KEY);
    expect(sandbox.BURSAR_CLOCK_KEY).toBe(api.BURSAR_CLOCK_KEY);
    expect(sandbox.BURSAR_API_URL).toBe(`http://api:${api.PORT}`);
    expect(api.BURSAR_SANDBOX_URL).toBe(`http://sandbox:${sandbox.SANDBOX_PORT}`);
    expect(api.BURSAR_ALLOWED_ORIGINS).toEqual([api.BURSAR_SANDBOX_URL]);
  });

  test('live needs the four values that the example names, and gets no simulator', () => {
    const four = { COMPOSE_PROFILES: '', BURSAR_SANDBOX_URL: '', BURSAR_ALLOWED_ORIGINS: '' };
    const live = readCompose({ ...env, ...four, BURSAR_MODE: 'live' }).services;
    const config = readConfig((live.api as Service).environment);
    expect(config).toMatchObject({ BURSAR_MODE: 'live', BURSAR_ALLOWED_ORIGINS: [], signalsMayApprove: false });
    expect(config.BURSAR_SANDBOX_URL).toBeUndefined();
    expect(serviceOf('sandbox').profiles).toEqual(['sandbox']);
    expect(all.filter(([, { profiles }]) => profiles !== undefined)).toHaveLength(1);
  });

  test('databases, roles and passwords agree', () => {
    const url = new URL(serviceOf('api').environment.DATABASE_URL ?? '');
    expect(serviceOf('migrate').environment.DATABASE_URL).toBe(url.href);
    expect(url.password).toBe(serviceOf('databases').environment.BURSAR_APP_DB_PASSWORD);
    const owner = new URL(serviceOf('migrate').environment.BURSAR_MIGRATION_DATABASE_URL ?? '');
    expect(owner.password).toBe(serviceOf('databases').environment.BURSAR_DB_PASSWORD);
    expect([owner.host, owner.pathname]).toEqual([url.host, url.pathname]);
    const told = all.filter(([, { environment }]) => JSON.stringify(environment).includes(owner.password));
    expect(told.map(([name]) => name)).toEqual(['databases', 'migrate']);
    const { TEMPORAL_DB_PASSWORD: password, PGPASSWORD: administrator } = serviceOf('databases').environment;
    expect(serviceOf('temporal-schema').environment.SQL_PASSWORD).toBe(password);
    expect(serviceOf('temporal').environment.POSTGRES_PWD).toBe(password);
    expect(serviceOf('postgres').environment.POSTGRES_PASSWORD).toBe(administrator);
    const script = readFileSync(join(projectFolder, 'temporal-config/databases.sh'), 'utf8');
    expect(script).toContain(`create database ${url.pathname.slice(1)} owner ${owner.username}`);
    for (const { username } of [url, owner]) expect(script).toContain(`'${username}'`);
  });
});

describe('secrets', () => {
  const variables = variablesOf();

  test('the example names every variable of the file, and the file uses every one of the example', () => {
    const used = new Set(variables.map(({ name }) => name));
    expect(new Set(Object.keys(example))).toEqual(new Set([...used, 'COMPOSE_PROFILES']));
  });

  test('each is empty in the example, made at random, and demanded by the file', () => {
    const other = madeEnv();
    for (const name of secrets) {
      expect([name, (env[name]?.length ?? 0) >= 44]).toEqual([name, true]);
      expect([name, env[name] === other[name]]).toEqual([name, false]);
    }
    const demanded = variables.filter(({ isRequired }) => isRequired).map(({ name }) => name);
    expect(new Set([...demanded, 'BURSAR_API_KEY'])).toEqual(new Set(secrets));
  });

  test('without one of them nothing starts, and a form of $ that the check does not know is refused', () => {
    const { BURSAR_VAULT_KEY: _lost, ...rest } = env;
    expect(() => readCompose(rest)).toThrow('required variable BURSAR_VAULT_KEY is missing a value');
    expect(() => readCompose(env, 'name: $HOME\nservices: {}')).toThrow('a form of $');
  });

  test('no password, secret or key has a default value', () => {
    const suspicious = /^\s*\w*(PASSWORD|PWD|SECRET|KEY):(.*)$/gm;
    const values = [...composeText().matchAll(suspicious)].map(([, , value = '']) => value.trim());
    expect(values.length).toBeGreaterThan(12);
    expect(values.filter((value) => !/^\$\{[A-Z_]+:(\?[^}]+|-)\}$/.test(value))).toEqual([]);
  });

  test('a generated file is readable by its owner alone, and is never replaced', () => {
    const script = readFileSync(join(projectFolder, 'src/supervisor/env-file.mjs'), 'utf8');
    expect(script).toContain("{ mode: 0o600, flag: 'wx' }");
    expect(readFileSync(join(projectFolder, '.gitignore'), 'utf8').split('\n')).toContain('.env');
  });
});

describe('the services', () => {
  test('images are pinned, ours to this version, on the Node that everything is tested with', () => {
    for (const [name, { image }] of all)
      expect([name, image]).toEqual([name, expect.stringMatching(/:\d+\.\d+(\.\d+)?(-[a-z]+)?$/)]);
    const packages = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as {
      version: string;
      dependencies: { node: string };
    };
    expect(new Set(ours.map(([, { image }]) => image))).toEqual(new Set([`bursar:${packages.version}`]));
    expect(lineOf('FROM')).toEqual([`node:${packages.dependencies.node}-bookworm-slim`]);
  });

  test('every copied, mounted and executed file exists', () => {
    const copied = lineOf('COPY').flatMap((rest) => rest.split(' ').slice(0, -1));
    for (const path of copied) expect([path, existsSync(join(projectFolder, path))]).toEqual([path, true]);
    for (const [name, service] of ours) {
      expect([name, copied.some((path) => entryOf(service).startsWith(`${path}/`))]).toEqual([name, true]);
      expect([name, existsSync(join(projectFolder, entryOf(service)))]).toEqual([name, true]);
    }
    for (const [name, service] of all) {
      for (const mount of service.volumes) {
        const [source = '', inside = '', how] = mount.split(':');
        if (!source.startsWith('.')) expect(Object.keys(volumes)).toContain(source);
        else expect([name, statSync(join(projectFolder, source)).isDirectory(), how]).toEqual([name, true, 'ro']);
        for (const path of [...(service.command ?? []), ...Object.values(service.environment)]) {
          if (source.startsWith('.') && path.startsWith(`${inside}/`))
            expect(existsSync(join(projectFolder, source, path.slice(inside.length)))).toBe(true);
        }
      }
    }
  });

  test.each(['databases.sh', 'schema.sh'])('%s is a script that sh reads', (name) => {
    expect(spawnSync('sh', ['-n', join(projectFolder, 'temporal-config', name)]).status).toBe(0);
  });

  test('only loopback is published, and never the HTTP port of Temporal or the database', () => {
    const published = all.flatMap(([name, { ports }]) => ports.map((port) => `${name} ${port}`));
    expect(published).toEqual([
      'temporal 127.0.0.1:7233:7233',
      'temporal-ui 127.0.0.1:8233:8080',
      'api 127.0.0.1:8400:8400',
      'sandbox 127.0.0.1:8401:8401',
    ]);
  });

  test('each service waits for its dependencies with the right condition, without a cycle', () => {
    for (const [name, { depends_on: needs }] of all) {
      for (const [needed, { condition }] of Object.entries(needs)) {
        const { restart, healthcheck } = serviceOf(needed);
        const isOneShot = restart.startsWith('on-failure');
        const fitting = isOneShot ? 'service_completed_successfully' : 'service_healthy';
        expect([name, needed, condition]).toEqual([name, needed, fitting]);
        expect(isOneShot || healthcheck !== undefined).toBe(true);
      }
      expect([name, [...needsOf(name)]]).toEqual([name, expect.not.arrayContaining([name])]);
    }
    const everything = ['postgres', 'databases', 'temporal-schema', 'temporal', 'temporal-setup', 'migrate'];
    for (const name of ['api', 'worker']) expect(needsOf(name)).toEqual(new Set(everything));
  });

  test('services restart, and one-shot programs are tried again', () => {
    const once = ['databases', 'temporal-schema', 'temporal-setup', 'migrate'];
    for (const [name, { restart }] of all)
      expect([name, restart]).toEqual([name, once.includes(name) ? 'on-failure:5' : 'unless-stopped']);
  });

  test('ours run with no right that they do not use', () => {
    for (const [, { cap_drop, security_opt }] of ours)
      expect({ cap_drop, security_opt }).toEqual({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(lineOf('USER')).toEqual(['node']);
  });
});

describe('the Web UI', () => {
  const readme = readFileSync(join(projectFolder, 'temporal-config/README.md'), 'utf8');

  test('cannot cancel, terminate or start runs; it can send signals, and the guide of operators names each variable', () => {
    const { environment } = serviceOf('temporal-ui');
    const off = Object.keys(environment).filter((name) => name.endsWith('_DISABLED'));
    expect(off.sort()).toEqual([
      'TEMPORAL_BATCH_ACTIONS_DISABLED',
      'TEMPORAL_START_WORKFLOW_DISABLED',
      'TEMPORAL_WORKFLOW_CANCEL_DISABLED',
      'TEMPORAL_WORKFLOW_TERMINATE_DISABLED',
    ]);
    for (const name of off) {
      expect([name, environment[name]]).toEqual([name, 'true']);
      expect(readme).toContain(name);
    }
  });

  test('the guide of operators has the lists that a start prints', () => {
    const lines = readme.split('\n');
    for (const { name, query } of runLists) {
      const line = lines.find((one) => one.startsWith(`| ${name} |`));
      expect(line).toMatch(/\|$/);
      expect(line).toContain(`| \`${query}\` |`);
    }
  });
});

test('the programs start with the options of Node that `npm start` gives them', () => {
  const optionsOf = (service: Service): string[] => [
    ...({ ...imageEnv(service), ...service.environment }.NODE_OPTIONS ?? '').split(' '),
    ...(service.command ?? []).slice(1, -1),
  ];
  expect(optionsOf(serviceOf('api'))).toEqual(apiNodeOptions);
  for (const name of ['worker', 'sandbox', 'migrate']) expect(optionsOf(serviceOf(name))).toEqual(nodeOptions);
});

test('Temporal runs with the five settings of the development server', () => {
  const path = serviceOf('temporal').environment.DYNAMIC_CONFIG_FILE_PATH ?? '';
  const file = readFileSync(join(projectFolder, path), 'utf8');
  const settings = Object.entries(parse(file) as Record<string, [{ value: unknown }]>);
  const there = new Map(settings.map(([name, [{ value }]]) => [name, String(value)]));
  const { args } = temporalLaunch({ binary: 'temporal', port: 1 });
  const here = args.flatMap((arg, i) => (args[i - 1] === '--dynamic-config-value' ? [arg.split('=')] : []));
  expect(here).toHaveLength(5);
  expect(there).toEqual(new Map(here as [string, string][]));
});

const lineOf = (word: string): string[] =>
  (serviceOf('api').build?.dockerfile_inline ?? '')
    .split('\n')
    .filter((line) => line.startsWith(`${word} `))
    .map((line) => line.slice(word.length + 1));

function needsOf(name: string, seen = new Set<string>()): Set<string> {
  for (const needed of Object.keys(serviceOf(name).depends_on)) {
    if (seen.has(needed)) continue;
    seen.add(needed);
    needsOf(needed, seen);
  }
  return seen;
}
