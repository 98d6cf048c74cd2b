/**
 * Goal: what the network moves for an unknown card is booked once, seen by an operator, and ends on a payment or in
 * the operator's fees, so that the books agree with the network at each step. Method: messages of unknown cards over HTTP,
 * settled by the command, also twice, in parallel, in other orders, and where they cannot be; forged rows.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { runCommand } from '../../../src/main/cli.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import { type Authorized, aPayer, balancesOf, differencesOf, type Payer } from '../../support/payments-world.ts';
import type { World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

async function bursar(...args: string[]): Promise<{ code: number; said: string }> {
  const said: string[] = [];
  const code = await runCommand(['network', ...args], { DATABASE_URL: world.config.DATABASE_URL }, (text) =>
    said.push(text),
  );
  return { code, said: said.join('') };
}

/** In the operator's book, of this message alone. */
async function operatorsBook(id: string): Promise<Record<string, number>> {
  const found = await world.sql<{ account: string; cents: number }>(
    `select split_part(l.account, ':own_', 1) as account, sum(l.amount_cents)::int as cents
     from journals j join ledger_entries l on l.journal_id = j.id
     where j.owner_id = 'own_operator' and j.reference_id = $1 group by 1 having sum(l.amount_cents) <> 0 order by 1`,
    [id],
  );
  return Object.fromEntries(found.map(({ account, cents }) => [account, cents]));
}
const auditOf = (subjectId: string, action: string) =>
  world.sql<{ actor: string; details: unknown }>(
    'select actor, details from audit where subject_id = $1 and action = $2',
    [subjectId, action],
  );
const eventsOf = async (transactionId: string) =>
  (
    await world.sql<{ kind: string }>('select kind from transaction_events where transaction_id = $1 order by seq', [
      transactionId,
    ])
  ).map(({ kind }) => kind);

/** A statement of a migration, run again. */
async function migrated(file: string, statement: RegExp): Promise<void> {
  const text = await readFile(new URL(`../../../src/db/migrations/${file}`, import.meta.url), 'utf8');
  await world.sql(statement.exec(text)?.[0] ?? 'the migration has no such statement');
}

/** A clearing of 7.00 from an unknown card, and the payer whose card an operator will find it to be. */
async function suspended(over: Record<string, unknown> = {}) {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const strange: Payer = { ...payer, cardRef: `cr_${randomUUID()}` };
  const clearing = { id: `clr_${randomUUID()}`, authorizationId: `auth_${randomUUID()}`, amountCents: 700, ...over };
  expect(await network.clear(strange, clearing)).toEqual({ status: 200, body: { transactionId: null } });
  return { payer, strange, clearing, name: `clearing/${clearing.id}` };
}

test('a clearing is listed and in suspense once; assigned to a card, its holder pays, and the network is told', async () => {
  const { payer, strange, clearing, name } = await suspended({ final: false });
  await network.clear(strange, { ...clearing });
  expect(await operatorsBook(clearing.id)).toEqual({ 'external:cards': 700, suspense: -700 });
  expect((await bursar('messages')).said).toContain(
    `sandbox/${name}: unknown_card, 7.00 EUR, card ${strange.cardRef}, of ${clearing.authorizationId}`,
  );
  expect(await differencesOf(world)).toEqual([]);

  const answers = await Promise.all([1, 2, 3].map(() => bursar('assign', name, 'the card of a backup', payer.cardId)));
  expect(answers.map(({ code }) => code)).toEqual([0, 0, 0]);
  const [, transactionId = ''] = /booked \S+ on (tx_\w+)/.exec(answers.map(({ said }) => said).join('')) ?? [];
  expect(answers.filter(({ said }) => said === `booked ${name} on ${transactionId}\n`)).toHaveLength(1);
  expect(await operatorsBook(clearing.id)).toEqual({});
  expect(await balancesOf(world, payer)).toEqual({ available: 4_300, held: 0, receivable: 0 });
  expect((await bursar('messages')).said).not.toContain(clearing.id);
  expect(await network.clear(strange, clearing)).toEqual({ status: 200, body: { transactionId } });
  expect(await auditOf(transactionId, 'network_message.assigned')).toEqual([
    {
      actor: 'command',
      details: {
        ...{ kind: 'clearing', networkId: clearing.id, misfit: 'unknown_card', amountCents: 700 },
        reason: 'the card of a backup',
      },
    },
  ]);

  // What follows finds the payment, also under the reference that nobody has.
  const { authorizationId } = clearing;
  expect((await network.clear(strange, { authorizationId, amountCents: 300 })).body).toEqual({ transactionId });
  expect((await network.refund(strange, { authorizationId, amountCents: 100 })).status).toBe(200);
  expect(await balancesOf(world, payer)).toEqual({ available: 4_100, held: 0, receivable: 0 });
  const [row] = await world.sql('select status, cleared_cents::int as cleared from transactions where id = $1', [
    transactionId,
  ]);
  expect(row).toEqual({ status: 'completed', cleared: 1_000 });
});

test('the authorization that comes after an assignment is declined like any of that card, with one answer', async () => {
  const { payer, strange, clearing, name } = await suspended();
  expect((await bursar('assign', name, 'found', payer.cardId)).code).toBe(0);
  const message = network.authorizationOf(strange, { id: clearing.authorizationId });
  const first = await network.send<Authorized>('authorizations', message);
  expect(first).toMatchObject({ status: 200, body: { decision: 'declined', rule: 'unknown_card' } });
  expect(await network.send('authorizations', message)).toEqual(first);
  expect((await network.send('authorizations', { ...message, amountCents: 9 })).status).toBe(409);
  expect(await balancesOf(world, payer)).toEqual({ available: 4_300, held: 0, receivable: 0 });
});

test('a reversal that waits for the payment is booked with it, and ends it', async () => {
  const { payer, strange, clearing, name } = await suspended({ final: false, amountCents: 1_250 });
  const reversal = { id: `rev_${randomUUID()}`, authorizationId: clearing.authorizationId };
  await network.reverse(strange, reversal);
  expect((await bursar('messages')).said).toContain(reversal.id);
  const { said } = await bursar('assign', name, 'found', payer.cardId);
  expect((await bursar('messages')).said).not.toContain(reversal.id);
  const [, transactionId = ''] = /on (tx_\w+)/.exec(said) ?? [];
  expect(await eventsOf(transactionId)).toEqual(['clearing', 'reversal']);
  const [row] = await world.sql('select status, held_cents::int as held from transactions where id = $1', [
    transactionId,
  ]);
  expect(row).toEqual({ status: 'completed', held: 0 });
  expect(
    await world.sql('select id from network_messages where is_waiting and card_ref = $1', [strange.cardRef]),
  ).toEqual([]);
});

test('dismissed, it is written off once: the operator bears it, and the network gets its answer as before', async () => {
  const { payer, strange, clearing, name } = await suspended();
  const answers = await Promise.all([1, 2].map(() => bursar('dismiss', name, 'the network will not take it back')));
  expect(answers.map(({ said }) => said).sort()).toEqual([
    `${name} was dismissed before; nothing was changed\n`,
    `dismissed ${name}: it is booked on no payment\n`,
  ]);
  expect(await operatorsBook(clearing.id)).toEqual({ 'external:cards': 700, fees: -700 });
  expect(await auditOf(name, 'network_message.dismissed')).toEqual([
    {
      actor: 'command',
      details: {
        ...{ kind: 'clearing', networkId: clearing.id, misfit: 'unknown_card', writtenOffCents: 700 },
        reason: 'the network will not take it back',
      },
    },
  ]);
  expect(await bursar('assign', name, 'after all', payer.cardId)).toEqual({
    ...{ code: 1, said: `the clearing ${clearing.id} was dismissed\n` },
  });
  expect(await network.clear(strange, clearing)).toEqual({ status: 200, body: { transactionId: null } });
  expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
});

test('a refund goes to the holder that the operator names, or stays with the operator', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const strange: Payer = { ...payer, cardRef: `cr_${randomUUID()}` };
  const [given, kept] = [`ref_${randomUUID()}`, `ref_${randomUUID()}`];
  for (const id of [given, kept]) expect((await network.refund(strange, { id, amountCents: 400 })).status).toBe(200);
  expect(await operatorsBook(given)).toEqual({ 'external:cards': -400, suspense: 400 });
  expect((await bursar('assign', `refund/${given}`, 'found', payer.cardId)).code).toBe(0);
  expect((await bursar('dismiss', `refund/${kept}`, 'nobody asks for it')).code).toBe(0);
  expect(await operatorsBook(given)).toEqual({});
  expect(await operatorsBook(kept)).toEqual({ 'external:cards': -400, fees: 400 });
  expect(await balancesOf(world, payer)).toEqual({ available: 5_400, held: 0, receivable: 0 });
});

test('an advice of such a card moved nothing: it is listed, and can only be dismissed', async () => {
  const payer: Payer = { ...(await aPayer(world)), cardRef: `cr_${randomUUID()}` };
  const id = `adv_${randomUUID()}`;
  expect((await network.advise(network.authorizationOf(payer), { id })).body).toEqual({ transactionId: null });
  expect((await bursar('messages')).said).toContain(`advice/${id}: unknown_card, 12.50 EUR, card ${payer.cardRef}`);
  expect(await bursar('assign', `advice/${id}`, 'x', payer.cardId)).toMatchObject({ code: 1 });
  expect((await bursar('dismiss', `advice/${id}`, 'the card was never ours')).code).toBe(0);
  expect(await operatorsBook(id)).toEqual({});
});

test('a reversal of such a card is listed until it is dismissed: then no payment gets it any more', async () => {
  const { payer, strange, clearing, name } = await suspended({ final: false });
  const { authorizationId } = clearing;
  const id = `rev_${randomUUID()}`;
  const first = await network.reverse(strange, { id, authorizationId });
  expect(first).toEqual({ status: 200, body: { transactionId: null } });
  expect((await bursar('messages')).said).toContain(
    `sandbox/reversal/${id}: unknown_card, all that is left, card ${strange.cardRef}, of ${authorizationId}`,
  );
  expect(await differencesOf(world)).toEqual([]);
  expect((await bursar('assign', `reversal/${id}`, 'found', payer.cardId)).said).toBe(
    `the reversal ${id} cannot be assigned: nothing is held for ${authorizationId}; assign a clearing of it, which takes this along, or dismiss it\n`,
  );
  expect((await bursar('dismiss', `reversal/${id}`, 'the card was never ours')).code).toBe(0);
  expect((await bursar('messages')).said).not.toContain(id);
  expect(await network.reverse(strange, { id, authorizationId })).toEqual(first);
  const { said } = await bursar('assign', name, 'found', payer.cardId);
  const [, transactionId = ''] = /on (tx_\w+)/.exec(said) ?? [];
  expect(await eventsOf(transactionId)).toEqual(['clearing']);
});

test('a reversal of a card that becomes known waits for its authorization alone, as it did before', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const message = network.authorizationOf(payer);
  await world.sql(`update cards set card_ref = card_ref || '_soon' where id = $1`, [payer.cardId]);
  const id = `rev_${randomUUID()}`;
  await network.reverse(payer, { id, authorizationId: message.id });
  // As an earlier version left it.
  await world.sql('update network_messages set unbooked_reason = null where id = $1', [id]);
  await migrated('1099-reversals-of-nobody.sql', /^update network_messages m set[^;]+;/m);
  expect((await bursar('messages')).said).toContain(id);
  await world.sql('update cards set card_ref = $2 where id = $1', [payer.cardId, payer.cardRef]);
  const { body } = await network.send<Authorized>('authorizations', message);
  expect([body.decision, body.rule]).toEqual(['declined', 'reversed_before']);
  expect((await bursar('messages')).said).not.toContain(id);
  expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
});

test('a clearing of 0 has moved nothing, and waits for nobody', async () => {
  const { clearing } = await suspended({ amountCents: 0 });
  expect((await bursar('messages')).said).not.toContain(clearing.id);
  expect(await operatorsBook(clearing.id)).toEqual({});
});

test('what cannot be assigned so says why, and stays in suspense', async () => {
  const { payer, strange, clearing, name } = await suspended();
  const { id } = clearing;
  const other = await aPayer(world);
  const said = async (...args: string[]) => (await bursar('assign', name, 'found', ...args)).said;
  expect(await said()).toBe(`the clearing ${id} is of ${strange.cardRef}, which is not known: name a card\n`);
  expect(await said('ca_nobodyscard')).toBe('no card ca_nobodyscard\n');
  expect(await said('7.00')).toBe(`the clearing ${id} is in EUR and names its amount: name none\n`);
  for (const wrong of ['pc_card', 'ca_', `${payer.cardId} `])
    expect(await bursar('assign', name, 'found', wrong)).toMatchObject({ code: 2 });
  await world.sql('update cards set is_provisioning = true where id = $1', [other.cardId]);
  expect(await said(other.cardId)).toBe(`no card ${other.cardId}\n`);
  expect(await operatorsBook(id)).toEqual({ 'external:cards': 700, suspense: -700 });
  // Its card became known: then it is of that card, and none has to be named.
  await world.sql('update cards set card_ref = $2, is_provisioning = false where id = $1', [
    other.cardId,
    strange.cardRef,
  ]);
  expect(await said(payer.cardId)).toBe(`the clearing ${id} is of card ${other.cardId}, not of ${payer.cardId}\n`);
  expect(await said()).toMatch(/^booked clearing/);
  expect((await balancesOf(world, other)).available).toBe(99_300);
});

test('a second clearing in suspense goes to the payment of the first, and to no other card', async () => {
  const { payer, strange, clearing, name } = await suspended({ final: false });
  const second = { id: `clr_${randomUUID()}`, authorizationId: clearing.authorizationId, amountCents: 200 };
  await network.clear(strange, second);
  await bursar('assign', name, 'found', payer.cardId);
  const other = await aPayer(world);
  expect((await bursar('assign', `clearing/${second.id}`, 'found', other.cardId)).code).toBe(1);
  expect((await bursar('assign', `clearing/${second.id}`, 'found')).code).toBe(0);
  expect(await balancesOf(world, payer)).toEqual({ available: 4_100, held: 0, receivable: 0 });
  expect(await operatorsBook(second.id)).toEqual({});
});

test('a card that names no holder of the message is refused where the message waits for something else', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const message = network.authorizationOf(payer);
  await network.send('authorizations', message);
  const clearing = { id: `clr_${randomUUID()}`, authorizationId: message.id, cardRef: `cr_${randomUUID()}` };
  expect((await network.clear(payer, clearing)).status).toBe(409);
  expect(await bursar('assign', `clearing/${clearing.id}`, 'found', payer.cardId)).toEqual({
    ...{ code: 1, said: `the clearing ${clearing.id} does not wait for a card: name none\n` },
  });
  await bursar('dismiss', `clearing/${clearing.id}`, 'the end of the test');
});

test('what came before there was a list is found by its journal, and settled like any', async () => {
  const { payer, strange, clearing, name } = await suspended();
  const refundId = `ref_${randomUUID()}`;
  await network.refund(strange, { id: refundId, amountCents: 300 });
  const ids = [clearing.id, refundId];
  // As an earlier version left them.
  await world.sql('update network_messages set unbooked_reason = null, body = null where id = any ($1)', [ids]);
  await migrated('1098-cards-of-nobody.sql', /^update network_messages m set[^;]+;/m);
  expect((await bursar('messages')).said).toContain(`refund/${refundId}: unknown_card, 3.00 EUR`);
  expect((await bursar('assign', name, 'found', payer.cardId)).code).toBe(0);
  expect((await bursar('assign', `refund/${refundId}`, 'found', payer.cardId)).code).toBe(0);
  expect(await balancesOf(world, payer)).toEqual({ available: 4_600, held: 0, receivable: 0 });
});

test.each([
  ['settled without its journal', `settled_as = 'dismissed', settled_reason = 'forged', settled_at = now()`],
  ['of another amount', `body = jsonb_set(body, '{amountCents}', '900')`],
])('reconciliation finds a message %s', async (_what, change) => {
  const { clearing, name } = await suspended();
  const [before] = await world.sql<{ row: object }>('select to_jsonb(m) as row from network_messages m where id = $1', [
    clearing.id,
  ]);
  await world.sql(`update network_messages set ${change} where id = $1`, [clearing.id]);
  expect(await differencesOf(world)).toMatchObject([['network messages of unknown cards', { id: clearing.id }]]);
  await world.sql(
    `update network_messages m set (body, settled_as, settled_reason, settled_at) =
       (select r.body, r.settled_as, r.settled_reason, r.settled_at from jsonb_populate_record(m, $2::jsonb) r) where id = $1`,
    [clearing.id, JSON.stringify(before?.row)],
  );
  expect((await bursar('dismiss', name, 'the end of the test')).code).toBe(0);
});
