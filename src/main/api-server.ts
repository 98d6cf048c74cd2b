/**
 * The API as one object: opens what it needs, listens, and closes in the right order. `api.ts` runs it as a process,
 * tests run it inside theirs.
 * @module
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { openNotices } from '../db/notices.ts';
import { recordDashboardUse, recordRefusedAccess } from '../domains/identity/credentials/access-audit.service.ts';
import { openCredentials } from '../domains/identity/credentials/credentials.ts';
import { merchantByHash } from '../domains/merchants/merchants/merchant.queries.ts';
import { clientAddressBehind } from '../http/client-address.ts';
import { createIdempotency } from '../http/idempotency.ts';
import { createRateLimit } from '../http/rate-limit.ts';
import { createRefusedAccess } from '../http/refused-access.ts';
import { createApp, createHttpServer } from '../http/server.ts';
import { mcpProtocol } from '../mcp/http.ts';
import type { LogOptions } from '../platform/log.ts';
import { doneWithin, stopTimes } from '../platform/stop-times.ts';
import { ensureKey } from '../usecases/identity/ensure-key.ts';
import { ensureSigningKey } from '../usecases/identity/signing-keys.ts';
import type { Config } from './config.ts';
import { openInfrastructure } from './infrastructure.ts';
import { entities, mountedAreas, workflows } from './modules/index.ts';
import { version } from './version.ts';

export type RunningApi = { readonly url: string; readonly port: number; stop(): Promise<void> };

/** `logTo`: where its log goes instead of stdout, as tests read it. */
export async function startApi(config: Config, logTo?: LogOptions['destination']): Promise<RunningApi> {
  const infrastructure = await openInfrastructure(config, { name: 'api', entities, workflows, logTo });
  const { database, clock, vault, log } = infrastructure;
  const credentials = openCredentials({
    database,
    databaseUrl: config.DATABASE_URL,
    mode: config.BURSAR_MODE,
    log,
    dashboardSecret: config.BURSAR_DASHBOARD_SECRET.join(',') || undefined,
    clockKey: config.BURSAR_CLOCK_KEY,
    merchantByHash,
  });
  const mppOutcomes = openNotices({
    url: config.DATABASE_URL,
    channel: 'bursar_mpp_payments',
    applicationName: 'bursar-api-listener',
    log,
  });
  if (config.BURSAR_API_KEY !== undefined) {
    await ensureKey({ database })(config.BURSAR_API_KEY, { mode: config.BURSAR_MODE, at: await clock.now() });
  }
  await ensureSigningKey({ database, vault })();
  const clientOf = clientAddressBehind(config.BURSAR_TRUSTED_PROXIES);
  const refusedAccess = createRefusedAccess({
    log,
    audit: async (refusal) => recordRefusedAccess(database, refusal, await clock.now()),
  });
  const stopping = new AbortController();
  const mcp = mcpProtocol({ version, publicUrl: config.publicUrl, hosts: config.BURSAR_MCP_HOSTS, log });
  const app = createApp({
    areas: mountedAreas({ ...infrastructure, credentials, mppOutcomes, stopping: stopping.signal }),
    mode: config.BURSAR_MODE,
    version,
    publicUrl: config.publicUrl,
    protocols: [mcp],
    edge: {
      credentials,
      idempotency: createIdempotency(database, vault, config.BURSAR_IDEMPOTENCY_LEASE_SECONDS * 1_000),
      rateLimit: createRateLimit({ perMinute: config.ratePerMinute, clientOf }),
      clientOf,
      refusedAccess,
      onDashboardUse: (use) => recordDashboardUse(database, use),
      clock,
      log,
      validatesAnswers: config.BURSAR_MODE === 'sandbox',
    },
  });
  const server = createHttpServer(app);
  server.listen(config.PORT, config.HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST}:${port}`;
  log.info({ url }, 'api listens');
  return {
    url,
    port,
    stop: async () => {
      mcp.stop();
      stopping.abort();
      server.close();
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), stopTimes.drainMs);
      await once(server, 'close');
      clearTimeout(timer);
      const closed = refusedAccess
        .close()
        .then(() => Promise.all([credentials.close(), mppOutcomes.close()]))
        .then(() => infrastructure.close());
      if (!(await doneWithin(stopTimes.closeMs, closed))) log.warn('connections were left open at the stop');
    },
  };
}
