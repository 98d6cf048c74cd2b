/**
 * Chooses the ports. Those that `PORT=0` chose are stored and used again while they are free, so that stored addresses
 * survive a restart. A replacement for a taken port is not stored: the next start asks for the wanted one again. A port
 * that the operator named is never replaced by another.
 * @module
 */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
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
  const kept = await lastPorts(file);
  const ports = { ...defaults };
  const chosen = { ...kept };
  const moved: string[] = [];
  const held: Server[] = [];
  const take = async (candidate: number, hostName: string) => {
    const server = await listen(candidate, hostName);
    if (server) held.push(server);
    return server !== undefined;
  };
  try {
    for (const name of Object.keys(defaultPorts) as (keyof Ports)[]) {
      if (without.includes(name)) continue;
      const hostName = name === 'api' ? host : '127.0.0.1';
      if (name === 'api' && port) {
        if (!(await take(port, hostName)))
          throw new Error(`PORT ${port} is taken: stop what listens there or choose another`);
        ports.api = port;
        continue;
      }
      const wished = [kept[name], port === 0 ? undefined : defaults[name]].filter((wish) => wish !== undefined);
      ports[name] = await firstFree([...wished, ...strangers()], (candidate) => take(candidate, hostName));
      if (port === 0) chosen[name] = ports[name];
      else if (ports[name] !== wished[0]) moved.push(`${name} ${wished[0]} is taken, using ${ports[name]}`);
    }
  } finally {
    await Promise.all(held.map((server) => new Promise((closed) => server.close(closed))));
  }
  if (port === 0) await writeAtomically(file, `${JSON.stringify({ chosen }, null, 2)}\n`);
  return { ports, moved };
}

export async function freePort(): Promise<number> {
  return firstFree(strangers(), async (candidate) => {
    const server = await listen(candidate, '127.0.0.1');
    if (!server) return false;
    await new Promise((closed) => server.close(closed));
    return true;
  });
}

/** What `PORT=0` chose. A file of an older version tells it from replacements by nothing, and is not used. */
async function lastPorts(file: string): Promise<Partial<Ports>> {
  try {
    return (JSON.parse(await readFile(file, 'utf8')) as { chosen?: Partial<Ports> }).chosen ?? {};
  } catch {
    return {};
  }
}

async function firstFree(candidates: Iterable<number>, take: (candidate: number) => Promise<boolean>): Promise<number> {
  for (const candidate of candidates) if (await take(candidate)) return candidate;
  throw new Error('no free port was found in 200 tries');
}

/** Below the range that outgoing connections are given, or a restarted server could find its port in use by one. */
function* strangers(): Generator<number> {
  for (let count = 0; count < 200; count += 1) yield 10_240 + Math.floor(Math.random() * 22_000);
}

function listen(port: number, host: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(undefined);
      else reject(new Error(`HOST is ${host}: this machine cannot listen there (${error.code})`, { cause: error }));
    });
    server.listen({ port, host, exclusive: true }, () => resolve(server));
  });
}
