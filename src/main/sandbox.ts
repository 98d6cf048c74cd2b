/**
 * The sandbox process: reads its environment, starts the outside world on loopback, says when it is ready. SIGTERM
 * ends it with 0; a supervisor that dies does not, the next start finds it.
 * @module
 */
import { join } from 'node:path';
import * as z from 'zod';
import { createOutbound } from '../outbound/outbound.ts';
import { createLogger } from '../platform/log.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { SandboxEnvironment } from '../sandbox/environment.ts';
import { startSandbox } from '../sandbox/sandbox.ts';

const read = SandboxEnvironment.safeParse(process.env);
if (!read.success) {
  process.stderr.write(`the sandbox cannot start:\n${z.prettifyError(read.error)}\n`);
  process.exit(1);
}
const environment = read.data;
const log = createLogger({ name: 'sandbox', level: environment.LOG_LEVEL });

await makeFolder(environment.BURSAR_DATA_DIR, 0o711);
const apiUrl = environment.BURSAR_API_URL;
const outbound = createOutbound({ allowedOrigins: [new URL(apiUrl).origin] });
const sandbox = await startSandbox(
  {
    databasePath: join(environment.BURSAR_DATA_DIR, 'sandbox.sqlite'),
    apiUrl,
    networkKey: environment.BURSAR_NETWORK_KEY,
    clockKey: environment.BURSAR_CLOCK_KEY,
    outbound,
    log,
    decisionTimeoutMs: environment.SANDBOX_DECISION_TIMEOUT_MS,
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
