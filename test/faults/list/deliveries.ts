/** Faults in claiming deliveries and recording their results. @module */
import { type Fault, faultsIn } from '../fault.ts';

const webhooks = 'src/domains/delivery/webhooks';

export const deliveryFaults: readonly Fault[] = [
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
        from: 'select id, seq from receiver union all select id, 0 from with_parked',
        to: 'select id, seq from receiver',
        harm: 'the next delivery of a subject waits for a sweep',
        named: 'freed behind its subject',
      },
    ],
  ),
  ...faultsIn(
    'deliveries',
    `${webhooks}/delivery.claim.service.ts`,
    ['test/workflows/delivery/backlog'],
    [
      {
        from: 'older[id] ?? newFrom',
        to: 'newFrom',
        harm: 'a delivery that was given back, or committed late, is never sent',
        named: 'from which number',
      },
      {
        from: 'd.seq between r.first and r.through',
        to: 'd.seq <= r.through',
        harm: 'each claim steps over all that was sent since the last vacuum',
        named: 'not stepped over',
      },
    ],
  ),
  ...faultsIn(
    'deliveries',
    `${webhooks}/delivery.result.service.ts`,
    ['test/workflows/delivery/successes'],
    [
      {
        from: "evaluated.outcome === 'success' && !result.claimed.isOrdered ?",
        to: "evaluated.outcome === 'success' ?",
        harm: 'the next delivery of an ordered subject is not let go',
      },
      {
        from: 'and g.webhook_id <> all(array(select id from failing))',
        to: '',
        harm: 'a receiver that has recovered is still counted as failing, and disabled',
      },
      {
        from: "where d.id = g.id and d.claims = g.fence and d.status = 'delivering'\n      and g.webhook_id",
        to: "where d.id = g.id and d.status = 'delivering'\n      and g.webhook_id",
        harm: 'a late result ends a delivery that another process is sending',
      },
    ],
  ),
  ...faultsIn(
    'deliveries',
    `${webhooks}/delivery.claim.service.ts`,
    ['test/workflows/delivery'],
    [
      {
        from: "where d.webhook_id = w.id and d.status = 'delivering' and d.lease_until > now())`",
        to: "where d.webhook_id = w.id and d.status = 'delivering' and d.lease_until < now())`",
        harm: 'a slow receiver gets all deliveries at once',
        tests: ['test/workflows/delivery/relay', 'test/workflows/delivery/busy-receiver'],
      },
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
    'src/relay/deliveries.ts',
    ['test/workflows/delivery/relay'],
    [
      {
        from: '!isFull && !hasMore && orderedUnderWay === 0 && !stopping',
        to: '!isFull && !hasMore && !stopping',
        harm: 'the events of one subject arrive three times as slowly',
        named: 'ordered delivery is not kept waiting',
      },
      {
        from: '      await saveEach(batch);\n',
        to: '',
        harm: 'one result that cannot be written keeps the others from it, which are sent again',
        named: 'cannot be written keeps no other',
      },
    ],
  ),
];
