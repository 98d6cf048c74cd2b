/**
 * Goal: who waits for a record hears its notification, and only its own; what was notified before the wait, or while
 * nothing was heard, is not missed. Method: real PostgreSQL; the waits have limits so long that one which ends was
 * notified.
 * @module
 */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { type Notices, openNotices } from '../../src/db/notices.ts';
import { hour } from '../../src/kernel/instant.ts';
import { eventually } from '../support/world.ts';

const server = `${process.env.TEST_PG}postgres`;
const channel = 'bursar_test_notices';
const applicationName = 'bursar-test-notices';
let direct: pg.Client;
let notices: Notices;
beforeAll(async () => {
  direct = new pg.Client({ connectionString: server });
  await direct.connect();
});
afterEach(() => notices.close());
afterAll(() => direct.end());

/** Watches begin before anything is heard, in the same turn. */
function open(longestUnheardMs = hour): Notices {
  const log = { debug: () => undefined };
  notices = openNotices({ url: server, channel, applicationName, log, longestMs: hour, longestUnheardMs });
  return notices;
}
const notify = (id: string) => direct.query('select pg_notify($1, $2)', [channel, id]);

test('a wait begun before anything is heard ends when the connection listens, and the next one with the notification', async () => {
  const watch = open().watch('one');
  await watch.next(hour); // Listening begins: the row may have changed before.
  const next = watch.next(hour);
  await notify('one');
  await next;
  watch.end();
});

test('a notification between two waits ends the second one at once; that of another record ends none', async () => {
  const { watch } = open();
  const [one, other] = [watch('one'), watch('other')];
  await Promise.all([one.next(hour), other.next(hour)]);
  let ofOther = 0;
  const otherHeard = other.next(hour).then(() => {
    ofOther += 1;
  });
  await notify('nobody');
  await notify('one');
  await one.next(hour);
  await notify('one');
  await one.next(hour);
  expect(ofOther).toBe(0);
  await notify('other');
  await otherHeard;
  one.end();
  other.end();
});

test('two who wait for one record are told both, and one that has ended takes nothing from the other', async () => {
  const { watch } = open();
  const [first, second] = [watch('one'), watch('one')];
  await Promise.all([first.next(hour), second.next(hour)]);
  const both = [first.next(hour), second.next(hour)];
  await notify('one');
  await Promise.all(both);
  first.end();
  const rest = second.next(hour);
  await notify('one');
  await rest;
  second.end();
});

test('a wait ends by its own limit where nothing is notified', async () => {
  const watch = open().watch('one');
  await watch.next(hour);
  await watch.next(1);
  watch.end();
});

test('when the connection is lost, all that wait are told; until there is another one, a wait ends by its limit', async () => {
  const watch = open(1).watch('one');
  await eventually(
    async () => (await sessions()).length,
    (count) => count === 1,
  );
  for (const { pid } of await sessions()) await direct.query('select pg_terminate_backend($1)', [pid]);
  await notify('one'); // Not heard.
  for (let waits = 0; waits < 3; waits++) await watch.next(hour);
  watch.end();
});

const sessions = async (): Promise<{ pid: number }[]> =>
  (
    await direct.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = $1 and query like 'listen%' and state = 'idle'`,
      [applicationName],
    )
  ).rows;
