/**
 * A seeded history of transfers to bank accounts on a whole installation: orders of an owner and an agent, repeats, lost
 * answers, decisions and recalls (two at once), incoming credits, files of the bank that come again and in another order,
 * files that contradict what is known, and moves of the clock, while processes and servers are killed. The checks that
 * follow are in `transfer-checks.ts`.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: part of Node since 22.5, which the linter does not list yet.
import { DatabaseSync } from 'node:sqlite';
import { endToEndIdOf } from '../../src/domains/treasury/sepa/end-to-end-id.rules.ts';
import type { Id } from '../../src/kernel/ids.ts';
import { day, hour } from '../../src/kernel/instant.ts';
import { type Random, randomFrom } from '../load/random.ts';
import { freshReference, notificationOf, sendBankFile } from '../support/bank-files.ts';
import { anIban } from '../support/factories/beneficiaries.ts';
import type { ChildName, Installation } from '../support/installation.ts';
import { eventually, type Owner } from '../support/world.ts';
import {
  type Answer,
  type Call,
  callAs,
  type Figures,
  isAnswering,
  playWithDeaths,
  type Course as Steps,
  succeed,
} from './deaths.ts';

const fundedEuros = 50_000;
const budgetEuros = 10_000;
/** What the sandbox's bank answers to the payee check is at the end of the name. */
const names = [
  'Erika Muster',
  'Office Supplies',
  'Jane Doe',
  'Anna CLOSE',
  'Anna NOMATCH',
  'Anna NOCHECK',
  'Anna SILENT',
];

export type History = {
  readonly site: Installation;
  readonly owner: Owner;
  readonly agentToken: string;
  readonly iban: string;
  readonly beneficiaryIds: readonly string[];
};
export type Course = Steps & { readonly deaths: number };

export const ownerCall = ({ site, owner }: Pick<History, 'site' | 'owner'>): Call =>
  callAs(site, { Authorization: `Bearer ${owner.key}` });

export async function openHistory(site: Installation): Promise<History> {
  const owner = await site.owner();
  const call = ownerCall({ site, owner });
  const { walletId } = await succeed(call('POST', '/fund', { amountEuros: fundedEuros }));
  const { iban } = await succeed(call('GET', `/wallets/${walletId}`));
  const { id: agentId } = await succeed(call('POST', '/agents', { name: 'Bookkeeper' }));
  await succeed(call('POST', `/agents/${agentId}/fund`, { amount: budgetEuros }));
  const limits = { dailyLimitEuros: 100_000, monthlyLimitEuros: 1_000_000, requireIntent: false };
  await succeed(call('PATCH', `/policies/agent/${agentId}`, limits));
  const { token } = await succeed(call('POST', `/agents/${agentId}/tokens`, { scopes: ['*', 'transfers.write'] }));
  const beneficiaryIds: string[] = [];
  for (const name of names) {
    const made = await succeed(call('POST', '/beneficiaries', { name, iban: anIban(), agentsMayPay: true }));
    beneficiaryIds.push(String(made.id));
  }
  return { site, owner, agentToken: String(token), iban: String(iban), beneficiaryIds };
}

export async function playHistory(history: History, course: Course): Promise<Figures> {
  const from = performance.now();
  const play = player(history);
  const victims = victimsOf(randomFrom(course.seed), course.deaths);
  const played = await playWithDeaths(history.site, course, victims, async (random) => {
    // A step that meets a dead API, or one without its database, is none.
    await isAnswering(history.site, '/wallets', { Authorization: `Bearer ${history.owner.key}` });
    await play.step(random);
  });
  return { ...played, ...play.figures(), tookMs: performance.now() - from };
}

const everything: readonly ChildName[] = ['worker', 'api', 'sandbox', 'postgres', 'temporal'];
const mostly: readonly ChildName[] = ['worker', 'worker', 'worker', 'api', 'sandbox'];

/** The supervisor waits longer and longer for what keeps dying, so the servers die in every third round only. */
function victimsOf(random: Random, count: number): ChildName[] {
  const victims: ChildName[] = [];
  for (let round = 0; victims.length < count; round++) {
    const left = [...(round % 3 === 0 ? everything : mostly)];
    while (left.length > 0) victims.push(...left.splice(random.below(left.length), 1));
  }
  return victims.slice(0, count);
}

type Found = { readonly id: Id<'transfer'>; readonly stage: string; readonly cents: number };

function player({ site, owner, agentToken, iban, beneficiaryIds }: History) {
  const call = ownerCall({ site, owner });
  const agent = callAs(site, { Authorization: `Bearer ${agentToken}` });
  const orders: { readonly by: Call; readonly body: object; readonly key: string }[] = [];
  const did: Record<string, number> = {};
  const refusals: Record<string, string> = {};
  const count = (what: string, answer?: Answer) => {
    did[what] = (did[what] ?? 0) + 1;
    if (answer !== undefined && answer.status >= 400) refusals[what] ??= String(answer.body.error);
  };

  const order = async (random: Random): Promise<void> => {
    const isAgents = random.chance(0.3);
    const to = { name: random.pick(names), iban: anIban() };
    const payee = isAgents || random.chance(0.6) ? { beneficiaryId: random.pick(beneficiaryIds) } : { to };
    const reference = random.pick(['Invoice', 'Invoice', 'Invoice', 'FAIL', 'RETURN', 'SILENT']);
    const scheme = random.pick(['instant', 'instant', 'batch']);
    const amountEuros = (100 + random.below(8_900)) / 100;
    const metadata = { order: randomUUID() };
    const made = {
      by: isAgents ? agent : call,
      body: { ...payee, amountEuros, scheme, metadata, reference: `${reference} ${orders.length}` },
      key: randomUUID(),
    };
    orders.push(made);
    await send(random, made, 'order');
    if (random.chance(0.15)) await send(random, made, 'order repeated');
  };

  const send = async (random: Random, { by, body, key }: (typeof orders)[number], what: string): Promise<void> => {
    const withinMs = random.chance(0.3) ? 20 + random.below(300) : 15_000;
    const answer = await by('POST', '/transfers', body, { key, withinMs });
    count(`${what} ${answer.status === 0 ? 'lost' : answer.status}`, answer);
  };

  const repeat = async (random: Random): Promise<void> => {
    if (orders.length > 0) await send(random, random.pick(orders.slice(-30)), 'order repeated');
  };

  /** The newest fifty; none while PostgreSQL is away. */
  const found = (where: string): Promise<Found[]> =>
    site
      .sql<Found>(
        `select id, stage, amount_cents::int as cents from transfers
         where type = 'sepa' and owner_id = $1 and ${where} order by id desc limit 50`,
        [owner.ownerId],
      )
      .catch(() => []);

  /** One or two decisions at once. */
  const decide = async (random: Random): Promise<void> => {
    const waiting = await found(`stage = 'pending_approval'`);
    if (waiting.length === 0) return order(random);
    const { id } = random.pick(waiting);
    const wanted = random.pick([['approve'], ['approve'], ['approve', 'approve'], ['approve', 'deny'], ['deny']]);
    const asked = wanted.map(async (decision) => {
      const answer = await call('POST', `/transfers/${id}/${decision}`, {});
      count(`${wanted.join(' and ')}: ${decision} ${answer.status}`, answer);
    });
    await Promise.all(asked);
  };

  /** Or recall. */
  const cancel = async (random: Random): Promise<void> => {
    const some = await found('true');
    if (some.length === 0) return order(random);
    const { id } = random.pick(some.slice(0, 15));
    const asked = Array.from({ length: 1 + random.below(2) }, () => call('POST', `/transfers/${id}/cancel`, {}));
    for (const answer of await Promise.all(asked)) count(`cancel ${answer.status}`, answer);
  };

  const tell = async (what: string, xml: string): Promise<void> => {
    const target = { apiUrl: site.apiUrl, networkKey: site.ready.networkKey };
    const answer = await sendBankFile(target, xml).catch(() => undefined);
    count(`${what} ${answer?.status ?? 'lost'}`);
  };

  /** Some of the bank's files, again and in any order. */
  const repeatFiles = async (random: Random): Promise<void> => {
    const files = sandboxRows<{ xml: string }>(site, 'select xml from bank_files order by seq desc limit 40');
    if (files.length === 0) return order(random);
    for (let times = 1 + random.below(3); times > 0; times--) await tell('file again', random.pick(files).xml);
  };

  /** A debit of what was never sent, or of another amount: nothing may move. */
  const contradict = async (random: Random): Promise<void> => {
    const [never, other] = [
      await found(`stage in ('denied', 'expired', 'cancelled') or (stage = 'rejected' and send_until is null)`),
      await found(`stage not in ('requested', 'approved')`),
    ];
    const isNever = never.length > 0 && random.chance(0.6);
    const about = isNever ? never : other;
    if (about.length === 0) return order(random);
    const { id, cents } = random.pick(about);
    const amount = ((isNever ? cents : cents + 1) / 100).toFixed(2);
    const entry = { amount, endToEndId: endToEndIdOf(id), reference: freshReference() };
    const line = random.chance(0.5)
      ? ({ ...entry, direction: 'DBIT' } as const)
      : ({ ...entry, direction: 'CRDT', returnReason: 'AC04' } as const);
    await tell(`contradiction: ${line.direction}`, notificationOf([line], iban));
  };

  const credit = async (random: Random): Promise<void> => {
    const answer = await fetch(`${site.sandboxUrl}/bank/credits`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() },
      body: JSON.stringify({ iban, amountCents: 1 + random.below(10_000), reference: 'a credit' }),
    }).catch(() => undefined);
    count(`credit ${answer?.status ?? 'lost'}`);
  };

  const moveClock = async (random: Random): Promise<void> => {
    const moved = await site.advance(random.pick([hour, 6 * hour, day])).then(
      () => 'done',
      () => 'lost',
    );
    count(`clock ${moved}`);
  };

  const kinds = (
    [
      [38, order],
      [6, repeat],
      [22, decide],
      [10, cancel],
      [10, repeatFiles],
      [6, contradict],
      [3, credit],
      [5, moveClock],
    ] as const
  ).flatMap(([weight, run]) => Array.from({ length: weight }, () => run));

  return {
    figures: () => ({ did, refusals }),
    step: (random: Random): Promise<void> => random.pick(kinds)(random),
  };
}

/** Of the bank's own book. */
export function sandboxRows<Row>({ dir }: Pick<Installation, 'dir'>, sql: string): Row[] {
  const book = new DatabaseSync(join(dir, 'sandbox.sqlite'), { readOnly: true, timeout: 5_000 });
  try {
    return book.prepare(sql).all() as Row[];
  } finally {
    book.close();
  }
}

/** The stages of what the bank never says anything about are left out. */
const isSilent = `remittance like 'SILENT%'`;

/** Nothing is under way: neither side has anything to do before the clock moves. */
export async function isQuiet({ site }: History, withinMs = 120_000): Promise<void> {
  await site.isWell();
  await eventually(
    async () => {
      const { now } = (
        await callAs(site, { 'X-Dashboard-Secret': site.ready.dashboardSecret })('GET', '/sandbox/clock')
      ).body;
      const [ours] = await site.sql<Record<string, number>>(
        `select count(*) filter (where stage in ('requested', 'approved'))::int as unsent,
           count(*) filter (where stage = 'sending' and not ${isSilent})::int as sending,
           count(*) filter (where recall_outcome = 'asking')::int as asking,
           count(*) filter (where stage = 'pending_approval' and expires_at <= $1
             or stage = 'settled' and closed_at is null and return_window_ends_at <= $1)::int as due,
           (select count(*)::int from workflow_runs where wanted_wake) as wakes,
           (select count(*)::int from unsealed_journals) as unsealed
         from transfers where type = 'sepa'`,
        [now],
      );
      const [bank] = sandboxRows<Record<string, number>>(
        site,
        `select (select count(*) from bank_files where is_taken = 0) as files,
           (select count(*) from bank_entries where file_id is null) as entries,
           (select count(*) from bank_steps where done = 0 and coalesce(due_at_ms, 0) <= ${Date.parse(String(now))}) as steps`,
      );
      return { ...ours, ...bank, lost: (await lostSubmissions(site)).length };
    },
    (left) => Object.values(left).every((many) => many === 0),
    withinMs,
  );
}

/** Marked, but not at the bank: the run learns that by asking. */
async function lostSubmissions(site: Installation): Promise<string[]> {
  const known = sandboxRows<{ id: string }>(site, 'select end_to_end_id as id from bank_payments').map(({ id }) => id);
  const sending = await site.sql<{ id: Id<'transfer'> }>(`select id from transfers where stage = 'sending'`);
  return sending.map(({ id }) => endToEndIdOf(id)).filter((id) => !known.includes(id));
}

const open = `type = 'sepa' and closed_at is null
  and stage not in ('returned', 'recalled', 'rejected', 'denied', 'expired', 'cancelled')`;

/** The time for everything has come: only what the bank is silent about is still open. */
export async function isSettled(history: History): Promise<void> {
  const { site } = history;
  for (let round = 0; round < 8; round++) {
    await isQuiet(history);
    const left = await site.sql(`select id from transfers where ${open} and not ${isSilent}`);
    if (left.length === 0) return;
    await site.advance(5 * day);
  }
  const left = await site.sql(`select id, stage, scheme, remittance from transfers where ${open} and not ${isSilent}`);
  throw new Error(`${left.length} transfers do not end: ${JSON.stringify(left.slice(0, 5))}`);
}
