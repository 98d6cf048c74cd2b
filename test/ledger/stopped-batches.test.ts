/**
 * Batches that are stopped in the middle by locks that a test holds: the process that wrote one is killed inside it, and
 * a deadlock with another transaction. Each item takes effect once.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { eventually } from '../support/world.ts';
import { type Book, openBook } from './book.ts';
import { type Move, moveIn } from './moves.ts';

const program = fileURLToPath(new URL('dying-funder.ts', import.meta.url));

let book: Book;
let watching: pg.Client;
const clients: pg.Client[] = [];
beforeAll(async () => {
  book = await openBook();
  watching = await aClient();
  // A batch then stands where the test stops it, instead of giving way after a quarter of a second.
  await book.asOwner('alter function fund_wallets(jsonb) reset lock_timeout');
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await book.close();
});

const accountOf = (walletId: string): string => `wallet:${walletId}:available`;

async function aClient(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: book.ownerUrl, application_name: 'locks' });
  await client.connect();
  clients.push(client);
  return client;
}

/** A transaction that holds the account of a wallet until it is rolled back. */
async function holding(walletId: string): Promise<pg.Client> {
  const client = await aClient();
  await client.query('begin');
  const { rowCount } = await client.query('select from ledger_accounts where name = $1 for update', [
    accountOf(walletId),
  ]);
  expect(rowCount).toBe(1);
  return client;
}

/** So many connections of that name wait for a lock. */
const areWaiting = (application: string, count: number) =>
  eventually(
    async () => {
      const text = `select query from pg_stat_activity
        where datname = current_database() and application_name = $1 and wait_event_type = 'Lock'`;
      return (await watching.query(text, [application])).rows;
    },
    (waiting) => waiting.length === count,
  );

/** Wallets in the order in which their accounts are locked, each with an account and money in it. */
async function fundedWallets(count: number) {
  const { ownerId, walletId } = await book.owner();
  const wallets: string[] = [walletId];
  while (wallets.length < count) wallets.push(await book.wallet(ownerId));
  wallets.sort();
  for (const [n, to] of wallets.entries()) {
    await moveIn(book.database, { ownerId, to, amountCents: 1_000, key: `opens ${n}` });
  }
  return { ownerId, wallets };
}

const storedOf = async (ownerId: string, wallets: readonly string[]) => {
  const [counts] = await book.rows(
    `select (select count(*)::int from fundings where owner_id = $1) as fundings,
       (select count(*)::int from journals where owner_id = $1) as journals,
       (select count(*)::int from events where owner_id = $1 and name = 'wallet.funded') as events,
       (select count(*)::int from audit where owner_id = $1) as audits,
       (select count(*)::int from idempotency where owner_id = $1) as keys`,
    [ownerId],
  );
  const balances = await book.rows(
    `select balance_cents::int as cents from unnest($1::text[]) with ordinality w (name, n)
     join ledger_accounts a using (name) order by w.n`,
    [wallets.map(accountOf)],
  );
  return { ...counts, balances: balances.map(({ cents }) => cents) };
};

const counted = (n: number) => ({ fundings: n, journals: n, events: n, audits: n, keys: n });

test.each(['committed', 'rolled back'])(
  'a process is killed inside a batch that is %s afterwards: the repeats find or make each item once',
  async (end) => {
    const { ownerId, wallets } = await fundedWallets(3);
    const [first, from, to] = wallets as [string, string, string];
    const alone: Move = { ownerId, to: first, amountCents: 1, key: 'alone' };
    // All that there is, so that a repeat that did not wait for the first call would be refused.
    const moves = Array.from(
      { length: 20 },
      (_, n): Move => ({ ownerId, from, to, amountCents: 50, key: `batch ${n}` }),
    );
    const [before, inside] = [await holding(first), await holding(from)];

    // The first item is a batch alone; those that come meanwhile are the next one.
    const child = spawn(process.execPath, [program, book.url, JSON.stringify([alone, ...moves])], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const answered = linesOf(child);
    await areWaiting('dying-funder', 1);
    await before.query('rollback');
    await eventually(
      async () => answered.join(),
      (text) => text === 'alone',
    );
    await areWaiting('dying-funder', 1);
    child.kill('SIGKILL');
    await once(child, 'exit');

    // The callers repeat while the statement of the dead process still runs.
    const repeats = moves.map((move) => moveIn(book.database, move));
    await areWaiting('book', 1);
    if (end === 'rolled back') {
      await book.asOwner(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'dying-funder'`,
      );
    }
    await inside.query('rollback');
    const replayed = (await Promise.all(repeats)).filter(({ isReplayed }) => isReplayed);
    // The dead statement was first at every lock.
    if (end === 'rolled back') expect(replayed).toHaveLength(0);
    else expect(replayed).toHaveLength(moves.length);
    expect(answered).toEqual(['alone']);
    expect(await storedOf(ownerId, wallets)).toEqual({ ...counted(3 + 1 + 20), balances: [1_001, 0, 2_000] });
  },
);

test('a batch that is the victim of a deadlock is repeated, and each item takes effect once', async () => {
  const { ownerId, wallets } = await fundedWallets(4);
  const [a, b, c, z] = wallets as [string, string, string, string];
  const [holdsB, holdsC, holdsZ] = [await holding(b), await holding(c), await holding(z)];
  // So that only the batch looks for the deadlock, which is there before it waits.
  await holdsC.query(`set local deadlock_timeout = '1h'`);

  const alone = moveIn(book.database, { ownerId, to: z, amountCents: 1, key: 'alone' });
  await areWaiting('book', 1);
  const ring = [
    [a, b],
    [b, c],
    [c, a],
  ] as const;
  const moves = Array.from({ length: 21 }, (_, n) => {
    const [from, to] = ring[n % 3] as readonly [string, string];
    return moveIn(book.database, { ownerId, from, to, amountCents: 1 + (n % 3), key: `ring ${n}` });
  });
  await holdsZ.query('rollback');
  await alone;
  await areWaiting('book', 1); // It has a, and waits for b.
  // For the table, which the batch has for writing: who waits for it gets it before the repeat of the batch, whereas the
  // repeat may lock a row again before the one that waited for it has woken up.
  const crossing = holdsC.query('lock table ledger_accounts in exclusive mode');
  await areWaiting('locks', 1);
  await holdsB.query('rollback'); // It has a and b, and waits for c, whose holder waits for the table.
  await crossing; // The batch has given way.
  await holdsC.query('rollback');

  const done = await Promise.all(moves);
  expect(done.filter(({ isReplayed }) => isReplayed)).toEqual([]);
  expect(await storedOf(ownerId, wallets)).toEqual({
    ...counted(4 + 1 + 21),
    balances: [1_000 - 7 + 21, 1_000 + 7 - 14, 1_000 + 14 - 21, 1_001],
  });
  await eventually(
    () => book.rows('select deadlocks::int from pg_stat_database where datname = current_database()'),
    ([stat]) => stat?.deadlocks === 1,
  );
});

function linesOf(child: ChildProcess): string[] {
  const lines: string[] = [];
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => lines.push(...chunk.trim().split('\n')));
  return lines;
}
