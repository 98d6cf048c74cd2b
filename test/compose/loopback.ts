/**
 * The address of each service of the compose file when there are no containers: a separate loopback address, with the
 * ports of the file. Container paths become paths of this machine.
 * @module
 */
import { join } from 'node:path';
import { type Compose, type Env, projectFolder, type Service } from './compose-file.ts';

export type Place = {
  readonly address: string;
  /** An environment's or a command's text as it has to read on this machine. */
  here(text: string): string;
  /** The service's environment, and nothing else of it. */
  env(): Env;
};

/** `run` keeps two runs apart. */
export function placesOf(compose: Compose, run: number, dataFolder: string): Map<string, Place> {
  const names = Object.keys(compose.services);
  const addresses = new Map(names.map((name, n) => [name, `127.${1 + (run % 250)}.1.${n + 1}`]));
  return new Map(
    Object.entries(compose.services).map(([name, service]) => {
      const address = addresses.get(name) ?? '';
      const paths = mounts(service, dataFolder);
      const here = (text: string): string => withPaths(withAddresses(text, address, addresses), paths);
      return [name, { address, here, env: () => environmentOf(service, here, addresses) }];
    }),
  );
}

/** The names of services that programs look up are host names; this machine knows addresses only. */
function environmentOf({ environment }: Service, here: (text: string) => string, addresses: Map<string, string>): Env {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => {
      const host = /(HOST|SEEDS)$/.test(name) ? addresses.get(value) : undefined;
      return [name, host ?? here(value)];
    }),
  );
}

function withAddresses(text: string, own: string, addresses: Map<string, string>): string {
  const ofOthers = text.replaceAll(/\b([a-z][a-z-]*)(?=:\d)/g, (host) => addresses.get(host) ?? host);
  return ofOthers.replaceAll(/\b(0\.0\.0\.0|127\.0\.0\.1)\b/g, own);
}

function mounts({ volumes }: Service, dataFolder: string): [inside: string, outside: string][] {
  return volumes.map((mount) => {
    const [source = '', inside = ''] = mount.split(':');
    return [inside, source.startsWith('.') ? join(projectFolder, source) : join(dataFolder, source)];
  });
}

function withPaths(text: string, paths: [inside: string, outside: string][]): string {
  for (const [inside, outside] of paths) {
    if (text === inside || text.startsWith(`${inside}/`)) return outside + text.slice(inside.length);
  }
  return text;
}
