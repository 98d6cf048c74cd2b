/**
 * Chooses the ports. Those that `PORT=0` chose are stored and used again while they are free, so that stored addresses
 * survive a restart. A replacement for a port in use is not stored: the next start tries the wanted one again. A port
 * that the operator named is never replaced.
 * @module
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import getPort, { clearLockedPorts } from 'get-port';
import { writeAtomically } from './atomic-file.ts';

export type Ports = { api: number; sandbox: number; postgres: number; temporal: number; temporalUi: number };

export type ChosenPorts = { ports: Ports; moved: string[] };

export const defaultPorts: Ports = { api: 8400, sandbox: 8401, postgres: 54329, temporal: 7233, temporalUi: 8233 };

type Wanted = {
  dir: string;
  /** `PORT` as given: absent = the defaults, 0 = any, another = exactly this one for the API. */
  port?: number | undefined;
  /** `HOST`: where API and sandbox listen. */
  host?: string;
  /** In place of the default ports; for tests. */
  defaults?: Ports;
  /** What this start does not run itself. */
  without?: readonly (keyof Ports)[];
};

export async function choosePorts({
  dir,
  port,
  host = '127.0.0.1',
  defaults = defaultPorts,
  without = [],
}: Wanted): Promise<ChosenPorts> {
  const file = join(dir, 'ports.json');
  const stored = await storedPorts(file);
  const ports = { ...defaults };
  const chosen = { ...stored };
  const moved: string[] = [];
  const names = (Object.keys(defaultPorts) as (keyof Ports)[]).filter((name) => !without.includes(name));
  const taken = new Set<number>();
  for (const name of names) {
    const hostName = name === 'api' ? host : '127.0.0.1';
    if (name === 'api' && port) {
      if ((await firstFree([port], hostName, taken)) !== port)
        throw new Error(`PORT ${port} is taken: stop what listens there or choose another`);
      ports.api = port;
    } else {
      const preferred = [stored[name], port === 0 ? undefined : defaults[name]].filter((one) => one !== undefined);
      ports[name] = await firstFree([...preferred, ...randomPorts()], hostName, taken);
      if (port === 0) chosen[name] = ports[name];
      else if (ports[name] !== preferred[0]) moved.push(`${name} ${preferred[0]} is taken, using ${ports[name]}`);
    }
    taken.add(ports[name]);
  }
  if (port === 0) await writeAtomically(file, `${JSON.stringify({ chosen }, null, 2)}\n`);
  return { ports, moved };
}

export const freePort = (): Promise<number> => firstFree(randomPorts(), '127.0.0.1', new Set());

/** The ports that `PORT=0` chose. A file of an older version also contains replacements, and is not used. */
async function storedPorts(file: string): Promise<Partial<Ports>> {
  try {
    return (JSON.parse(await readFile(file, 'utf8')) as { chosen?: Partial<Ports> }).chosen ?? {};
  } catch {
    return {};
  }
}

/**
 * Returns the first port of the list on which this machine can listen, or any other free port. The lock that the
 * library keeps on a returned port is cleared: a restart within the same process gets its stored ports again.
 */
async function firstFree(port: Iterable<number>, host: string, exclude: Iterable<number>): Promise<number> {
  try {
    return await getPort({ port, host, exclude });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`HOST is ${host}: this machine cannot listen there (${code})`, { cause: error });
  } finally {
    clearLockedPorts();
  }
}

/** Below the range of outgoing connections: one of those could otherwise use the port of a server that restarts. */
const randomPorts = (): number[] => Array.from({ length: 200 }, () => 10_240 + Math.floor(Math.random() * 22_000));
