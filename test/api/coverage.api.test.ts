/**
 * Goal: every published operation does what it says when it succeeds: its status, one of its events, an audit row.
 * Method: each is called over HTTP on a real installation; an operation without a call here fails the file.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type EventName, eventCatalog } from '../../src/events/catalog.ts';
import type { Operation } from '../../src/http/route.ts';
import {
  askedOf,
  type OperationsWorld,
  publishedOperations,
  send,
  startOperationsWorld,
} from '../support/published-operations.ts';

let all: OperationsWorld;
beforeAll(async () => {
  all = await startOperationsWorld();
}, 60_000);
afterAll(() => all.close());

const lastEvent = async (): Promise<number> =>
  (await all.world.sql<{ seq: string | null }>('select max(seq) as seq from events')).map(({ seq }) =>
    Number(seq ?? 0),
  )[0] ?? 0;

test('every published operation has its call here, and nothing else has', () => {
  expect(Object.keys(all.calls).sort()).toEqual(publishedOperations.map(({ name }) => name).sort());
});

// spec: events:each change fires one
// spec: token-use:API key:full access, dashboard and admin use
test.each(publishedOperations.map((one) => [one.name, one] as const))('%s', async (name, { operation, path }) => {
  const asked = await askedOf(all, name);
  const before = await lastEvent();
  const answer = await send(all, { operation, path }, asked);
  const text = await answer.text();
  expect([name, answer.status, answer.status === operation.success.status ? '' : text]).toEqual([
    name,
    operation.success.status,
    '',
  ]);
  await seesItsEvent(operation, before);
});

/** A write is seen by subscribers and in the audit trail; a read, and what is declared pure, by nobody. */
async function seesItsEvent(operation: Operation, before: number): Promise<void> {
  const since = await all.world.sql<{ name: EventName; subject_id: string }>(
    'select name, subject_id from events where seq > $1',
    [before],
  );
  if (operation.fires === undefined) return;
  const fired = since.filter(({ name }) => operation.fires?.includes(name));
  expect([operation.summary, since.map(({ name }) => name), fired.length > 0]).toEqual([
    operation.summary,
    expect.anything(),
    true,
  ]);
  const audited = await all.world.sql('select 1 from audit where subject_id = any($1)', [
    fired.map(({ subject_id }) => subject_id),
  ]);
  expect(audited.length).toBeGreaterThan(0);
}

test('every event that was sent is in the catalog and whole', async () => {
  const sent = await all.world.sql<{ name: EventName; data: Record<string, unknown> }>('select name, data from events');
  expect(new Set(sent.map(({ name }) => name)).size).toBeGreaterThan(30);
  for (const { name, data } of sent)
    expect([name, eventCatalog[name].data.safeParse(data).success]).toEqual([name, true]);
});
