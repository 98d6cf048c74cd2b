/** Goal: the version of a row rises by 1 with each update by any statement. Method: plain SQL and the API. @module */
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { anIntent, aPayer, networkOf, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld();
  payer = await aPayer(world);
  await anIntent(world, payer, { status: 'approved' });
  await networkOf(world).authorize(payer, { amountCents: 700 });
});
afterAll(async () => {
  await world.close();
});

const versionOf = async (table: string, id: string): Promise<number> => {
  const [row] = await world.sql<{ version: number }>(`select version from ${table} where id = $1`, [id]);
  return row?.version ?? Number.NaN;
};

/** The tables of which this installation has a row. */
const withRows = ['agents', 'cards', 'intents', 'transactions'];

test.each(withRows)('an update of %s raises the version by 1, whatever it sets', async (table) => {
  const [row] = await world.sql<{ id: string }>(`select id from ${table} limit 1`);
  expect(row).toBeDefined();
  const id = row?.id ?? '';
  const before = await versionOf(table, id);
  for (const change of ['updated_at = updated_at', 'version = version + 7', 'version = 1', 'updated_at = now()']) {
    const was = await versionOf(table, id);
    await world.sql(`update ${table} set ${change} where id = $1`, [id]);
    expect([change, await versionOf(table, id)]).toEqual([change, was + 1]);
  }
  expect(await versionOf(table, id)).toBe(before + 4);
});

/** The policies count their published version themselves and keep each, and the ledger's functions count the accounts. */
const countedElsewhere = ['ledger_accounts', 'policies', 'policy_versions'];

test('each other table with a version has the trigger that counts', async () => {
  const tables = await world.sql<{ table_name: string }>(
    `select table_name from information_schema.columns
     where table_schema = 'public' and column_name = 'version' order by table_name`,
  );
  const triggers = await world.sql<{ table: string }>(
    `select c.relname as table from pg_trigger t join pg_class c on c.oid = t.tgrelid
     join pg_proc p on p.oid = t.tgfoid where p.proname = 'count_version' and t.tgenabled = 'O' order by 1`,
  );
  const counted = triggers.map(({ table }) => table);
  expect(counted).toEqual(expect.arrayContaining(['card_requests', 'checkouts', 'simulations', ...withRows]));
  expect(tables.map(({ table_name }) => table_name)).toEqual([...counted, ...countedElsewhere].sort());
});

test('a change through the API counts once', async () => {
  const before = await versionOf('agents', payer.agentId);
  await payer.owner.client(agentsArea).updateAgent({ params: { id: payer.agentId }, body: { name: 'Renamed once' } });
  expect(await versionOf('agents', payer.agentId)).toBe(before + 1);
});

test('no statement counts a version itself', async () => {
  const root = new URL('../../../src/', import.meta.url);
  const files = (await readdir(root, { recursive: true })).filter((file) => /\.(ts|sql)$/.test(file));
  const counting: string[] = [];
  for (const file of files) {
    if (file.startsWith('db/migrations/') || file.startsWith('domains/treasury/ledger/')) continue;
    const text = await readFile(new URL(file, root), 'utf8');
    if (/\bversion = (\w+\.)?version \+ 1/.test(text)) counting.push(file);
  }
  expect(counting).toEqual([]);
});
