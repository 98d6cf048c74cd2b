/**
 * The merchant of docs/accepting.md: the commands of the page make its key, register it and start it, each as it is
 * printed there. `close` ends its process.
 * @module
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from './world.ts';

const root = new URL('../../', import.meta.url);
export const acceptingPage = await readFile(new URL('docs/accepting.md', root), 'utf8');

/** The block of commands of the page that contains the text. */
function commandsWith(text: string): string {
  const found = [...acceptingPage.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const [block, ...more] = found.filter((one) => one.includes(text));
  if (block === undefined || more.length > 0) throw new Error(`not one block of commands with ${text}`);
  return block;
}

type Environment = Readonly<Record<string, string>>;

export type ExampleMerchant = {
  readonly origin: string;
  /** What its process has written. */
  written(): string;
  close(): Promise<void>;
};

/** A folder with the key of a merchant, where the page's commands run. */
export async function exampleMerchantFolder(environment: Environment) {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-merchant-'));
  await symlink(fileURLToPath(new URL('examples', root)), join(folder, 'examples'));
  const env = { PATH: process.env.PATH, ...environment };
  const run = async (commands: string, more: Environment = {}): Promise<string> =>
    (await promisify(execFile)('bash', ['-euc', commands], { cwd: folder, env: { ...env, ...more } })).stdout;
  await run(commandsWith('generateKeyPairSync'));

  async function start(port: number, more: Environment): Promise<ExampleMerchant> {
    const origin = `http://127.0.0.1:${port}`;
    // A separate process group, because the shell starts the merchant.
    const child = spawn('bash', ['-euc', commandsWith('node examples/merchant.mjs')], {
      cwd: folder,
      env: { ...env, ...more, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let written = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        written += text;
      });
    await eventually(
      async () => written.includes(`${origin}/report\n`) || child.exitCode !== null,
      (isDone) => isDone,
    );
    if (child.exitCode !== null) throw new Error(`the merchant ended: ${written}`);
    return { origin, written: () => written, close: () => ended(child) };
  }

  return {
    /** Answers what the registration answered. */
    register: async (inviteCode: string, apiKey: string) =>
      JSON.parse(
        await run(commandsWith('node examples/register-merchant.mjs'), { INVITE_CODE: inviteCode, KEY: apiKey }),
      ) as {
        id: string;
        slug: string;
        merchant_secret_key: string;
      },
    start,
    run,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
export type ExampleMerchantFolder = Awaited<ReturnType<typeof exampleMerchantFolder>>;

async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return;
  const exit = once(child, 'exit');
  process.kill(-child.pid, 'SIGTERM');
  await exit;
}
