/**
 * What another program's MCP client needs to buy: a whole installation with an agent, and a person who approves what
 * waits. Also how such a program of Python is run, in an environment of its own.
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clientsOf } from '../support/factories/records.ts';
import { startInstallation } from '../support/installation.ts';
import { eventually } from '../support/world.ts';
import { run } from './install.ts';

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

export type Shopping = {
  /** Where the tools are. */
  readonly url: string;
  readonly token: string;
  /** Above what the agent may spend alone. */
  readonly wish: Readonly<Record<string, string | number>>;
  readonly targetUrl: string;
  /** Approves what waits, as the owner; resolves when it has. */
  approve(): Promise<void>;
  close(): Promise<void>;
};

export async function startShopping(): Promise<Shopping> {
  const installation = await startInstallation();
  const owner = await installation.owner();
  const api = clientsOf(owner);
  await api.fund.fundWallet({ body: { amountEuros: 500 } });
  const agent = await api.agents.createAgent({ body: { name: 'shopper' } });
  const { token } = await api.tokens.createAgentToken({ params: { id: agent.id }, body: {} });
  return {
    url: `${installation.apiUrl}/mcp`,
    token,
    wish: { purpose: 'a lamp', expectedAmountEuros: 60, expectedMerchant: 'Sandbox Shop' },
    targetUrl: `${installation.sandboxUrl}/shops/sandbox-shop?amountCents=6000`,
    approve: async () => {
      const [waiting] = await eventually(
        async () => (await api.intents.listIntents({ query: { status: 'pending_approval' } })).data,
        (found) => found.length > 0,
      );
      if (waiting !== undefined) await api.intents.approveIntent({ params: { id: waiting.id as never }, body: {} });
    },
    close: () => installation.stop(),
  };
}

/**
 * Runs a Python program that buys, once for each of its arguments, with the address, the token and the wish in the
 * environment. Says "skipped" where there is no Python.
 */
export async function runPython(name: string, folder: string, modes: readonly string[]): Promise<void> {
  if (spawnSync('python3', ['--version']).status !== 0) return say(`${name}: skipped: there is no Python`);
  const python = environmentOf(name, folder);
  const shopping = await startShopping();
  try {
    for (const mode of modes) {
      const { url, token, wish, targetUrl } = shopping;
      const shop = { BURSAR_MCP_URL: url, BURSAR_TOKEN: token, WISH: JSON.stringify(wish), TARGET_URL: targetUrl };
      const [{ code, output }] = await Promise.all([
        run(python, [join(folder, 'buy.py'), mode], folder, shop),
        shopping.approve(),
      ]);
      say(output.trimEnd());
      say(`${code === 0 ? 'ok' : 'FAILED'}: ${name} ${mode}`);
      if (code !== 0) process.exitCode = 1;
    }
  } finally {
    await shopping.close();
  }
}

/** In a folder that later runs find again. */
function environmentOf(name: string, folder: string): string {
  const dir = fileURLToPath(new URL(`../../.bursar/${name}`, import.meta.url));
  const done = join(dir, 'installed');
  if (!existsSync(done)) {
    call('python3', ['-m', 'venv', dir]);
    const requirements = join(folder, 'requirements.txt');
    call(join(dir, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', '-r', requirements]);
    call('touch', [done]);
  }
  return join(dir, 'bin', 'python');
}

function call(command: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`);
}
