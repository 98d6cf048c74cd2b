/** A second API over the world's database that serves payments, until the API itself does. @module */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Tx } from '../../src/db/tx.ts';
import { applyToCard, findCard } from '../../src/domains/cards/index.ts';
import { openCredentials } from '../../src/domains/identity/index.ts';
import {
  checkoutArea,
  checkoutHandlers,
  networkArea,
  networkHandlers,
  paymentsEntities,
  transactionHandlers,
  transactionsArea,
} from '../../src/domains/payments/index.ts';
import { createIdempotency } from '../../src/http/idempotency.ts';
import { createRateLimit } from '../../src/http/rate-limit.ts';
import { mounted } from '../../src/http/route.ts';
import { createApp, createHttpServer } from '../../src/http/server.ts';
import { entities } from '../../src/main/entities.ts';
import { openInfrastructure } from '../../src/main/infrastructure.ts';
import { judgeUrl } from '../../src/outbound/address-rules.ts';
import type { Cause } from '../../src/platform/cause.ts';
import { createAuthorizeCard } from '../../src/usecases/authorize-card.ts';
import { createClearAuthorization } from '../../src/usecases/clear-authorization.ts';
import { createConfirmCheckout } from '../../src/usecases/confirm-checkout.ts';
import { createExecuteCheckout } from '../../src/usecases/execute-checkout.ts';
import { createReverseAuthorization } from '../../src/usecases/reverse-authorization.ts';
import { riskOf } from '../../src/usecases/spending-facts.ts';
import type { World } from './world.ts';

export async function closeUsedCard(tx: Tx, cardId: string, cause: Cause): Promise<void> {
  const card = await findCard(tx, cardId);
  if (card?.usage === 'single') await applyToCard(tx, cardId, { kind: 'close' }, cause);
}

export async function startPaymentsApi(world: World, allowedOrigins: readonly string[] = []) {
  const { config } = world;
  const all = [...new Set([...entities, ...paymentsEntities])];
  const infrastructure = await openInfrastructure(config, { name: 'payments', entities: all });
  const { database, vault, clock, log, gateway } = infrastructure;
  const credentials = openCredentials({
    database,
    databaseUrl: config.DATABASE_URL,
    mode: config.BURSAR_MODE,
    log,
    dashboardSecret: config.BURSAR_DASHBOARD_SECRET.join(',') || undefined,
  });
  const refusalOfUrl = (url: string) => {
    const judged = judgeUrl(url, { allowedOrigins, requireHttps: true });
    return 'refused' in judged ? judged.refused : undefined;
  };
  const app = createApp({
    areas: [
      mounted(transactionsArea, transactionHandlers({ database })),
      mounted(
        networkArea,
        networkHandlers({
          networkKeys: { sandbox: world.networkKey },
          authorize: createAuthorizeCard({ database, closeUsedCard, riskOf }),
          clear: createClearAuthorization({ database, closeUsedCard, log }),
          reverse: createReverseAuthorization({ database }),
        }),
      ),
      mounted(
        checkoutArea,
        checkoutHandlers({
          execute: createExecuteCheckout({ database, gateway, refusalOfUrl }),
          confirm: createConfirmCheckout({ database }),
        }),
      ),
    ],
    mode: config.BURSAR_MODE,
    version: 'test',
    publicUrl: 'http://localhost',
    edge: {
      credentials,
      idempotency: createIdempotency(database, vault),
      rateLimit: createRateLimit({ perMinute: config.ratePerMinute, trustedProxies: [] }),
      clock,
      log,
      validatesAnswers: true,
    },
  });
  const server = createHttpServer(app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    infrastructure,
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await credentials.close();
      await infrastructure.close();
    },
  };
}
