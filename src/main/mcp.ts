/** `bursar mcp`: which API and which token. @module */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { runMcpStdio } from '../mcp/stdio.ts';
import { version } from './version.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The exit code. */
export async function serveMcp(env: Environment, dataDir: string): Promise<number> {
  const sayAside = (text: string) => process.stderr.write(text);
  const token = env.BURSAR_TOKEN ?? env.BURSAR_API_KEY;
  if (token === undefined || token === '') {
    sayAside('bursar mcp: set BURSAR_TOKEN to an agent’s token\n');
    return 2;
  }
  const apiUrl = env.BURSAR_API_URL ?? (await runningApi(dataDir)) ?? 'http://127.0.0.1:8400';
  return runMcpStdio({ apiUrl, token, version, sayAside });
}

async function runningApi(dataDir: string): Promise<string | undefined> {
  const text = await readFile(join(dataDir, 'ready.json'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : z.looseObject({ apiUrl: z.string() }).parse(JSON.parse(text)).apiUrl;
}
