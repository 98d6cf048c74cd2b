/** Faults in set-based functions of the database: counters, facts, queues, keys. @module */
import { type Fault, faultsIn } from '../fault.ts';

const counters = 'src/db/functions/spending-counters.sql';
const decisions = ['test/api/payments/authorizations', 'test/api/payments/stale-facts', 'test/api/payments/decision-'];

export const sqlFaults: readonly Fault[] = [
  ...faultsIn(
    'sql',
    'src/domains/treasury/ledger/seal.service.ts',
    ['test/ledger/sealing'],
    [
      {
        from: 'where j.id = t.journal_id limit 1) f',
        to: 'where j.id = t.journal_id) f',
        harm: 'each round of the sealer reads the whole book',
        named: 'however long the book is',
      },
      {
        from: 'l.account_version is null offset 0) e',
        to: 'l.account_version is null) e',
        harm: 'each round of the sealer reads the lines of the whole book',
        named: 'however long the book is',
      },
    ],
  ),
  ...faultsIn(
    'sql',
    'src/usecases/payments/expire-holds.ts',
    ['test/api/payments/decision-reads'],
    [
      {
        from: "    .orderBy('linkUntil')\n",
        to: '',
        harm: 'the sweep of confirms reads all payments once a minute',
        named: 'reads no other payments',
      },
    ],
  ),
  ...faultsIn(
    'sql',
    counters,
    ['test/api/payments/spending-counters'],
    [
      {
        from: "filter (where d.day = (p_at at time zone 'UTC')::date), 0)::bigint as today,",
        to: "filter (where d.day >= (p_at at time zone 'UTC')::date - 1), 0)::bigint as today,",
        harm: 'yesterday counts for the limit of today',
      },
      {
        from: "where d.day >= date_trunc('month', p_at at time zone 'UTC')\n",
        to: "where d.day >= (p_at at time zone 'UTC')::date - 30\n",
        harm: 'the monthly limit is a limit of 31 days',
      },
      {
        from: "and d.day < date_trunc('month', p_at at time zone 'UTC') + interval '1 month'",
        to: "and d.day <= (p_at at time zone 'UTC')::date",
        harm: 'two charges about midnight that are decided in the other order pass the limit of the month',
        tests: ['test/api/payments/edges-of-days', 'test/api/payments/spending-counters'],
      },
      {
        from: 'select coalesce((select array_append(c.earlier_card_ids, c.id) from cards c where c.id = p_card), array[p_card]) as ids',
        to: 'select array[p_card] as ids',
        harm: 'a card that is replaced gets its limits anew',
        tests: ['test/api/cards/card-rotate'],
      },
      {
        from: "and x.status not in ('failed', 'denied', 'cancelled') order by x.created_at desc limit 1",
        to: 'order by x.created_at desc limit 1',
        harm: 'a transfer that was refused begins the cooldown',
        tests: ['test/api/treasury/transfers.intents'],
      },
      {
        from: '      and i.transfer_id is null\n      -- One that an open machine payment',
        to: '      -- One that an open machine payment',
        harm: 'an intent that a transfer pays for counts twice against the limits',
        tests: ['test/api/treasury/transfers.intents'],
      },
    ],
  ),
  ...faultsIn('sql', 'src/db/functions/load-authorizations.sql', decisions, [
    {
      from: 'and x.matched_transaction_id is null and x.transfer_id is null\n          -- While a payment',
      to: 'and x.matched_transaction_id is null\n          -- While a payment',
      harm: 'an intent that a transfer pays for is charged as well',
      tests: ['test/api/treasury/transfers.intents'],
    },
    {
      from: 'and (x.expires_at > q.at or x.open_payment_id is not null)\n          and (x.open_payment_id is null or k.token',
      to: 'and (x.open_payment_id is null or k.token',
      harm: 'an intent past its deadline is charged before its workflow ends it',
    },
    {
      from: "'is_used', t.authorized_at is not null,",
      to: "'is_used', false,",
      harm: 'a machine payment’s credential is charged twice',
      tests: ['test/api/payments/mpp-authorizations', 'test/api/payments/payment-tokens'],
    },
    {
      from: "'is_used', t.status in ('paid', 'declined'), 'is_expired', false,",
      to: "'is_used', t.status = 'declined', 'is_expired', false,",
      harm: 'a checkout’s token is charged twice',
      tests: ['test/api/payments/payment-tokens'],
    },
  ]),
  ...faultsIn(
    'sql',
    'src/db/functions/atomic-writes.sql',
    ['test/api/treasury/fund.api', 'test/ledger/funding-batches'],
    [
      {
        from: "where k.reserved_at > now() - interval '24 hours'\n$$;",
        to: '$$;',
        harm: 'a key is never forgotten',
      },
      {
        from: "or k.request_hash <> i.key ->> 'requestHash'\n        then 'conflict'",
        to: "then 'conflict'",
        harm: 'another request with a used key gets the first one’s answer',
      },
    ],
  ),
  ...faultsIn(
    'sql',
    'src/db/functions/claim-runs.sql',
    ['test/workflows/operator/relay-fairness', 'test/workflows/operator/relay-wakes'],
    [
      {
        from: 'select workflow, owner_id, greatest(1, most / count(*) over (partition by workflow)) as most from owners',
        to: 'select workflow, owner_id, most from owners',
        harm: 'a batch has many times the rows that it is to have, and their claims run out',
        tests: ['test/workflows/operator/relay-fairness'],
      },
      {
        from: "v_take := 'wanted_wake = false, waking_until = ' || v_lease || ', ' || v_note_rescue;",
        to: "v_take := 'wanted_wake = false, waking_until = null, ' || v_note_rescue;",
        harm: 'a wake whose sender dies is lost',
        tests: ['test/workflows/operator/relay-wakes'],
      },
    ],
  ),
  ...faultsIn(
    'sql',
    'src/db/functions/purge-audit-addresses.sql',
    ['test/ledger/least-privilege'],
    [
      {
        from: "least(p_before, now() + make_interval(secs => offset_ms / 1000.0) - interval '90 days')",
        to: 'p_before',
        harm: 'client addresses of young audit rows are erased',
      },
    ],
  ),
  ...faultsIn(
    'sql',
    'src/usecases/payments/read-for-minting.ts',
    ['test/api/payments/read-for-minting'],
    [
      {
        from: 'and (r.agent_id is null or r.agent_id = $3)',
        to: 'and r.agent_id = $3',
        harm: 'a rule of the owner for every agent does not keep a payment from a merchant that it denies',
      },
      {
        from: "where (m.id = $4 or m.slug = $4) and m.status = 'active' limit 1",
        to: 'where (m.id = $4 or m.slug = $4) limit 1',
        harm: 'a suspended merchant is paid',
      },
      {
        from: 'where k.thumbprint = $5 and k.proven_at is not null limit 1',
        to: 'where k.thumbprint = $5 limit 1',
        harm: 'who registers the key of another merchant is named as the payee',
      },
    ],
  ),
];
