/** Faults in locks and in what a repeat or a race relies on. @module */
import { type Fault, faultsIn } from '../fault.ts';

const stale = ['test/api/payments/stale-facts'];

export const lockFaults: readonly Fault[] = [
  ...faultsIn('locks', 'src/db/functions/apply-authorization.sql', stale, [
    {
      from: "<> (v_expected ->> 'revision')::bigint then perform stale('spending'); end if;",
      to: "< 0 then perform stale('spending'); end if;",
      harm: 'two charges at once pass a limit that has room for one',
    },
    {
      from: "if v_version is distinct from (v_expected ->> 'agentVersion')::int then perform stale('agent'); end if;",
      to: '',
      harm: 'an agent that is frozen while it is decided pays nevertheless',
    },
    {
      from: "if v_version is distinct from (v_expected ->> 'cardVersion')::int then perform stale('card'); end if;",
      to: '',
      harm: 'a card that is frozen while it is decided pays nevertheless',
    },
    {
      from: "if v_version is distinct from (v_expected ->> 'policyVersion')::int then perform stale('policy'); end if;",
      to: '',
      harm: 'a charge is decided by a policy that has changed',
    },
    {
      from: "where id = v_intent ->> 'id' and version = (v_intent ->> 'version')::int;\n    if not found then perform stale('intent'); end if;",
      to: "where id = v_intent ->> 'id';",
      harm: 'two charges at once match one intent',
    },
    {
      from: "perform stale('checkout');",
      to: 'null;',
      harm: 'a payment token that was declined pays for a recurring intent nevertheless',
    },
  ]),
  ...faultsIn(
    'locks',
    'src/usecases/payments/authorize-card.ts',
    ['test/api/payments/lock-waits'],
    [
      {
        from: 'await writeWithin(deps.database, mostWaitMs, ask)()',
        to: 'await deps.database.write(ask)',
        harm: 'a decline is not answered while another change holds its agent',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/usecases/payments/within-lock-wait.ts',
    ['test/api/payments/lock-waits'],
    [
      {
        from: 'await waitForLocks(tx, leftMs);',
        to: '',
        harm: 'authorizations of a locked wallet keep connections of the pool for as long as the lock',
        named: 'increment: 503',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/domains/payments/transactions/booking.others.service.ts',
    ['test/api/payments/advices'],
    [
      {
        from: '  await cancelRequests(tx, [{ row, cause }]);\n',
        to: '',
        harm: 'one purchase is paid twice: by the network’s approval, and after a person has approved it',
      },
      {
        from: 'told.filter(({ row }) => row.clearedCents > 0),',
        to: '[],',
        harm: 'one purchase is paid twice: by what was collected, and after a person has approved it',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/db/functions/locks.sql',
    ['test/api/payments/advices'],
    [
      {
        from: ' and t.approved_cents = 0\n',
        to: '\n',
        harm: 'the clearing of another payment uses up what a person has approved for a declined charge',
        named: 'an earlier payment of the same amount',
      },
    ],
  ),
  ...faultsIn('locks', 'src/usecases/spending/request-approval.ts', stale, [
    {
      from: 'if (declinedCharges === 0) return;',
      to: '',
      harm: 'a person is asked about a charge that the network has approved already',
    },
  ]),
  ...faultsIn(
    'locks',
    'src/db/functions/apply-authorizations.sql',
    ['test/api/payments/decision-batches'],
    [
      {
        from: 'join agent_spending s on s.agent_id = q.agent and s.revision = q.revision',
        to: 'join agent_spending s on s.agent_id = q.agent',
        harm: 'two charges in two batches pass a limit that has room for one',
      },
      {
        from: 'join cards c on c.id = q.card and c.version = q.card_version',
        to: 'join cards c on c.id = q.card',
        harm: 'a card that is frozen while its batch is decided pays nevertheless',
      },
      {
        from: 'join intents i on i.id = q.intent and i.version = q.version',
        to: 'join intents i on i.id = q.intent',
        harm: 'charges in two batches match one intent',
        tests: ['test/api/payments/stale-facts', 'test/api/payments/decision-batches'],
      },
      {
        from: 'where q.asked_cents <= l.balance_cents);',
        to: 'where true);',
        harm: 'one item without money ends its whole batch',
      },
      {
        from: "set is_open = r.is_open and not (m.value ->> 'isFinal')::boolean, wanted_wake = true,",
        to: "set is_open = r.is_open and not (m.value ->> 'isFinal')::boolean,",
        harm: 'the run of a matched intent says until the clearing that the intent expires',
      },
      {
        from: 'for no key update skip locked);\n    v_fresh := array(select n from unnest(v_fresh) n\n      where i_hold',
        to: 'for no key update);\n    v_fresh := array(select n from unnest(v_fresh) n\n      where i_hold',
        harm: 'a locked wallet takes strangers out of its batch',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/usecases/payments/present-credential.ts',
    ['test/api/payments/mpp-payment-steps'],
    [
      {
        from: 'if (claimed === undefined) return mppPaymentOf(deps.database.read(), paymentId);\n    if (isTooLate(claimed, new Date()))',
        to: 'if (claimed !== undefined && isTooLate(claimed, new Date()))',
        harm: 'two attempts at once send the credential of a machine payment',
        named: 'of steps that come at once and again',
      },
      {
        from: "if (isTooLate(claimed, new Date())) return withhold(deps, claimed, lateForSending, causeOf('refuse'));",
        to: '',
        harm: 'a worker that stood still sends a credential whose outcome was settled meanwhile',
        named: 'stood still',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/usecases/payments/decide-batch.ts',
    ['test/api/payments/decision-batches'],
    [
      {
        from: 'if (before.hasPaid(one.facts)) return { again: `agent/${one.facts.agent.id}` };',
        to: '',
        harm: 'two charges of one agent in one batch pass a limit that has room for one',
      },
      {
        from: "if (left !== one.facts && written.decision.outcome !== 'approved')",
        to: 'if (Date.now() === 0)',
        harm: 'a payment is declined for money that another one did not take',
      },
      {
        from: 'const left = before.leftOf(one.facts);',
        to: 'const left = one.facts;',
        harm: 'payments of one wallet in one batch are decided by the same money',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/db/lanes.ts',
    ['test/platform/lanes'],
    [
      {
        from: '!keys.has(one.key) && !groups.has(one.group);',
        to: '!groups.has(one.group);',
        harm: 'a message and its repeat are decided at once',
      },
      {
        from: 'one.until = Number.POSITIVE_INFINITY;',
        to: '',
        harm: 'an authorization that has begun is refused as late',
      },
      {
        from: 'one.group = outcome.again;',
        to: '',
        harm: 'one busy agent with several cards fills every batch',
      },
      {
        from: 'one.until = one.untilAgain;',
        to: '',
        harm: 'an authorization that collides with others waits without limit',
        named: 'as long again',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/usecases/payments/decide-authorization.ts',
    ['test/api/payments/authorizations'],
    [
      {
        from: "if (decision !== 'declined' || transactionId === null) return { answer };",
        to: 'if (decision.length > 0) return { answer };',
        harm: 'a person is never asked about a charge where the process died after the decision',
        named: 'a repeat asks',
      },
      {
        from: 'later(received.cause.at, -personDecidesMs)',
        to: 'new Date(0)',
        harm: 'a message that is repeated days later asks about a charge of then',
        named: 'a repeat asks',
      },
      {
        from: '  if (asked > 0) return;\n',
        to: '',
        harm: 'each repeat of a message asks a person again',
        named: 'a repeat asks',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/db/functions/lock-accounts.sql',
    ['test/ledger/posting', 'test/ledger/least-privilege', 'test/ledger/killed'],
    [
      {
        from: "perform 1 from ledger_accounts a where a.name = any(v_new) and (a.name like 'owner:%') = v_is_receivable\n      order by a.name for no key update;",
        to: 'null;',
        harm: 'two journals at once spend the same money',
      },
      {
        from: "if v_bad is not null then\n    raise exception 'account % is of another owner', v_bad using errcode = 'BL003';\n  end if;\n  if v_held",
        to: 'if v_held',
        harm: 'a journal moves the money of another owner',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/db/functions/fund-plainly.sql',
    ['test/ledger/funding-batches', 'test/api/treasury/fund.api', 'test/ledger/stopped-batches'],
    [
      {
        from: 'perform from ledger_accounts a where a.name = any(v_names) order by a.name for no key update;',
        to: 'perform from ledger_accounts a where a.name = any(v_names) order by a.name desc for no key update;',
        harm: 'a batch and a posting wait for each other until one is ended',
        tests: ['test/ledger/funding-batches'],
        named: 'holds none that comes after it',
      },
      {
        from: 'bool_and(l.at >= l.latest) and min(l.after) >= 0 and',
        to: 'bool_and(l.at >= l.latest) and',
        harm: 'a wallet is overdrawn in a batch',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/domains/payments/mpp-credentials/mpp-credential.rules.ts',
    ['test/rules/payments'],
    [
      {
        from: 'consumed: [],',
        to: "consumed: ['consume'],",
        harm: 'a credential is used twice',
      },
      {
        from: 'expiresAt.getTime() <= now.getTime();',
        to: 'expiresAt.getTime() + 60_000 <= now.getTime();',
        harm: 'a credential is used after its end',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/http/idempotency.ts',
    ['test/api/platform/idempotency'],
    [
      {
        from: 'if (row.isLeased) throw stillRunning();',
        to: '',
        harm: 'two requests with one key run at once',
        tests: ['test/api/platform/edge'],
        named: 'a request that lost its lease',
      },
      {
        from: 'row.method === method && paths.includes(row.path) && row.requestHash === hashOf(rawBody);',
        to: 'row.method === method && paths.includes(row.path);',
        harm: 'another body with a used key gets the first one’s answer',
      },
      {
        from: '`delete from idempotency where ${leased} and status is null`',
        to: "`delete from idempotency where ${leased.replace(' and lease_token = $5', ' and $5 is not null')} and status is null`",
        harm: 'a slow refused request removes the reservation of the one that took it over',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/db/group-commit.ts',
    ['test/platform/group-commit'],
    [
      {
        from: 'if (waiting() >= mostWaiting) return failed',
        to: 'if (waiting() >= mostWaiting * 1_000) return failed',
        harm: 'a burst fills the memory of the process',
      },
      {
        from: "gone?.addEventListener('abort', giveUp, { once: true });",
        to: '',
        harm: 'what a client that left was waiting for is written nevertheless',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/platform/assert-limit.ts',
    ['test/api/security/limits.api'],
    [
      {
        from: "if (!isLocked) await runSql(tx, 'select lock_limit($1, $2, $3)', [limitNames[0], ownerId, subject]);",
        to: 'void isLocked;',
        harm: 'two creations at once pass a limit that has room for one',
        named: 'of 40 agent_tokens',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/usecases/payments/expire-holds.ts',
    ['test/api/payments/hold-sweep'],
    [
      {
        from: '      await waitForLocks(tx, lockWaitMs);',
        to: '',
        harm: 'one row that is locked for long keeps all other holds from being given back',
        named: 'a lock that is kept for long',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/http/atomic.ts',
    ['test/api/treasury/fund.lost-answers'],
    [
      {
        from: 'endsLostSession: true',
        to: 'endsLostSession: false',
        harm: 'a transfer that was refused is made later, by a statement that arrives late',
        named: 'what arrives after',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/db/database.ts',
    ['test/api/oversight/trace'],
    [
      {
        from: 'isolationLevel: IsolationLevel.REPEATABLE_READ,',
        to: 'isolationLevel: IsolationLevel.READ_COMMITTED,',
        harm: 'a trace shows an intent of before a clearing with its payment of after it',
        named: 'of one moment',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/db/silent-connections.ts',
    ['test/platform/silent-connections'],
    [
      {
        from: 'seen.idle = idle?.has(client) === true ? seen.idle + 1 : 0;',
        to: '',
        harm: 'a request whose answer was lost waits for a quarter of an hour',
        named: 'whose answer is lost ends',
      },
      {
        from: "coalesce(state like 'idle%' or wait_event_type = 'Client', false)",
        to: 'true',
        harm: 'a statement that takes long rightly is cut in its middle',
        named: 'is not cut',
      },
      {
        from: 'if (seen.idle > 0) void endSession',
        to: 'if (seen.idle > 1_000) void endSession',
        harm: 'the locks of a transaction whose connection was cut are kept for a minute',
        named: 'the locks of a transaction',
      },
    ],
  ),
  ...faultsIn(
    'locks',
    'src/db/sessions.ts',
    ['test/platform/silent-connections'],
    [
      {
        from: 'await answeredWithin(client, withinMs, client.query<Session>(begin))',
        to: 'await client.query<Session>(begin)',
        harm: 'a connection that falls silent at its begin keeps a place of the pool for ever',
        named: 'keeps no place in the pool',
      },
    ],
  ),
];
