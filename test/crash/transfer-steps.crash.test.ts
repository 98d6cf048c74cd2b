/**
 * Goal: between any two steps of a bank transfer the worker may die, and Temporal may lose its database with transfers in
 * every state; each is submitted once at most, and each run comes to its end. Method: a whole installation; its own steps
 * bring each transfer into its state, where PostgreSQL keeps it (`transfer-stops.ts`).
 * @module
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { day, hour } from '../../src/kernel/instant.ts';
import { anIban } from '../support/factories/beneficiaries.ts';
import { type Installation, startInstallation } from '../support/installation.ts';
import { eventually } from '../support/world.ts';
import { type Call, succeed } from './deaths.ts';
import { differencesOf } from './transfer-checks.ts';
import { type History, isQuiet, openHistory, ownerCall, sandboxRows } from './transfer-history.ts';
import { openTransferStops, type StoppedAt, type TransferStops } from './transfer-stops.ts';

let site: Installation;
let history: History;
let stops: TransferStops;
let call: Call;

beforeAll(async () => {
  site = await startInstallation();
  history = await openHistory(site);
  stops = await openTransferStops(site);
  call = ownerCall(history);
}, 300_000);
afterAll(() => site?.stop(), 60_000);

type Order = { readonly payee?: string; readonly scheme?: 'instant' | 'batch' };

/** A reference names one transfer of this file. */
const order = async (
  reference: string,
  { payee = 'Erika Muster', scheme = 'instant' }: Order = {},
): Promise<string> => {
  const body = { to: { name: payee, iban: anIban() }, amountEuros: 10, scheme, reference };
  return String((await succeed(call('POST', '/transfers', body))).id);
};
const decide = (id: string, decision: 'approve' | 'cancel') => call('POST', `/transfers/${id}/${decision}`, {});

const stages = async (ids: readonly string[]): Promise<Record<string, string>> =>
  Object.fromEntries(
    (
      await site.sql<{ reference: string; stage: string }>(
        'select reference, stage from transfers where id = any($1) order by reference',
        [ids],
      )
    ).map(({ reference, stage }) => [reference, stage]),
  );
const become = (ids: readonly string[], wanted: Readonly<Record<string, string>>) =>
  eventually(
    () => stages(ids),
    (found) => Object.entries(wanted).every(([reference, stage]) => found[reference] === stage),
    150_000,
  );
const areTrue = (sql: string, ids: readonly string[]) =>
  eventually(
    () => site.sql(`select id from transfers where id = any($1) and ${sql}`, [ids]),
    (rows) => rows.length === ids.length,
    150_000,
  );
const submissions = (): Record<string, number> =>
  Object.fromEntries(
    sandboxRows<{ remittance: string; times: number }>(
      site,
      'select remittance, submissions as times from bank_payments',
    ).map(({ remittance, times }) => [remittance, times]),
  );

test('a worker that is killed between any two steps: each transfer ends, and is submitted once at most', async () => {
  const near = { payee: 'Anna CLOSE' } as const;
  const names = [
    ['checked', 'approved', {}],
    ['asks a person', 'pending_approval', near],
    ['marked', 'sending', {}],
    ['answered', 'submitted', { scheme: 'batch' }],
    ['heard', 'accepted', {}],
  ] as const satisfies readonly (readonly [string, StoppedAt, Order])[];
  const decided = await order('decided', near);
  const [silent, recalled, closed] = [await order('SILENT'), await order('recalled'), await order('closed')];
  await become([decided, silent, recalled, closed], {
    decided: 'pending_approval',
    SILENT: 'sending',
    recalled: 'settled',
    closed: 'settled',
  });

  // First what a person and a new transfer set going, then what the time does.
  for (const [reference, at] of names) await stops.waits(reference, at);
  await stops.waits('decided', 'approved');
  await stops.waits('recalled', 'recall requested');
  const fresh: string[] = [];
  for (const [reference, , how] of names) fresh.push(await order(reference, how));
  const approving = decide(decided, 'approve');
  expect((await decide(recalled, 'cancel')).status).toBe(200);
  await stops.areWaiting(names.length + 2);
  await site.kill('worker');
  await stops.end();
  expect([200, 503]).toContain((await approving).status);
  await become(fresh, {
    checked: 'settled',
    'asks a person': 'pending_approval',
    marked: 'settled',
    answered: 'accepted',
    heard: 'settled',
  });
  if ((await stages([decided])).decided === 'pending_approval')
    expect((await decide(decided, 'approve')).status).toBe(200);
  await become([decided], { decided: 'settled' });
  await areTrue(`recall_outcome = 'requested'`, [recalled]);

  const expiring = fresh[1] ?? '';
  await stops.waits('SILENT', 'reminded');
  await stops.waits('closed', 'window closed');
  await stops.waits('asks a person', 'expired');
  await site.advance(9 * day);
  await stops.areWaiting(3);
  await site.kill('worker');
  await stops.end();
  await become([expiring], { 'asks a person': 'expired' });
  await areTrue('closed_at is not null', [closed]);
  await areTrue('reminders = 2', [silent]);
  await become([recalled], { recalled: 'recalled' });
  await become(fresh, { answered: 'settled' });

  const once = ['decided', 'SILENT', 'recalled', 'closed', 'checked', 'marked', 'answered', 'heard'];
  expect(submissions()).toEqual(Object.fromEntries(once.map((reference) => [reference, 1])));
  await isQuiet(history);
  expect(await differencesOf(history)).toEqual([]);
}, 300_000);

test('a worker that is killed with its request to the bank under way: the bank is asked, and gets nothing again', async () => {
  const id = await order('under way', { payee: 'Anna CLOSE' });
  await become([id], { 'under way': 'pending_approval' });
  await site.signal('sandbox', 'SIGSTOP');
  const approving = decide(id, 'approve');
  try {
    await become([id], { 'under way': 'sending' });
    await site.kill('worker');
  } finally {
    await site.signal('sandbox', 'SIGCONT');
  }
  expect([200, 503]).toContain((await approving).status);
  const { 'under way': ended } = await eventually(
    () => stages([id]),
    (found) => found['under way'] === 'settled' || found['under way'] === 'rejected',
    150_000,
  );
  expect(submissions()['under way']).toBe(ended === 'settled' ? 1 : undefined);
  await isQuiet(history);
  expect(await differencesOf(history)).toEqual([]);
}, 300_000);

test('a bank that cannot be reached: the payment is not sent again, and its money is back', async () => {
  await stops.waits('unreachable', 'sending');
  const id = await order('unreachable');
  await stops.areWaiting(1);
  const release = await site.holdDown('sandbox');
  try {
    await stops.end();
    await become([id], { unreachable: 'sending' });
  } finally {
    await release();
  }
  await become([id], { unreachable: 'rejected' });
  expect((await call('GET', `/transfers/${id}`)).body).toMatchObject({
    status: 'failed',
    failureReason: 'not_received',
  });
  expect(submissions()).not.toHaveProperty('unreachable');
  await isQuiet(history);
  expect(await differencesOf(history)).toEqual([]);
}, 300_000);

test("Temporal's database is lost with a transfer in each state: each run returns, and nothing is sent twice", async () => {
  await stops.fails('requested', 'approved');
  await stops.fails('approved', 'sending');
  const near = { payee: 'Anna NOMATCH' } as const;
  const waits = await order('waits', near);
  const denied = await order('cancelled', near);
  const [requested, approved] = [await order('requested'), await order('approved')];
  const [silent, accepted] = [await order('SILENT again'), await order('accepted', { scheme: 'batch' })];
  const settled = await order('settled');
  const all = [waits, denied, requested, approved, silent, accepted, settled];
  await become([denied], { cancelled: 'pending_approval' });
  await decide(denied, 'cancel');
  const before = {
    waits: 'pending_approval',
    cancelled: 'cancelled',
    requested: 'requested',
    approved: 'approved',
    'SILENT again': 'sending',
    accepted: 'accepted',
    settled: 'settled',
  };
  await become(all, before);
  const epochs = await site.sql<{ epoch: string }>(
    'select distinct started_epoch as epoch from workflow_runs where is_open and started_epoch is not null',
  );

  const release = await site.holdDown('temporal');
  try {
    for (const end of ['', '-wal', '-shm']) await rm(join(site.dir, `temporal.db${end}`), { force: true });
    expect(await stages(all)).toEqual(before);
    // What takes authority away, or only is money, needs no Temporal.
    expect((await decide(settled, 'cancel')).status).toBe(200);
  } finally {
    await stops.end();
    await release();
  }
  await become(all, { ...before, requested: 'settled', approved: 'settled' });
  expect(existsSync(join(site.dir, 'temporal.db'))).toBe(true);
  await areTrue(`recall_outcome = 'requested'`, [settled]);
  await eventually(
    () =>
      site.sql<{ epoch: string | null }>(
        `select started_epoch as epoch from workflow_runs where is_open and workflow = 'bankTransfer'`,
      ),
    (open) =>
      open.length > 0 && open.every(({ epoch }) => epoch !== null && epochs.every((one) => one.epoch !== epoch)),
    150_000,
  );

  // The runs that came back hear of people, of the bank and of the time.
  expect((await decide(waits, 'approve')).status).toBe(200);
  await become([waits], { waits: 'settled' });
  await site.advance(9 * day + hour);
  await become([accepted, settled], { accepted: 'settled', settled: 'recalled' });
  await areTrue('reminders = 2', [silent]);
  const sent = submissions();
  const once = ['waits', 'requested', 'approved', 'SILENT again', 'accepted', 'settled'];
  expect(once.map((reference) => sent[reference])).toEqual(once.map(() => 1));
  expect(sent).not.toHaveProperty('cancelled');
  await isQuiet(history);
  expect(await differencesOf(history)).toEqual([]);
}, 300_000);
