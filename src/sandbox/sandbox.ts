/**
 * The simulated outside world in one process: shops, merchants, card processor, card network, bank and webhook
 * receiver over one store. It calls Bursar only over HTTP.
 * @module
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { pino } from 'pino';
import type { Outbound } from '../outbound/outbound.ts';
import { createBank } from './bank/bank.ts';
import { createChallenges } from './merchants/challenge.ts';
import { createAuthorizations } from './network/authorization.ts';
import { createBursarApi } from './network/bursar-api.ts';
import { createIncrements } from './network/increments.ts';
import { createOutgoing } from './network/outgoing.ts';
import { createSettlement } from './network/settlement.ts';
import { createStandIn } from './network/stand-in.ts';
import { createCardProcessor } from './processor/card-processor.ts';
import { createReceiver } from './receiver/receiver.ts';
import { sandboxApplication } from './sandbox.routes.ts';
import { createOrders } from './shops/order.ts';
import { clearsAfterMs } from './shops/shop-catalog.ts';
import { openStore } from './store.ts';

export type SandboxOptions = {
  /** A file, or `:memory:`. */
  databasePath: string;
  apiUrl: string;
  networkKey: string;
  clockKey: string;
  /** Must be allowed to dial `apiUrl`. */
  outbound: Outbound;
  log: pino.Logger;
  decisionTimeoutMs?: number;
  pollMs?: number;
  /** How often Bursar's clock is read while a clearing waits for it. */
  clockPollMs?: number;
};

const closingPatienceMs = 5_000;

export type Sandbox = { url: string; close(): Promise<void> };

export async function startSandbox(
  options: SandboxOptions,
  { host, port }: { host: string; port: number },
): Promise<Sandbox> {
  const { log, decisionTimeoutMs = 2_000, pollMs = 200, clockPollMs = 500 } = options;
  const store = openStore(options.databasePath);
  const bursar = createBursarApi(options);
  const outgoing = createOutgoing({ store, bursar, log, pollMs, clockPollMs });
  const bank = createBank({ store, bursar, log, pollMs, clockPollMs });
  const standIn = createStandIn(store, bursar);
  const authorizations = createAuthorizations({
    ...{ store, bursar, outgoing, standIn, log, decisionTimeoutMs, clearsAfterMs },
  });
  const application = sandboxApplication({
    store,
    processor: createCardProcessor(store),
    orders: createOrders(store, authorizations, outgoing),
    challenges: createChallenges(store, authorizations, outgoing),
    authorizations,
    increments: createIncrements({ store, bursar, authorizations, outgoing, standIn, decisionTimeoutMs }),
    settlement: createSettlement(store, authorizations, outgoing),
    outgoing,
    standIn,
    receiver: createReceiver(store),
    bank,
    log,
  });
  const server = createServer(application);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  outgoing.start();
  bank.start();
  let isClosing = false;
  const resuming = authorizations
    .resume(() => isClosing)
    .catch((error: unknown) => log.error({ err: error }, 'resuming failed'));

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    async close() {
      isClosing = true;
      const patience = setTimeout(() => server.closeAllConnections(), closingPatienceMs).unref();
      await new Promise((resolve) => {
        server.close(resolve);
      });
      clearTimeout(patience);
      await resuming;
      await outgoing.stop();
      await bank.stop();
      store.close();
    },
  };
}
