/**
 * The worker's metrics: waiting work, its age, and the use of the pool, together with those of the Temporal SDK at one
 * address. The SDK only has its own listener, so its text is fetched from a port that the process chose.
 * @module
 */
import * as z from 'zod';
import type { Database } from '../db/database.ts';
import { poolOf } from '../db/pools.ts';
import { oneRowOf, rowsOf } from '../db/statement.ts';
import { feedLagSeconds } from '../events/feed-lag.ts';
import { keptCall } from '../platform/kept-call.ts';
import type { Logger } from '../platform/log.ts';
import { exposition, type Gauge, type MetricsServer, startMetricsServer } from './metrics.ts';

type Deps = {
  readonly database: Database;
  readonly log: Logger;
  readonly sanctions: { state(): Promise<'ok' | 'degraded' | 'down'> };
  /** Runs by the operators' list; throws when Temporal is away. */
  readonly runCounts: () => Promise<readonly { readonly list: string; readonly count: number }[]>;
};

/** Many may ask for the metrics, and Temporal counts by a query. */
const runCountsKeptMs = 15_000;

export async function startWorkerMetrics(deps: Deps, port: number, sdkAddress: string): Promise<MetricsServer> {
  const own = async (): Promise<string> =>
    exposition([...poolGauges(deps), ...(await waiting(deps)), await sanctionsGauge(deps)]);
  const counts = keptCall(deps.runCounts, runCountsKeptMs);
  const runs = async (): Promise<string> => exposition([runsGauge(await counts())]);
  const sdk = async (): Promise<string> => (await fetch(`http://${sdkAddress}/metrics`)).text();
  const server = await startMetricsServer(port, [own, runs, sdk], deps.log);
  deps.log.info({ url: server.url }, 'metrics are served');
  return server;
}

const runsGauge = (counts: Awaited<ReturnType<Deps['runCounts']>>): Gauge => ({
  name: 'bursar_runs',
  help: 'Workflow runs in the lists for operators; left out while Temporal is away.',
  values: counts.map(({ list, count }) => ({ value: count, labels: { list } })),
});

function poolGauges({ database }: Deps): Gauge[] {
  const { totalCount, idleCount, waitingCount } = poolOf(database.read());
  const values = [
    { value: totalCount - idleCount, labels: { state: 'used' } },
    { value: idleCount, labels: { state: 'idle' } },
    { value: waitingCount, labels: { state: 'waiting' } },
  ];
  return [
    { name: 'bursar_pool_connections', help: 'Connections to PostgreSQL, and callers that wait for one.', values },
  ];
}

async function sanctionsGauge({ sanctions }: Deps): Promise<Gauge> {
  const value = { ok: 2, degraded: 1, down: 0 }[await sanctions.state()];
  const help = 'The sanctions list: 2 current, 1 an older one because the newest cannot be read, 0 none.';
  return { name: 'bursar_sanctions_list', help, values: [{ value }] };
}

const waitingRow = z.object({ deliveries: z.int(), wakes: z.int(), starts: z.int(), unsealed: z.int() });
const messagesRow = z.object({ reason: z.string(), count: z.int() });
const ageRow = z.object({ loop: z.string(), seconds: z.number() });

/** One statement over conditions that each have their index: what is finished is never read. */
async function waiting({ database }: Deps): Promise<Gauge[]> {
  const counts = await oneRowOf(
    database.read(),
    waitingRow,
    `select
       (select sum(count)::int from (
          select count(*) from webhook_deliveries where status = 'pending' and attempts_made = 0 and not is_parked
          union all select count(*) from webhook_deliveries where is_parked
          union all select count(*) from webhook_deliveries where status = 'pending' and attempts_made > 0) parts) as deliveries,
       (select count(*)::int from workflow_runs where wanted_wake or waking_until is not null) as wakes,
       (select count(*)::int from workflow_runs where is_open and started_epoch is null) as starts,
       (select count(*)::int from unsealed_journals) as unsealed`,
  );
  const ages = await rowsOf(
    database.read(),
    ageRow,
    'select loop, extract(epoch from now() - succeeded_at)::float8 as seconds from heartbeats order by loop',
  );
  const messages = await rowsOf(
    database.read(),
    messagesRow,
    `select w.reason, count(m.id)::int as count
     from unnest(array['other_card', 'other_currency', 'unknown_card']) w (reason)
     left join network_messages m
       on m.unbooked_reason = w.reason and m.unbooked_reason is not null and m.settled_as is null
     group by w.reason order by w.reason`,
  );
  const gauge = (name: string, help: string, value: number): Gauge => ({ name, help, values: [{ value }] });
  return [
    gauge('bursar_deliveries_waiting', 'Webhook deliveries that are not finished.', counts.deliveries),
    gauge('bursar_wakes_waiting', 'Workflow runs whose row has changed and that were not woken yet.', counts.wakes),
    gauge('bursar_starts_waiting', 'Open rows whose workflow run was never started.', counts.starts),
    gauge('bursar_unsealed_journals', 'Ledger journals that the sealer has not sealed yet.', counts.unsealed),
    {
      name: 'bursar_network_messages_waiting',
      help: 'Messages of the card network that wait for an operator: see bursar network messages.',
      values: messages.map(({ reason, count }) => ({ value: count, labels: { reason } })),
    },
    gauge(
      'bursar_event_feed_lag_seconds',
      'Time for which the oldest open transaction has delayed newer events of the feed.',
      await feedLagSeconds(database),
    ),
    {
      name: 'bursar_loop_age_seconds',
      help: 'Time since a loop (relay, webhookPoller, sealer) last did its work, in any worker.',
      values: ages.map(({ loop, seconds }) => ({ value: seconds, labels: { loop } })),
    },
  ];
}
