/**
 * What runs here in the place of each image: the same programs, built or installed on this machine. Each gets the
 * environment that the compose file gives it, and of ours the PATH alone.
 * @module
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SystemUser } from '../../src/supervisor/launch.ts';
import { preparePostgres } from '../../src/supervisor/postgres.ts';
import { projectFolder, type Service } from './compose-file.ts';
import type { Place } from './loopback.ts';

export type Program = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
  readonly user?: SystemUser | undefined;
};

type Site = {
  /** For databases and volumes; passable for the system user postgres. */
  readonly dir: string;
  /** temporal-server, temporal-sql-tool, temporal-ui-server and ui-config/docker.yaml. */
  readonly binaries: string;
  /** Bursar as its image holds it. */
  readonly app: string;
};

const needed = ['temporal-server', 'temporal-sql-tool', 'temporal-ui-server', 'ui-config/docker.yaml'];

/** What this machine lacks; undefined when it has all. */
export function missingPrograms(binaries: string | undefined): string | undefined {
  if (binaries === undefined) return 'BURSAR_TEMPORAL_BINARIES is not set';
  const absent = needed.filter((name) => !existsSync(join(binaries, name)));
  if (absent.length > 0) return `${binaries} lacks ${absent.join(', ')}`;
  if (spawnSync('psql', ['--version']).status !== 0) return 'psql is not on the PATH';
  return undefined;
}

export async function programOf(service: Service, place: Place, site: Site): Promise<Program> {
  const [image = ''] = service.image.split(':');
  const [first = '', ...rest] = (service.command ?? []).map(place.here);
  const env = { PATH: `${site.binaries}:${process.env.PATH ?? ''}`, HOME: site.dir, ...place.env() };
  const plain = { env, cwd: site.dir };
  switch (image) {
    case 'postgres':
      if (first !== 'postgres') return { ...plain, command: first, args: rest };
      return postgres(service, place, site, rest);
    case 'temporalio/admin-tools':
      return { ...plain, command: first, args: rest };
    case 'temporalio/server':
      return { ...plain, command: 'temporal-server', args: ['start'] };
    case 'temporalio/ui': {
      writeUiConfig(site, place.address);
      const args = ['--root', site.dir, '--config', 'ui-config', '--env', 'docker', 'start'];
      return { ...plain, command: 'temporal-ui-server', args };
    }
    case 'bursar':
      return { env: { ...env, ...imageEnv(service) }, cwd: site.app, command: programName(first), args: rest };
    default:
      throw new Error(`nothing stands in for the image ${service.image}`);
  }
}

/** `node` is the one that runs the tests, as in the image. */
export const programName = (name: string): string => (name === 'node' ? process.execPath : name);

/** The password of the administrator and the settings are the compose file's; the folder is made as `npm start` does. */
async function postgres(service: Service, place: Place, { dir }: Site, settings: string[]): Promise<Program> {
  const password = service.environment.POSTGRES_PASSWORD ?? '';
  const { launch } = await preparePostgres({ dir, port: 5432, password });
  const args = [...launch.args, '-c', `listen_addresses=${place.address}`, ...settings];
  return { command: launch.command, args, env: launch.env as Record<string, string>, cwd: '/', user: launch.user };
}

/** The image's own file has no bind address. */
function writeUiConfig({ dir, binaries }: Site, address: string): void {
  const folder = join(dir, 'ui-config');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'docker.yaml'),
    `${readFileSync(join(binaries, 'ui-config/docker.yaml'), 'utf8')}\nhost: ${address}\n`,
  );
}

/** The folder that the image's Dockerfile makes; with `installs` its packages too, else those of this checkout. */
export function makeApp(service: Service, folder: string, installs: boolean): void {
  mkdirSync(folder, { recursive: true });
  for (const line of dockerfile(service)) {
    const [, sources, target] = /^COPY (.+) (\S+)$/.exec(line) ?? [];
    for (const source of sources?.split(' ') ?? []) {
      cpSync(join(projectFolder, source), join(folder, target === './' ? source : (target ?? '')), { recursive: true });
    }
    const install = /^RUN (npm ci [^&]+)/.exec(line)?.[1];
    if (install !== undefined && installs) {
      const { status } = spawnSync('sh', ['-c', install], { cwd: folder, stdio: 'inherit' });
      if (status !== 0) throw new Error(`${install} ended with ${status}`);
    }
  }
  if (!installs) symlinkSync(join(projectFolder, 'node_modules'), join(folder, 'node_modules'));
}

export function imageEnv(service: Service): Record<string, string> {
  const lines = dockerfile(service).filter((line) => line.startsWith('ENV '));
  const pairs = lines.flatMap((line) => [...line.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)]);
  return Object.fromEntries(pairs.map(([, name, quoted, plain]) => [name, quoted ?? plain]));
}

const dockerfile = ({ build }: Service): string[] => build?.dockerfile_inline.split('\n') ?? [];
