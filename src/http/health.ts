/**
 * `GET /health` and `GET /`: the two operations without a caller. 503 only without PostgreSQL; any other unreachable
 * part makes the service degraded, because operations that do not need it still work.
 * @module
 */
import * as z from 'zod';
import { defineArea, type Handlers, Reply } from './route.ts';

const checkState = z.enum(['ok', 'degraded', 'down']);
const checks = z.strictObject({
  database: checkState,
  temporal: checkState,
  relay: checkState,
  webhookPoller: checkState,
  sealer: checkState,
  eventFeed: checkState,
  sanctions: checkState,
  databaseRoles: z
    .enum(['ok', 'degraded: one role', 'down'])
    .meta({ description: 'degraded: one role = the processes run as the role that owns the tables' }),
});
export type Checks = z.infer<typeof checks>;
export type Examined = {
  /** When the examination began. */
  readonly at: Date;
  readonly checks: Checks;
  readonly eventFeedLagMs: number | null;
};

const health = z
  .strictObject({
    status: z.enum(['ok', 'degraded', 'down']),
    version: z.string(),
    timestamp: z.string().meta({ format: 'date-time' }),
    uptimeSeconds: z.int(),
    eventFeedLagMs: z.int().nullable(),
    checks,
  })
  .meta({ id: 'Health', description: 'The state of the service.' });

const information = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    environment: z.enum(['sandbox', 'live']),
    dataResidency: z.literal('EU'),
    endpoints: z.record(z.string(), z.string()),
  })
  .meta({ id: 'ApiInformation', description: 'Name, version and mode of the service.' });

export const healthArea = defineArea({
  tag: 'Health',
  base: '',
  aliases: [],
  description: 'Is the service up, and what is it?',
  operations: {
    getHealth: {
      method: 'get',
      path: '/health',
      summary: 'Health of the service and of what it depends on',
      description:
        '200 also when it is degraded: what does not need the part that is away goes on. 503 only without PostgreSQL.',
      auth: ['public'],
      unlimited: true,
      success: { status: 200, body: health, also: [503] },
      refusals: [],
    },
    getApiInformation: {
      method: 'get',
      path: '/',
      summary: 'Name, version and where to go next',
      auth: ['public'],
      unlimited: true,
      success: { status: 200, body: information },
      refusals: [],
    },
  },
});

export type HealthDeps = {
  readonly version: string;
  readonly environment: 'sandbox' | 'live';
  readonly check: () => Promise<Examined>;
};

export const healthHandlers = ({ version, environment, check }: HealthDeps): Handlers<typeof healthArea> => ({
  getHealth: async () => {
    const { at, checks: found, eventFeedLagMs } = await check();
    const isDown = found.database === 'down';
    const status = isDown ? 'down' : Object.values(found).every((state) => state === 'ok') ? 'ok' : 'degraded';
    return new Reply(isDown ? 503 : 200, {
      status,
      version,
      timestamp: at.toISOString(),
      uptimeSeconds: Math.round(process.uptime()),
      eventFeedLagMs,
      checks: found,
    });
  },
  getApiInformation: async () => ({
    name: 'Bursar',
    version,
    environment,
    dataResidency: 'EU',
    endpoints: {
      openapi: '/openapi.json',
      docs: '/docs',
      health: '/health',
      discovery: '/.well-known/agent-payments.json',
    },
  }),
});
