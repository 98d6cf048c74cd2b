/**
 * The API's operations, each area with its handlers and what these need. The only list of what is served; nothing is
 * decided here.
 * @module
 */
import { cardHandlers, cardsArea } from '../domains/cards/index.ts';
import type { OpenCredentials } from '../domains/identity/index.ts';
import { healthArea, healthHandlers } from '../http/health.ts';
import { type Mounted, mounted } from '../http/route.ts';
import { sandboxClockArea, sandboxClockHandlers } from '../http/sandbox-clock.ts';
import type { Cause } from '../platform/cause.ts';
import { advanceClock } from '../platform/clock.ts';
import { requestClockWakes } from '../relay/clock-wakes.ts';
import { createRelay, wakeDue } from '../relay/workflow-runs.ts';
import { createReadCardPolicy } from '../usecases/cards/read-card-policy.ts';
import { healthChecks } from './health-checks.ts';
import type { Infrastructure } from './infrastructure.ts';
import { publishedAreas } from './published.ts';
import { version } from './version.ts';
import { deliveryAreas } from './wiring/delivery.ts';
import { identityAreas } from './wiring/identity.ts';
import { partiesAreas } from './wiring/parties.ts';
import { paymentsAreas } from './wiring/payments.ts';
import { spendingAreas } from './wiring/spending.ts';
import { treasuryAreas } from './wiring/treasury.ts';

export function apiAreas(infrastructure: Infrastructure, credentials: OpenCredentials): Mounted[] {
  const { config, database, gateway } = infrastructure;
  return inPublishedOrder([
    mounted(
      healthArea,
      healthHandlers({ version, environment: config.BURSAR_MODE, check: healthChecks(infrastructure) }),
    ),
    mounted(sandboxClockArea, sandboxClockHandlers(clockDeps(infrastructure))),
    ...identityAreas(infrastructure, credentials),
    ...partiesAreas(infrastructure, credentials),
    ...treasuryAreas(infrastructure),
    ...spendingAreas(infrastructure),
    mounted(
      cardsArea,
      cardHandlers({ database, gateway, mode: config.BURSAR_MODE, readPolicy: createReadCardPolicy({ database }) }),
    ),
    ...paymentsAreas(infrastructure),
    ...deliveryAreas(infrastructure),
  ]);
}

/** What is served is what is published, neither more nor less. */
function inPublishedOrder(areas: readonly Mounted[]): Mounted[] {
  const unpublished = areas.filter(({ area }) => !publishedAreas.includes(area));
  if (unpublished.length > 0) throw new Error(`not published: ${unpublished.map(({ area }) => area.tag).join(', ')}`);
  return publishedAreas.map((area) => {
    const served = areas.find((one) => one.area === area);
    if (served === undefined) throw new Error(`published, but not served: ${area.tag}`);
    return served;
  });
}

function clockDeps(infrastructure: Infrastructure) {
  const { clock, database, temporal } = infrastructure;
  const relay = createRelay(infrastructure);
  const read = async () => {
    const offsetMs = await clock.offsetMs();
    return { offsetMs, now: new Date(Date.now() + offsetMs) };
  };
  return {
    read,
    advance: async (ms: number, cause: Cause) => {
      const moved = await database.write(async (tx) => {
        const offsetMs = await advanceClock(tx, ms, cause);
        const now = new Date(Date.now() + offsetMs);
        await requestClockWakes(tx, now);
        return { now, offsetMs };
      });
      return { ...moved, ...(await wakeDue({ database, temporal, relay })) };
    },
  };
}
