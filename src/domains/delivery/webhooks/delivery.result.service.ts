/**
 * Records the results of attempts, many in one transaction: the delivery's next state, the receiver's health, and the
 * workflow run of the subscription's retries. A result whose claim has expired changes nothing.
 * @module
 */
import * as z from 'zod';
import { idRow, idValue } from '../../../db/row-values.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { later } from '../../../kernel/instant.ts';
import type { Cause } from '../../../platform/cause.ts';
import { ensureWorkflowRuns } from '../../../platform/workflow-runs.ts';
import type { Claimed } from './delivery.claim.service.ts';
import { hasNoSubscription } from './delivery.end.service.ts';
import { countAttempts } from './delivery.hours.service.ts';
import { leaveClaims, lockHealth } from './delivery.lease.service.ts';
import { endedInOrder, freeNextOf } from './delivery.order.service.ts';
import {
  type AfterAttempt,
  afterAttempt,
  type Evaluated,
  evaluateAttempt,
  isSuccess,
  publishedGapsMs,
} from './delivery.rules.ts';
import type { Result } from './delivery.send.service.ts';
import { type EndpointStage, endpointWorkflow, endpointWorkflowId } from './endpoint.messages.ts';
import { healthAfter, healthy, isProbed, type Outcome, probeRestMs, whyDisabled } from './webhook.rules.ts';
import { disableWebhook } from './webhook.service.ts';

/** Ids of the deliveries whose result counted. */
export async function recordResults(
  tx: Tx,
  results: readonly Result[],
  now: Date,
  gapsMs: readonly number[] = publishedGapsMs,
): Promise<string[]> {
  if (results.length === 0) return [];
  // Before the deliveries, as whoever closes a subscription does, because the end of one in order frees the next one. All
  // receivers of the batch in one order, because the health of each may be written. Claims leave them out meanwhile, so a batch
  // without an order does not do it.
  if (results.some(({ claimed }) => claimed.isOrdered)) await lockHealth(tx, receiversOf(results));
  const open = await openReceivers(tx, results);
  const settled = results.map((result) => settle(result, { openUrl: open.get(result.claimed.webhookId), gapsMs }, now));
  const counted = await save(tx, settled, now);
  const applied = settled.filter(({ result }) => counted.has(result.claimed.id));
  const disabled = await saveHealth(tx, applied, now);
  // Last, after the locks on subscriptions: a deletion takes the locks in this order too.
  await ensureRetried(
    tx,
    applied.filter(({ result }) => !disabled.has(result.claimed.webhookId)),
    now,
  );
  await countAttempts(tx, applied.map(countedOf(now)));
  return applied.map(({ result }) => result.claimed.id);
}

/**
 * What most results are: successes at receivers that have not been failing, without an order to keep. One statement, which
 * needs no transaction around it. Answers the results that are left to `recordResults`.
 */
export async function recordSuccesses(tx: Tx, results: readonly Result[], now: Date): Promise<readonly Result[]> {
  const successes = results.filter(({ claimed, attempted }) => isSuccess(attempted) && !claimed.isOrdered);
  const plain = successes.length === results.length ? successes : withoutLastOfMixed(results, successes);
  if (plain.length === 0) return results;
  // Of the claims that the results are of, each once; a batch has few.
  const webhookOf = new Map(plain.map(({ claimed }) => [claimed.claim, claimed.webhookId]));
  // Columns cost PostgreSQL less than a document of records.
  const failing = await rowsOf(tx, idRow, 'select unnest(record_successes($1, $2, $3, $4, $5, $6, $7, $8, $9)) as id', [
    [...webhookOf.values()],
    [...webhookOf.keys()],
    plain.map(({ claimed }) => claimed.id),
    plain.map(({ claimed }) => claimed.claim),
    plain.map(({ claimed }) => claimed.seq),
    plain.map(({ claimed }) => claimed.claimCount),
    plain.map(({ attempted }) => attempted.status),
    plain.map(({ tookMs }) => tookMs),
    now,
  ]);
  if (failing.length === 0 && plain.length === results.length) return [];
  const left = new Set(failing.map(({ id }) => id));
  const saved = new Set(plain.filter(({ claimed }) => !left.has(claimed.webhookId)));
  return results.filter((result) => !saved.has(result));
}

/**
 * Of a receiver with other results beside its successes, the last success stays with these, because it ends the row of the
 * failures before it: without it they would count as if nothing had been answered between them.
 */
function withoutLastOfMixed(results: readonly Result[], successes: readonly Result[]): readonly Result[] {
  const successful = new Set(successes);
  const mixed = new Set(results.flatMap((one) => (successful.has(one) ? [] : [one.claimed.webhookId])));
  const lastOf = new Map(successes.map((one) => [one.claimed.webhookId, one]));
  return successes.filter((one) => !mixed.has(one.claimed.webhookId) || lastOf.get(one.claimed.webhookId) !== one);
}

/**
 * Of a delivery whose id is given: it is open, and has no result of this claim or a later one. Not by its status, because
 * the index of those that wait must not be chosen for finding some by their ids.
 */
const isOpen = 'd.next_attempt_at is not null and d.claims = g.claim_count - 1';

type Settled = { readonly result: Result; readonly evaluated: Evaluated; readonly after: AfterAttempt };

/** `openUrl`: of the subscription while it takes deliveries, as it is now. */
type Terms = { readonly openUrl: string | undefined; readonly gapsMs: readonly number[] };

function settle(result: Result, { openUrl, gapsMs }: Terms, now: Date): Settled {
  const { plan, attempt, url } = result.claimed;
  const evaluated = evaluateAttempt(result.attempted);
  // Only the receiver that was replaced is gone: the new one gets the delivery by the schedule.
  const outcome = evaluated.outcome === 'gone' && url !== openUrl ? 'failure' : evaluated.outcome;
  const standing = { plan, attempt, outcome, retryAfterMs: result.retryAfterMs, isOpen: openUrl !== undefined, gapsMs };
  return { result, evaluated, after: afterAttempt(standing, now) };
}

const receiversOf = (results: readonly Result[]): string[] => [
  ...new Set(results.map(({ claimed }) => claimed.webhookId)),
];

/** The URLs by the ids. */
async function openReceivers(tx: Tx, results: readonly Result[]): Promise<Map<string, string>> {
  const open = await rowsOf(
    tx,
    urlRow,
    `select id, url from webhooks where id = any($1::text[]) and deleted_at is null and status <> 'disabled'`,
    [receiversOf(results)],
  );
  return new Map(open.map(({ id, url }) => [id, url]));
}

/** `subjectId` only where the end of this one lets the next of the subject go. */
const savedRow = endedInOrder.extend({ id: z.string(), subjectId: z.string().nullable() });

async function save(tx: Tx, settled: readonly Settled[], now: Date): Promise<Set<string>> {
  const changes = settled.map(({ result, evaluated, after }) => ({
    id: result.claimed.id,
    claim_count: result.claimed.claimCount,
    webhook_id: result.claimed.webhookId,
    claim: result.claimed.claim,
    seq: result.claimed.seq,
    status: after.status,
    next_attempt_at: 'nextAttemptAt' in after ? after.nextAttemptAt : null,
    ...(evaluated.outcome === 'success'
      ? { failed: [], success_status: result.attempted.status, success_ms: result.tookMs }
      : { failed: [attemptRecord(result, evaluated, now)] }),
  }));
  const counted = await rowsOf(
    tx,
    savedRow,
    `with given as materialized (
       select * from jsonb_to_recordset($1::jsonb) as r(id text, webhook_id text, claim bigint, seq bigint, claim_count int,
         status text, next_attempt_at timestamptz, failed jsonb, success_status int, success_ms int)),
     held as materialized (
       select * from lock_claims((select array_agg(webhook_id) from given), (select array_agg(claim) from given))),
     counted as (
       update webhook_deliveries d set status = g.status, lease_until = null, attempts_made = d.attempts_made + 1,
         claims = g.claim_count, next_attempt_at = g.next_attempt_at, is_parked = false, attempts = d.attempts || g.failed,
         success_status = g.success_status, success_ms = g.success_ms,
         delivered_at = case when g.status = 'succeeded' then $2::timestamptz end,
         dismissed_at = case when g.status = 'dead' and ${hasNoSubscription('g')} then $2::timestamptz end
       from given g join held h on h.id = g.claim and g.seq = any(h.seqs)
       where d.id = g.id and ${isOpen}
       returning d.id, d.webhook_id, case when d.next_attempt_at is null then d.subject_id end as subject_id, d.seq)
     select id, webhook_id as "webhookId", subject_id as "subjectId", seq::text as seq from counted`,
    [JSON.stringify(changes), now],
  );
  await leaveClaims(
    tx,
    settled.map(({ result }) => result.claimed),
  );
  await freeNextOf(
    tx,
    counted.flatMap(({ subjectId, ...ended }) => (subjectId === null ? [] : [{ ...ended, subjectId }])),
  );
  return new Set(counted.map(({ id }) => id));
}

/** Of an attempt that failed, as shown under `attempts` of a delivery. */
const attemptRecord = ({ claimed, attempted, tookMs, responseBody }: Result, { error }: Evaluated, now: Date) => ({
  attempt: claimed.attempt,
  deliveryId: `${claimed.id}.${claimed.claimCount}`,
  at: new Date(now.getTime() - tookMs).toISOString(),
  responseStatus: attempted.status,
  responseMs: attempted.status === null ? null : tookMs,
  error,
  responseBody,
});

const countedOf =
  (now: Date) =>
  ({ result: { claimed, attempted, tookMs }, evaluated: { outcome } }: Settled) => ({
    webhookId: claimed.webhookId,
    at: later(now, -tookMs),
    isFailure: outcome !== 'success',
    answerMs: attempted.status === null ? null : tookMs,
  });

/** A subscription with deliveries to retry has an open workflow run, due with the first of them. */
async function ensureRetried(tx: Tx, applied: readonly Settled[], now: Date): Promise<void> {
  const firstDue = new Map<string, { claimed: Claimed; dueAt: Date }>();
  for (const { result, after } of applied) {
    if (!('nextAttemptAt' in after)) continue;
    const { claimed } = result;
    const known = firstDue.get(claimed.webhookId);
    if (known === undefined || after.nextAttemptAt < known.dueAt) {
      firstDue.set(claimed.webhookId, { claimed, dueAt: after.nextAttemptAt });
    }
  }
  const stage: EndpointStage = 'retrying';
  await ensureWorkflowRuns(
    tx,
    [...firstDue.values()].map(({ claimed: { webhookId, ownerId }, dueAt }) => ({
      id: endpointWorkflowId(webhookId),
      workflow: endpointWorkflow,
      subjectId: webhookId,
      ownerId,
      agentId: null,
      stage,
      dueAt,
      at: now,
    })),
  );
}

const healthRow = z.object({
  id: idValue('webhook'),
  failuresInRow: z.int(),
  unansweredInRow: z.int(),
  failingSince: z.date().nullable(),
});

/** Returns the subscriptions that it disabled. */
async function saveHealth(tx: Tx, applied: readonly Settled[], now: Date): Promise<Set<string>> {
  const disabled = new Set<string>();
  const outcomes = Map.groupBy(applied, ({ result }) => result.claimed.webhookId);
  const troubled = [...outcomes.keys()].filter((id) =>
    outcomes.get(id)?.some(({ evaluated }) => evaluated.outcome !== 'success'),
  );
  // Receivers that only succeeded are written only if they had been failing.
  const before = await rowsOf(
    tx,
    healthRow,
    `select webhook_id as id, failures_in_row as "failuresInRow", timeouts_in_row as "unansweredInRow",
       failing_since as "failingSince"
     from webhook_health where webhook_id = any($1::text[]) and (failures_in_row > 0 or webhook_id = any($2::text[]))
     order by webhook_id for update`,
    [[...outcomes.keys()], troubled],
  );
  if (before.length === 0) return disabled;
  // A statement after the lock, which a change of the URL takes too: it sees the URL that counts now.
  const urls = await urlsOf(tx, before);
  const after = before.flatMap((row) => {
    const here = (outcomes.get(row.id) ?? []).filter(({ result }) => result.claimed.url === urls.get(row.id));
    if (here.length === 0) return []; // All were of a receiver that the owner has replaced.
    const seen = here.map(({ evaluated }): Outcome => evaluated.outcome);
    const failed = here.findLast(({ evaluated }) => evaluated.outcome !== 'success');
    const isFirst = here.some(({ result }) => result.claimed.attempt === 1);
    return [{ id: row.id, isFirst, seen, failed, before: row, health: healthAfter({ ...healthy, ...row }, seen, now) }];
  });
  await runSql(
    tx,
    `update webhook_health h set failures_in_row = r.failures, timeouts_in_row = r.unanswered,
       unanswered_in_row = r.unanswered, failing_since = r.since,
       probe_after = coalesce(clock_timestamp() + r.rest_ms * interval '1 millisecond', h.probe_after),
       last_outcome = coalesce(r.outcome, h.last_outcome),
       last_status = case when r.outcome is null then h.last_status else r.status end
     from jsonb_to_recordset($1::jsonb)
       as r(id text, failures int, unanswered int, since timestamptz, rest_ms int, outcome text, status int)
     where h.webhook_id = r.id`,
    [
      JSON.stringify(
        after.map(({ id, isFirst, failed, health }) => ({
          id,
          failures: health.failuresInRow,
          unanswered: health.unansweredInRow,
          since: health.failingSince,
          rest_ms: isProbed(health.unansweredInRow) && isFirst ? probeRestMs : null,
          outcome: failed === undefined ? null : storedOutcome(failed.evaluated.outcome),
          status: failed?.result.attempted.status ?? null,
        })),
      ),
    ],
  );
  // What waits for its first attempt does not wait for the next look of a relay.
  const isAnsweredAgain = after.some(
    (one) => isProbed(one.before.unansweredInRow) && !isProbed(one.health.unansweredInRow),
  );
  if (isAnsweredAgain) await runSql(tx, 'select announce_deliveries()');
  for (const { id, seen, health } of after) {
    const why = whyDisabled(health, seen, now);
    if (why === undefined) continue;
    // Where another transaction has closed it, that one has not ended what is saved here: the run of the retries does.
    if (await disableWebhook(tx, id, why, disabling(id, now))) disabled.add(id);
  }
  return disabled;
}

/** Three are known to the table; that there was no answer at all is read from the status. */
const storedOutcome = (outcome: Outcome): Outcome => (outcome === 'unreachable' ? 'failure' : outcome);

const urlRow = z.object({ id: z.string(), url: z.string() });

async function urlsOf(tx: Tx, webhooks: readonly { readonly id: string }[]): Promise<Map<string, string>> {
  const ids = webhooks.map(({ id }) => id);
  const rows = await rowsOf(tx, urlRow, 'select id, url from webhooks where id = any($1::text[])', [ids]);
  return new Map(rows.map(({ id, url }) => [id, url]));
}

const disabling = (id: string, at: Date): Cause => ({
  causeId: `disable:${at.getTime()}`,
  requestId: `disable/${id}`,
  actor: { kind: 'system' },
  at,
});
