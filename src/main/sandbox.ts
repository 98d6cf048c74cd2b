/**
 * The sandbox process: reads its environment, starts the outside world on loopback, says when it is ready. SIGTERM
 * ends it with 0; a supervisor that dies does not, the next start finds it.
 * @module
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createOutbound } from '../outbound/outbound.ts';
import { createLogger } from '../platform/log.ts';
import { startSandbox } from '../sandbox/sandbox.ts';

const Environment = z.object({
  BURSAR_DATA_DIR: z.string().min(1).default('.bursar'),
  HOST: z.string().min(1).default('127.0.0.1'),
  SANDBOX_PORT: z.coerce.number().int().min(0).max(65_535).default(8401),
  BURSAR_API_URL: z.url({ protocol: /^https?$/ }).default('http://127.0.0.1:8400'),
  BURSAR_NETWORK_KEY: z.string().min(1),
  BURSAR_DASHBOARD_SECRET: z.string().min(1),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

const read = Environment.safeParse(process.env);
if (!read.success) {
  process.stderr.write(`the sandbox cannot start:\n${z.prettifyError(read.error)}\n`);
  process.exit(1);
}
const environment = read.data;
const log = createLogger({ name: 'sandbox', level: environment.LOG_LEVEL });

mkdirSync(environment.BURSAR_DATA_DIR, { recursive: true, mode: 0o711 });
const apiUrl = environment.BURSAR_API_URL;
const outbound = createOutbound({ allowedOrigins: [new URL(apiUrl).origin] });
const sandbox = await startSandbox(
  {
    databasePath: join(environment.BURSAR_DATA_DIR, 'sandbox.sqlite'),
    apiUrl,
    networkKey: environment.BURSAR_NETWORK_KEY,
    dashboardSecret: environment.BURSAR_DASHBOARD_SECRET,
    outbound,
    log,
  },
  { host: environment.HOST, port: environment.SANDBOX_PORT },
);
log.info({ url: sandbox.url, apiUrl }, 'sandbox ready');
process.send?.({ ready: true, url: sandbox.url });

let isStopping = false;
const stop = async (): Promise<void> => {
  if (isStopping) return;
  isStopping = true;
  await sandbox.close();
  await outbound.close();
  process.exit(0);
};
process.on('SIGTERM', () => void stop());
process.on('SIGINT', () => void stop());
