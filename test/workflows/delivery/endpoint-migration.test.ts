/**
 * Goal: an installation that had one workflow run for each delivery continues to deliver. Method: a database
 * of the migrations before 0410, with processes of the old kind, and then the migration itself.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';

const migration = '0410-webhook-endpoints.sql';
const folder = new URL('../../../src/db/migrations/', import.meta.url);
const database = `t_${randomUUID().replaceAll('-', '')}`;
const base = process.env.TEST_PG ?? '';

let client: pg.Client;
beforeAll(async () => {
  const admin = new pg.Client(`${base}postgres`);
  await admin.connect();
  await admin.query(`create database ${database} template template0`);
  await admin.end();
  client = new pg.Client(`${base}${database}`);
  await client.connect();
  const before = (await readdir(folder)).filter((file) => file.endsWith('.sql') && file < migration).sort();
  for (const file of before) await client.query(await readFile(new URL(file, folder), 'utf8'));
});
afterAll(() => client.end());

type Waiting = { id: string; webhook: string; status: string; attempts: number; due: string };

const subscription = (id: string) =>
  client.query(
    `insert into webhooks (id, owner_id, url, events, status, sealed_secret, hint, assumed_plan, created_at, updated_at)
     values ($1, 'own_a', 'https://hooks.example.com', '{*}', 'active', 'sealed', '…', 'enterprise', now(), now())`,
    [id],
  );

const delivery = async ({ id, webhook, status, attempts, due }: Waiting) => {
  await client.query(
    `insert into webhook_deliveries (id, webhook_id, owner_id, event_id, event, plan, status, attempts_made, claims,
       lease_until, next_attempt_at, created_at)
     values ($1, $2, 'own_a', 'evt_1', 'policy.created', 'enterprise', $3, $4, $4 + 1,
       case when $3 = 'delivering' then now() + interval '30 s' end,
       case when $3 in ('pending', 'delivering') then $5::timestamptz end, '2026-11-20T08:00:00Z')`,
    [id, webhook, status, attempts, due],
  );
  if (attempts === 0) return;
  await client.query(
    `insert into processes (id, workflow, subject_id, owner_id, stage, is_open, due_at, started_epoch, wanted_wake, created_at)
     values ('webhook-delivery/' || $1, 'webhookDelivery', $1, 'own_a', 'retrying', $2,
       case when $2 then $3::timestamptz end, 'an-epoch', true, '2026-11-20T08:00:00Z')`,
    [id, status === 'pending' || status === 'delivering', due],
  );
};

test('old processes are closed, and each subscription with waiting deliveries gets one', async () => {
  for (const id of ['wh_failing', 'wh_fresh', 'wh_done']) await subscription(id);
  const rows: Waiting[] = [
    { id: 'whd_1', webhook: 'wh_failing', status: 'pending', attempts: 1, due: '2026-11-20T09:00:00Z' },
    { id: 'whd_2', webhook: 'wh_failing', status: 'pending', attempts: 3, due: '2026-11-20T08:30:00Z' },
    { id: 'whd_3', webhook: 'wh_failing', status: 'delivering', attempts: 2, due: '2026-11-20T08:10:00Z' },
    { id: 'whd_4', webhook: 'wh_fresh', status: 'pending', attempts: 0, due: '2026-11-20T08:00:00Z' },
    { id: 'whd_5', webhook: 'wh_done', status: 'dead', attempts: 5, due: '2026-11-20T08:00:00Z' },
  ];
  for (const row of rows) await delivery(row);

  await client.query(await readFile(new URL(migration, folder), 'utf8'));

  const { rows: old } = await client.query(
    `select count(*)::int as count, bool_or(is_open or wanted_wake) as due from processes where workflow = 'webhookDelivery'`,
  );
  expect(old).toEqual([{ count: 4, due: false }]);
  const { rows: made } = await client.query(
    `select id, workflow, subject_id, owner_id, stage, is_open, due_at, started_epoch, wanted_wake from processes
     where workflow <> 'webhookDelivery'`,
  );
  expect(made).toEqual([
    {
      id: 'webhook-endpoint/wh_failing',
      workflow: 'webhookEndpoint',
      subject_id: 'wh_failing',
      owner_id: 'own_a',
      stage: 'retrying',
      is_open: true,
      due_at: new Date('2026-11-20T08:10:00Z'),
      started_epoch: null,
      wanted_wake: false,
    },
  ]);
});
