/** Faults in claiming deliveries and recording their results. @module */
import { type Fault, faultsIn } from '../fault.ts';

const webhooks = 'src/domains/delivery/webhooks';
const claims = 'src/db/functions/claim-deliveries.sql';

export const deliveryFaults: readonly Fault[] = [
  ...faultsIn(
    'deliveries',
    `${webhooks}/endpoint.service.ts`,
    ['test/workflows/delivery/endpoint-ends'],
    [
      {
        from: `  await lockWorkflowRun(tx, workflowId);
  // Both reads after the lock, which fulfils the wake: they see every change, also of the clock, that wanted it.
  const now = await clock.now(tx);
`,
        to: `  const now = await clock.now(tx);
  await lockWorkflowRun(tx, workflowId);
`,
        harm: 'a move of the sandbox clock while a run looks at its rows is missed until the rescue',
      },
    ],
  ),
  ...faultsIn(
    'deliveries',
    `${webhooks}/delivery.backlog.service.ts`,
    ['test/workflows/delivery/backlog'],
    [
      {
        from: 'const newFrom = before.last;',
        to: 'const newFrom = last;',
        harm: 'a delivery of a transaction that commits late waits for a sweep',
        named: 'open during one look',
      },
      {
        from: 'select webhook_id as id, seq from first_waiting_deliveries(0, false) union all select id, 0 from with_parked',
        to: 'select webhook_id as id, seq from first_waiting_deliveries(0, false)',
        harm: 'the next delivery of a subject waits for a sweep',
        named: 'freed behind its subject',
      },
    ],
  ),
  ...faultsIn(
    'deliveries',
    claims,
    ['test/workflows/delivery/backlog'],
    [
      {
        from: 'select o.id, o.first from unnest(p_older',
        to: 'select o.id, p_new_from from unnest(p_older',
        harm: 'a delivery that was given back, or committed late, is never sent',
        named: 'from which number',
      },
      {
        from: 'd.seq between r.first and r.last',
        to: 'd.seq <= r.last',
        harm: 'each claim steps over all that was sent since the last vacuum',
        named: 'not stepped over',
      },
      {
        from: "floor(p_most * cardinality(v_receivers)::float8 / cardinality(v_receivers || crowded)\n      + case when crowded = '{}' then 0 else random() end)::int",
        to: 'p_most',
        harm: 'an ordered receiver with many waiting gets nothing while the others take all places',
        tests: ['test/workflows/delivery/places'],
      },
    ],
  ),
  ...faultsIn(
    'deliveries',
    `${webhooks}/delivery.result.service.ts`,
    ['test/workflows/delivery/successes'],
    [
      {
        from: 'isSuccess(attempted) && !claimed.isOrdered',
        to: 'isSuccess(attempted)',
        harm: 'the next delivery of an ordered subject is not let go',
      },
      {
        from: 'isProbed(health.unansweredInRow) && isFirst ? probeRestMs : null',
        to: 'null',
        harm: 'all that waits uses up its first attempt at a receiver that refuses connections',
        named: 'rests after a first attempt',
      },
      {
        from: 'isProbed(health.unansweredInRow) && isFirst ?',
        to: 'isProbed(health.unansweredInRow) ?',
        harm: 'retries keep first attempts waiting that nothing wakes when the rest is over',
        named: 'rests after a first attempt',
      },
      {
        from: "if (isAnsweredAgain) await runSql(tx, 'select announce_deliveries()');",
        to: '',
        harm: 'a receiver that answers a retry gets its first attempts up to half a minute later',
        named: 'rests after a first attempt',
      },
      {
        from: "'d.next_attempt_at is not null and d.claims = g.claim_count - 1'",
        to: "'d.next_attempt_at is not null'",
        harm: 'two attempts with one id count, where the clock of PostgreSQL was set forward',
        named: 'two claims',
      },
      {
        from: '!mixed.has(one.claimed.webhookId) || lastOf.get(one.claimed.webhookId) !== one',
        to: 'true',
        harm: 'five attempts without an answer among many that succeed slow a receiver down as if it answered none',
        named: 'ends their row',
      },
      {
        from: 'h.id = g.claim and g.seq = any(h.seqs)',
        to: 'h.id = g.claim',
        harm: 'a late result ends a delivery that another process is sending',
      },
    ],
  ),
  ...faultsIn(
    'deliveries',
    'src/db/functions/record-successes.sql',
    ['test/workflows/delivery/successes'],
    [
      {
        from: ' and r.seq = any(h.seqs)',
        to: '',
        harm: 'a late success ends a delivery that another process is sending',
      },
      {
        from: ' and h.webhook_id <> all (v_failing)',
        to: '',
        harm: 'a receiver that has recovered is still counted as failing, and disabled',
      },
      {
        from: ' and d.claims = r.claim_count - 1',
        to: '',
        harm: 'two attempts with one id count, where the clock of PostgreSQL was set forward',
      },
      {
        from: "p_now - r.answer_ms * interval '1 millisecond' as began",
        to: 'p_now as began',
        harm: 'an attempt is counted in the hour of its end',
      },
      {
        from: 'where c.webhook_id <> all (v_failing)',
        to: '',
        harm: 'what is left to a transaction loses its claim and is sent again',
      },
      {
        from: 'count(*) filter (where a.failed)',
        to: '0',
        harm: 'a page shows no failures',
        tests: ['test/api/delivery/webhook-pages'],
      },
    ],
  ),
  ...faultsIn(
    'deliveries',
    `${webhooks}/delivery.wire.ts`,
    ['test/workflows/delivery/successes'],
    [
      {
        from: 'success === null ? [...row.attempts] : [...row.attempts, success]',
        to: '[...row.attempts]',
        harm: 'the attempt that succeeded is not shown',
      },
      {
        from: 'new Date(deliveredAt.getTime() - successMs)',
        to: 'deliveredAt',
        harm: 'an attempt is shown as begun when it was over',
      },
    ],
  ),
  ...faultsIn(
    'deliveries',
    `${webhooks}/delivery.lease.service.ts`,
    ['test/workflows/delivery/successes'],
    [
      {
        from: 'o.webhook_id = u.webhook_id and o.lease_until >= now() and u.seq = any(o.seqs)',
        to: 'false',
        harm: 'a success is refused, and sent again, because an older claim of its delivery was released',
        named: 'leaves it to the second',
      },
      {
        from: 'set claims = u.claims + 1',
        to: 'set claims = u.claims',
        harm: 'an attempt has the same id as the one of a process that died',
        tests: ['test/workflows/delivery/relay'],
        named: 'dead relay',
      },
      {
        from: "d.status = 'delivering' and d.lease_until < now()",
        to: 'false',
        harm: 'what the version before had claimed when it died is never sent',
        tests: ['test/workflows/delivery/relay'],
        named: 'version before',
      },
    ],
  ),
  ...faultsIn(
    'deliveries',
    `${webhooks}/delivery.end.service.ts`,
    ['test/workflows/delivery/closed-meanwhile'],
    [
      {
        from: '  await lockHealth(tx, webhookIds);\n',
        to: '',
        harm: 'a delivery that is claimed while its subscription ends is sent and counted as lost',
        named: 'claims meanwhile',
      },
      {
        from: '  await lockHealth(tx, [webhookId]);\n',
        to: '',
        harm: 'a retry that is claimed while it is given up is sent and counted as lost',
        named: 'claims meanwhile',
      },
      {
        from: "and ${waitsUnparked} and ${isNotUnderWay('d', '$3::text[]')}",
        to: 'and ${waitsUnparked}',
        harm: 'a delivery that is being sent when its subscription ends is counted as lost',
        named: 'claims meanwhile',
      },
    ],
  ),
  ...faultsIn(
    'deliveries',
    claims,
    ['test/workflows/delivery'],
    [
      {
        from: '         and d.seq not in (select c.seq from claimed_deliveries(p_receivers) c)\n         -- None before it',
        to: '         -- None before it',
        harm: 'a delivery is sent by two processes at once',
        tests: ['test/workflows/delivery/places'],
      },
      {
        from: 'and c.lease_until > now() order by',
        to: 'and c.lease_until < now() order by',
        harm: 'a slow receiver gets all deliveries at once',
        tests: ['test/workflows/delivery/relay', 'test/workflows/delivery/busy-receiver'],
      },
      {
        from: 'where (c.id, s.seq) not in (select * from unnest(p_over_claims, p_over))',
        to: 'where true',
        harm: 'the places of delivered deliveries stay taken until their results are recorded',
        tests: ['test/workflows/delivery/places'],
      },
      {
        from: '(c.id, s.seq) not in (select * from unnest(p_over_claims, p_over))',
        to: 's.seq <> all(p_over)',
        harm: 'an attempt that follows one of this relay is not counted, so a receiver gets one more at once',
        tests: ['test/workflows/delivery/places'],
      },
      {
        from: 'greatest(p_per_receiver - u.requests, p_for_retries - u.retries)',
        to: 'p_per_receiver - u.requests',
        harm: 'a receiver that is busy with first attempts gets no retries',
        tests: ['test/workflows/delivery/places'],
      },
      {
        from: "select from webhooks w where w.id = r.id and w.status = 'active' and w.deleted_at is null limit 1) w",
        to: 'select from webhooks w where w.id = r.id limit 1) w',
        harm: 'a subscription that is paused while a claim begins gets deliveries',
        tests: ['test/workflows/delivery/places'],
      },
    ],
  ),
  ...faultsIn(
    'deliveries',
    `${webhooks}/delivery.claim.service.ts`,
    ['test/workflows/delivery'],
    [
      {
        from: 'Math.max(1, Math.floor(most / 4))',
        to: 'most',
        harm: 'a receiver that hangs takes the places of all others',
        tests: ['test/workflows/delivery/relay', 'test/workflows/delivery/hanging-receivers'],
      },
    ],
  ),
  ...faultsIn(
    'deliveries',
    'src/relay/delivery-results.ts',
    ['test/workflows/delivery/relay'],
    [
      {
        from: 'left.forEach(others.add);',
        to: 'const now = await clock.now(); if (left.size > 0) await database.write((tx) => recordResults(tx, [...left], now, gapsMs));',
        harm: 'one failure keeps the successes of all other receivers waiting while it is recorded',
        named: 'while the record of a failure waits',
      },
      {
        from: 'held: () => new Set(others.unrecorded().map(({ claimed }) => claimed.webhookId)),',
        to: 'held: () => new Set(),',
        harm: 'a success of a receiver waits for the failure before it, and all others with it',
        named: 'while the record of a failure waits',
      },
      {
        from: 'isSuccess(attempted) ? [claimed] : []',
        to: '[claimed]',
        harm: 'a receiver that fails gets more requests at once than it may, until its failures are recorded',
        tests: ['test/workflows/delivery/places'],
        named: 'keeps its place',
      },
      {
        from: 'return await saveEach(batch);',
        to: 'return [];',
        harm: 'one result that cannot be written keeps the others from it, which are sent again',
        named: 'cannot be written keeps no other',
      },
    ],
  ),
  ...faultsIn(
    'deliveries',
    'src/relay/deliveries.ts',
    ['test/workflows/delivery/relay'],
    [
      {
        from: 'Math.min(mostUnderWay, 2 * mostUnderWay - results.unrecorded())',
        to: 'mostUnderWay',
        harm: 'while results cannot be recorded, all that waits is sent and kept in memory',
        tests: ['test/workflows/delivery/places'],
      },
      {
        from: 'restMs > 0 ? Math.min(restMs, lookAgainMs) : lookAgainMs',
        to: 'lookAgainMs',
        harm: 'a receiver that is probed gets one request in half a minute',
        named: 'is tried by one request at a time',
      },
      {
        from: 'if (isNextFree) pause.end();',
        to: '',
        harm: 'the events of one subject arrive three times as slowly',
        named: 'ordered delivery is not kept waiting',
      },
    ],
  ),
];
