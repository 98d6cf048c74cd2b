/**
 * Finds a Temporal binary: the configured one, on PATH, in the cache, from the official download, or built with Go.
 * Must never run a partial file: a new binary is written under another name, tried, then renamed.
 * @module
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

export type TemporalBinaryOptions = {
  /** The data folder, whose cache is used where the user has none that can be written. */
  dir: string;
  env?: NodeJS.ProcessEnv;
  say?: (line: string) => void;
  /** Where the official archives are; tests put their own here. */
  releases?: string;
};

const version = '1.5.1';
const module = `github.com/temporalio/cli/cmd/temporal@v${version}`;
const officialReleases = 'https://github.com/temporalio/cli/releases/download';

export async function temporalBinary(options: TemporalBinaryOptions): Promise<string> {
  const { env = process.env, dir, say = () => undefined, releases = officialReleases } = options;
  const present = await presentTemporal({ env, dir });
  if (present) return present;
  const cache = await writableCache(cacheFolders(env, dir));
  const failures: string[] = [];
  for (const make of [() => download(cache, releases, say), () => build(cache, env, say)]) {
    try {
      return await make();
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  throw new Error(
    [
      `no Temporal program was found. Not one of these gave one (version ${version}):`,
      '- TEMPORAL_ADDRESS (a server that runs already) and TEMPORAL_CLI (a program) are not set, and there is no `temporal` on PATH',
      `- the cache: ${cacheFolders(env, dir).join(', ')}`,
      ...failures.map((failure) => `- ${failure}`),
      'Do one of: install the Temporal CLI, set TEMPORAL_CLI or TEMPORAL_ADDRESS, allow the download, or install Go.',
    ].join('\n'),
  );
}

/** Without downloading or building anything; undefined where there is none yet. */
export async function presentTemporal({ env = process.env, dir }: TemporalBinaryOptions): Promise<string | undefined> {
  if (env.TEMPORAL_CLI) {
    if (await runs(env.TEMPORAL_CLI)) return env.TEMPORAL_CLI;
    throw new Error(`TEMPORAL_CLI names ${env.TEMPORAL_CLI}, which does not run as a Temporal program`);
  }
  const onPath = (env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, 'temporal'));
  const cached = cacheFolders(env, dir).map((folder) => join(folder, 'temporal'));
  for (const path of [...onPath, ...cached]) if (await runs(path)) return path;
  return undefined;
}

function cacheFolders(env: NodeJS.ProcessEnv, dir: string): string[] {
  const users = env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache');
  return [join(users, 'bursar', `temporal-${version}`), join(dir, `temporal-${version}`)];
}

async function writableCache(folders: string[]): Promise<string> {
  for (const folder of folders) {
    try {
      await mkdir(folder, { recursive: true });
      await rm(await mkdtemp(join(folder, 'try-')), { recursive: true });
      return folder;
    } catch (error) {
      if (folder === folders.at(-1)) throw error;
    }
  }
  throw new Error('no cache folder');
}

async function runs(path: string): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 20_000 });
    return stdout.startsWith('temporal version');
  } catch {
    return false;
  }
}

async function download(cache: string, releases: string, say: (line: string) => void): Promise<string> {
  const system = { linux: 'linux', darwin: 'darwin' }[process.platform as string];
  const machine = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
  if (!system || !machine) throw new Error(`the download: none is published for ${process.platform} ${process.arch}`);
  const archive = `temporal_cli_${version}_${system}_${machine}.tar.gz`;
  const base = `${releases}/v${version}`;
  try {
    say(`downloading Temporal ${version} from ${base}`);
    const sums = (await fetched(`${base}/checksums.txt`, 10_000)).toString('utf8');
    const expected = sums
      .split('\n')
      .find((line) => line.trim().endsWith(archive))
      ?.split(/\s+/)[0];
    const packed = await fetched(`${base}/${archive}`, 300_000);
    const found = createHash('sha256').update(packed).digest('hex');
    if (found !== expected) throw new Error(`checksum of ${archive} is ${found}, published is ${expected ?? 'none'}`);
    const program = fileInTar(await promisify(gunzip)(packed), 'temporal');
    return await keep(cache, (folder) => writeFile(join(folder, 'temporal'), program, { flush: true }));
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Error(`the download from ${base}: ${cause instanceof Error ? cause.message : message}`);
  }
}

/** Answers within 6 s or not at all: a machine without a way out must not be kept waiting. */
async function fetched(url: string, withinMs: number): Promise<Buffer> {
  const { EnvHttpProxyAgent, fetch } = await import('undici');
  const firstByte = new AbortController();
  const late = setTimeout(() => firstByte.abort(new Error(`no answer within 6 s`)), 6_000);
  const signal = AbortSignal.any([firstByte.signal, AbortSignal.timeout(withinMs)]);
  const proxies = new EnvHttpProxyAgent({ connectTimeout: 5_000 });
  try {
    const response = await fetch(url, { signal, dispatcher: proxies });
    clearTimeout(late);
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } finally {
    clearTimeout(late);
    await proxies.destroy();
  }
}

async function build(cache: string, env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<string> {
  say(`building Temporal ${version} with Go, once; this takes two to five minutes`);
  const start = performance.now();
  const seconds = () => Math.round((performance.now() - start) / 1000);
  const progress = setInterval(() => say(`still building Temporal: ${seconds()} s`), 15_000);
  try {
    const path = await keep(cache, (folder) => goInstall(folder, env));
    say(`Temporal is built (${seconds()} s) and kept in ${cache}`);
    return path;
  } finally {
    clearInterval(progress);
  }
}

function goInstall(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = spawn('go', ['install', module], {
      env: { ...env, GOBIN: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const endGo = () => go.kill();
    process.once('exit', endGo);
    let output = '';
    go.stderr.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-2_000);
    });
    go.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(error.code === 'ENOENT' ? 'go install: Go is not on PATH' : `go install: ${error.message}`)),
    );
    go.once('close', (code) => {
      process.off('exit', endGo);
      if (code === 0) resolve();
      else reject(new Error(`go install ${module}: ${output.trim()}`));
    });
  });
}

/** `make` writes `temporal` into the folder it is given; only a program that runs gets its final name. */
async function keep(cache: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = await mkdtemp(join(cache, 'half-'));
  try {
    await make(folder);
    const half = join(folder, 'temporal');
    await chmod(half, 0o755);
    if (!(await runs(half))) throw new Error('what came does not run on this machine');
    const whole = join(cache, 'temporal');
    await rename(half, whole);
    return whole;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads one plain file out of a tar archive (512-byte headers: name at 0, octal size at 124). */
function fileInTar(tar: Buffer, name: string): Buffer {
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const found = tar.toString('utf8', at, tar.indexOf(0, at));
    const size = Number.parseInt(tar.toString('utf8', at + 124, at + 136), 8);
    if (found.replace(/^\.\//, '') === name) return tar.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error(`the archive has no file ${name}`);
}
