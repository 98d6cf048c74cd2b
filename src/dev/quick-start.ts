/**
 * Runs the quick start of README.md as it is printed, each command in a shell, over a data folder of its own.
 * `npm run record:quick-start` writes what was seen into README.md; a test compares later runs with it.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { projectRoot } from '../supervisor/data-dir.ts';
import { folderElsewhere } from '../supervisor/postgres-place.ts';
import { readReady } from '../supervisor/ready-file.ts';

export type Seen = { readonly command: string; readonly lines: readonly string[] };
export type Told = { readonly seen: readonly Seen[]; readonly readyToPaidMs: number };

const section = /(?<=^## Quick start\n).*?(?=^## )/ms;
const readmePath = join(projectRoot, 'README.md');
const readReadme = (): Promise<string> => readFile(readmePath, 'utf8');
const blockOf = (readme: string, language: string): string =>
  new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(section.exec(readme)?.[0] ?? '')?.[1] ?? '';

export async function printedCommands(): Promise<string[]> {
  const lines = blockOf(await readReadme(), 'sh').split('\n');
  return lines.map((line) => line.replace(/\s+#.*$/, '')).filter((line) => line !== '');
}

export async function recordedRun(): Promise<Seen[]> {
  const [, ...parts] = `\n${blockOf(await readReadme(), 'text')}`.split('\n$ ');
  return parts.map((part) => {
    const [command = '', ...lines] = part.split('\n').filter((line) => line !== '');
    return { command, lines };
  });
}

const isWhole = (lines: readonly string[]): boolean =>
  ['clearing by the card network', 'workflow checkout  closed', 'workflow intentLifecycle  closed'].every((part) =>
    lines.some((line) => line.includes(part)),
  );

/** The first command stays up until the last has ended, which is repeated until it tells what comes a moment later. */
export async function runQuickStart(dir: string, isDone = isWhole): Promise<Told> {
  const [startCommand = '', ...commands] = await printedCommands();
  // A group of its own, which is interrupted as by Ctrl-C.
  const service = shell(startCommand, { ...environment(dir), PORT: '0' }, true);
  const said = outputOf(service);
  const ended = once(service, 'close');
  try {
    while (!/^ready .*\n/m.test(said.stdout)) {
      if (service.exitCode !== null) throw new Error(`${startCommand} ended: ${said.stdout}${said.stderr}`);
      await wait(50);
    }
    const readyAt = performance.now();
    const seen: Seen[] = [{ command: startCommand, lines: await stable(said.stdout, dir) }];
    let readyToPaidMs = 0;
    for (const command of commands) {
      const isLast = command === commands.at(-1);
      if (isLast) readyToPaidMs = performance.now() - readyAt;
      seen.push({ command, lines: await outcomeOf(command, dir, isLast ? isDone : () => true) });
    }
    return { seen, readyToPaidMs };
  } finally {
    if (service.exitCode === null && service.pid !== undefined) process.kill(-service.pid, 'SIGINT');
    await ended;
  }
}

async function outcomeOf(command: string, dir: string, isDone: typeof isWhole): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const child = shell(command, environment(dir));
    const said = outputOf(child);
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${said.stdout}${said.stderr}`);
    const lines = await stable(said.stdout, dir);
    if (isDone(lines)) return lines;
    if (attempt === 30) throw new Error(`${command} never told all: ${lines.join('\n')}`);
    await wait(1_000);
  }
}

/** As that of a newcomer: no setting of another installation. */
function environment(dir: string): NodeJS.ProcessEnv {
  const foreign = /^(BURSAR_|TEMPORAL_|SANDBOX_|npm_|DATABASE_URL|PORT|HOST|LOG_LEVEL|FORCE_COLOR)/;
  const rest = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  const { TEMPORAL_CLI, npm_config_cache } = process.env;
  return {
    ...Object.fromEntries(rest),
    BURSAR_DATA_DIR: dir,
    ...(TEMPORAL_CLI === undefined ? {} : { TEMPORAL_CLI }),
    ...(npm_config_cache === undefined ? {} : { npm_config_cache }),
  };
}

const shell = (command: string, env: NodeJS.ProcessEnv, detached = false): ChildProcess =>
  spawn('sh', ['-c', command], { cwd: projectRoot, env, detached, stdio: ['ignore', 'pipe', 'pipe'] });

function outputOf(child: ChildProcess): { stdout: string; stderr: string } {
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.on('data', (chunk: Buffer) => {
      said[stream] += chunk.toString();
    });
  }
  return said;
}

/** Without npm's own lines, ids, times and what is of this machine; of a trace, what happened without its figures. */
async function stable(text: string, dir: string): Promise<string[]> {
  const ready = await readReady(dir);
  if (ready === undefined) throw new Error(`${dir} has no ready.json`);
  const places: [string, string][] = [
    [dir, '.bursar'],
    [ready.apiUrl, 'http://127.0.0.1:8400'],
    [ready.sandboxUrl ?? dir, 'http://127.0.0.1:8401'],
    [ready.temporalUiUrl ?? dir, 'http://127.0.0.1:8233'],
    [ready.temporalAddress, '127.0.0.1:7233'],
  ];
  return places
    .reduce((known, [from, to]) => known.replaceAll(from, to), text)
    .replace(/\b([a-z]{2,6})_[0-9a-z]{26}\b/g, '$1_…')
    .replace(/\b(auth|clr)_[0-9a-f]{24}\b/g, '$1_…')
    .replace(/\bat_test_\w+/g, 'at_test_…')
    .replace(/\b\d\d:\d\d:\d\d\b/g, '12:00:00')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('> '))
    .filter((line) => !/[├└│]/.test(line) || line.includes('12:00:00'));
}

if (import.meta.main) {
  const dir = await mkdtemp(join(tmpdir(), 'bursar-quick-start-'));
  try {
    const { seen, readyToPaidMs } = await runQuickStart(dir);
    const text = seen.map(({ command, lines }) => `$ ${command}\n${lines.join('\n')}\n`).join('\n');
    const readme = await readReadme();
    const recorded = (all: string) => all.replace(/(?<=^```text\n).*?(?=^```$)/ms, () => text);
    await writeFile(readmePath, readme.replace(section, recorded));
    process.stdout.write(`recorded; paid ${(readyToPaidMs / 1_000).toFixed(1)} s after Bursar was ready\n`);
  } finally {
    if (process.getuid?.() === 0) await rm(await folderElsewhere(dir), { recursive: true, force: true });
    await rm(dir, { recursive: true, force: true });
  }
}
