/** The chain against a real PostgreSQL: sealed in order by one at a time, and every way of tampering is found. @module */

import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { runSql } from '../../src/db/statement.ts';

import { available, external, held, wallet } from '../../src/domains/treasury/ledger/account.rules.ts';
import { type Checkpoint, keyIdOf, makeCheckpoint } from '../../src/domains/treasury/ledger/checkpoint.rules.ts';
import { writeCheckpoint } from '../../src/domains/treasury/ledger/checkpoint.service.ts';
import { checkpointFolder } from '../../src/domains/treasury/ledger/checkpoint.store.ts';
import { verifyCheckpoints } from '../../src/domains/treasury/ledger/checkpoint.verify.service.ts';
import { sealedAfter } from '../../src/domains/treasury/ledger/journal.queries.ts';
import { authorization, internalTransfer } from '../../src/domains/treasury/ledger/ledger.rules.ts';
import { postJournals } from '../../src/domains/treasury/ledger/ledger.service.ts';
import { genesis, sealOf } from '../../src/domains/treasury/ledger/seal.rules.ts';
import { sealJournals } from '../../src/domains/treasury/ledger/seal.service.ts';
import { runSealer } from '../../src/domains/treasury/ledger/sealer.ts';
import { createLogger } from '../../src/platform/log.ts';
import { verifyOwner } from '../../src/usecases/treasury/verify-owner.ts';
import { type Book, because, draft, openBook } from './book.ts';

let book: Book;
let folder: string;
let key: KeyObject;
let ownerId: string;
let walletId: string;
let otherWallet: string;

beforeAll(async () => {
  key = generateKeyPairSync('ed25519').privateKey;
});
beforeEach(async () => {
  book = await openBook();
  folder = await mkdtemp(join(tmpdir(), 'bursar-checkpoints-'));
  ({ ownerId, walletId } = await book.owner());
  otherWallet = await book.wallet(ownerId);
  await book.fund(ownerId, walletId, 10_000);
  for (let n = 0; n < 9; n++) await transfer(100);
});
afterEach(async () => {
  await book.close();
  await rm(folder, { recursive: true, force: true });
});

const transfer = (amountCents: number) =>
  book.post(
    ownerId,
    'internal_transfer',
    internalTransfer({ fromWalletId: walletId, toWalletId: otherWallet, amountCents }),
  );
const store = () => checkpointFolder(folder);
const checkpoint = () => book.database.write((tx) => writeCheckpoint(tx, { key, store: store() }));
const verify = (full = true) =>
  verifyOwner(book)(ownerId, { full, publicKeys: new Map([[keyIdOf(key), createPublicKey(key)]]) });
const verifyFiles = () => verifyCheckpoints(book.database, store(), new Map([[keyIdOf(key), createPublicKey(key)]]));

/** As an attacker with the database's password. */
async function tamper(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: book.ownerUrl });
  await client.connect();
  try {
    await client.query('set session_replication_role = replica');
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

test('every journal is sealed once, in an order without gaps, and the book is whole before and after', async () => {
  expect(await verify()).toEqual({
    balanced: true,
    journals: 10,
    records: [],
    sealedThrough: 0,
    unsealed: 10,
    checkedFrom: 0,
    differences: [],
  });
  expect(await book.database.write((tx) => sealJournals(tx, 4))).toBe(4);
  expect(await verify()).toMatchObject({ balanced: true, journals: 10, sealedThrough: 4, unsealed: 6 });
  expect(await book.database.write((tx) => sealJournals(tx))).toBe(6);
  expect(await book.database.write((tx) => sealJournals(tx))).toBe(0);
  expect(await verify()).toMatchObject({
    balanced: true,
    journals: 10,
    sealedThrough: 10,
    unsealed: 0,
    differences: [],
  });
});

test('several sealers beside parallel postings of several owners keep one gapless chain each', async () => {
  const owners = await Promise.all(Array.from({ length: 4 }, () => book.owner()));
  const elsewhere = await book.elsewhere();
  const posted = new AbortController();
  const sealers = [book.database, elsewhere, elsewhere].map(async (database) => {
    while (!posted.signal.aborted) await database.write((tx) => sealJournals(tx, 7));
  });
  await Promise.all(
    Array.from({ length: 120 }, async (_, n) => {
      const owner = owners[n % owners.length]!;
      await book.fund(owner.ownerId, owner.walletId, 10);
    }),
  );
  posted.abort();
  await Promise.all(sealers);
  while ((await book.database.write((tx) => sealJournals(tx))) > 0);
  for (const owner of owners) {
    const verified = await verifyOwner(book)(owner.ownerId, { full: true });
    expect(verified).toMatchObject({ balanced: true, sealedThrough: 30, unsealed: 0, differences: [] });
  }
});

test('an uncommitted posting delays no other seal and is sealed after its commit', async () => {
  await book.database.write((tx) => sealJournals(tx));
  const other = await book.owner();
  const gate = Promise.withResolvers<void>();
  const slow = book.database.write(async (tx) => {
    await postJournals(tx, because('slow'), [
      draft(
        ownerId,
        'internal_transfer',
        internalTransfer({ fromWalletId: walletId, toWalletId: otherWallet, amountCents: 1 }),
        'slow',
      ),
    ]);
    await gate.promise;
  });
  await book.fund(other.ownerId, other.walletId, 5);
  expect(await book.database.write((tx) => sealJournals(tx))).toBe(1);
  gate.resolve();
  await slow;
  expect(await book.database.write((tx) => sealJournals(tx))).toBe(1);
  expect(await verify()).toMatchObject({ balanced: true, sealedThrough: 11, unsealed: 0 });
});

test('the sealer seals every journal within a second, and stops on request', async () => {
  const log = createLogger({ name: 'test', level: 'silent' });
  const sealer = runSealer({ database: book.database, log, checkpoints: { key, store: store() }, pauseMs: 20 });
  sealer.start();
  const posted = Date.now();
  while (sealer.state().sealed < 10 && Date.now() - posted < 1_000) await new Promise((r) => setTimeout(r, 5));
  expect(sealer.state().sealed).toBe(10);
  while ((await readdir(folder)).length < 2 && Date.now() - posted < 2_000) await new Promise((r) => setTimeout(r, 5));
  await sealer.stop();
  expect(sealer.state().running).toBe(false);
  await transfer(1);
  await new Promise((r) => setTimeout(r, 60));
  expect(await verify()).toMatchObject({ sealedThrough: 10, unsealed: 1 });
  expect((await verifyFiles()).differences).toEqual([]);
});

test('a check continues from the last verified checkpoint', async () => {
  await book.database.write((tx) => sealJournals(tx));
  await checkpoint();
  expect(await verify(false)).toMatchObject({ balanced: true, checkedFrom: 0, sealedThrough: 10 });
  await transfer(1);
  await book.database.write((tx) => sealJournals(tx));
  expect(await verify(false)).toMatchObject({ balanced: true, checkedFrom: 10, sealedThrough: 11, journals: 11 });
  expect(await verify(true)).toMatchObject({ balanced: true, checkedFrom: 0, sealedThrough: 11 });
});

test('a checkpoint is written only where a head moved; each file follows the one before', async () => {
  await book.database.write((tx) => sealJournals(tx));
  expect(await checkpoint()).toMatchObject({ heads: [{ ownerId, sequence: 10 }] });
  expect(await checkpoint()).toBeUndefined();
  await transfer(1);
  await book.database.write((tx) => sealJournals(tx));
  expect(await checkpoint()).toMatchObject({ heads: [{ ownerId, sequence: 11 }] });
  expect(await verifyFiles()).toEqual({ checkpoints: 2, differences: [] });
  const names = await readdir(folder);
  expect(names).toContain(`public-key-${keyIdOf(key)}.pem`);
  expect(names.filter((name) => name.endsWith('.json'))).toHaveLength(2);
});

test('a clock that was set back keeps the order of checkpoints', async () => {
  await book.database.write((tx) => sealJournals(tx));
  const keeper = { key, store: store() };
  await book.database.write((tx) => writeCheckpoint(tx, keeper, () => new Date('2030-01-01T00:00:00.000Z')));
  await transfer(1);
  await book.database.write((tx) => sealJournals(tx));
  const second = await book.database.write((tx) =>
    writeCheckpoint(tx, keeper, () => new Date('2029-01-01T00:00:00.000Z')),
  );
  expect(second?.at).toBe('2030-01-01T00:00:00.001Z');
  expect(await verifyFiles()).toEqual({ checkpoints: 2, differences: [] });
});

const last = `(select journal_id from journal_seals order by sequence desc limit 1)`;
test.each([
  [
    'an amount',
    'seal',
    `update ledger_entries set amount_cents = amount_cents * 2, balance_after_cents = null where journal_id = ${last}`,
  ],
  [
    'whose an entry is',
    'account',
    `update ledger_entries set account = 'wallet:wal_00000000000:available' where journal_id = ${last} and line = 1`,
  ],
  ['a reason', 'seal', `update journals set reference_id = 'something_else' where id = ${last}`],
  ['a time', 'seal', `update journals set created_at = created_at + interval '1 microsecond' where id = ${last}`],
  ['a seal', 'seal', `update journal_seals set hash = repeat('a', 64) where sequence = 5`],
  ['a journal taken out', 'seal', `delete from journal_seals where sequence = 5`],
  ['the end cut off', 'seal', `delete from journal_seals where sequence = 10`],
  ['a balance', 'account', `update ledger_accounts set balance_cents = balance_cents + 1 where name like 'wallet%'`],
  ['a hold', 'hold', `update ledger_accounts set balance_cents = balance_cents + 1 where name like '%held'`],
  ['a contra total', 'total', 'update contra_totals set debited_cents = debited_cents + 1'],
  [
    'a line slipped in',
    'balance',
    `insert into ledger_entries select journal_id, 7, account, 5, null, null, null, created_at from ledger_entries where journal_id = ${last} and line = 0`,
  ],
  ['a journal hidden from the sealer', 'seal', `delete from unsealed_journals`],
])('tampering with %s is found', async (what, check, statement) => {
  await book.database.write((tx) =>
    postJournals(tx, because('hold'), [
      draft(ownerId, 'authorization', authorization({ ownerId, from: wallet(walletId), amountCents: 10 }), 'hold'),
    ]),
  );
  await book.asOwner(`create or replace function open_holds(p_owner text) returns table (account text, held_cents bigint)
     language sql stable as $$ select '${held(wallet(walletId))}'::text, 10::bigint where p_owner = '${ownerId}' $$`);
  await book.database.write((tx) => sealJournals(tx));
  if (what === 'a journal hidden from the sealer') await transfer(1);
  expect(await verify()).toMatchObject({ balanced: true, differences: [] });
  await tamper(statement);
  const found = await verify();
  expect(found.balanced).toBe(false);
  expect(found.differences.map((difference) => difference.check)).toContain(check);
});

test('a text may be erased but not replaced', async () => {
  await book.database.write((tx) =>
    postJournals(tx, because('memo'), [
      {
        ...draft(
          ownerId,
          'internal_transfer',
          internalTransfer({ fromWalletId: walletId, toWalletId: otherWallet, amountCents: 1 }),
          'memo',
        ),
        memo: 'Rent for Anna',
      },
    ]),
  );
  await book.database.write((tx) => sealJournals(tx));
  expect((await verify()).differences).toEqual([]);
  await book.asOwner(`update journal_texts set memo = 'Rent for Berta'`);
  expect((await verify()).differences).toMatchObject([{ check: 'text' }]);
  await book.asOwner('delete from journal_texts');
  expect((await verify()).differences).toEqual([]);
});

test('a history that was rewritten and sealed again is detected by its checkpoint', async () => {
  await book.database.write((tx) => sealJournals(tx));
  await checkpoint();
  await rewriteHistory();
  const found = await verify();
  expect(found.differences).toEqual([
    expect.objectContaining({ check: 'checkpoint', message: expect.stringContaining('history was rewritten') }),
  ]);
  expect((await verifyFiles()).differences).toMatchObject([
    { message: expect.stringContaining('history was rewritten') },
  ]);
  // Also when the database's own copy is taken away: the file outside remains.
  await tamper('delete from ledger_checkpoints');
  expect((await verify()).differences).toEqual([]);
  expect((await verifyFiles()).differences).toMatchObject([
    { message: expect.stringContaining('history was rewritten') },
  ]);
});

test('a checkpoint forged in the database is found by its signature', async () => {
  await book.database.write((tx) => sealJournals(tx));
  await checkpoint();
  await rewriteHistory();
  await tamper(
    `update ledger_checkpoints c set hash = s.hash from journal_seals s where s.owner_id = c.owner_id and s.sequence = c.sequence`,
  );
  expect((await verify()).differences).toMatchObject([
    { check: 'checkpoint', message: 'has a signature that is not ours' },
  ]);
});

/** Right in everything but that signature: the root is computed anew and the key id is ours. */
const forged = (signature: string): string => `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;

test.each(['root', 'head'] as const)(
  'a checkpoint with a right root, our key id and a forged %s signature is found in its file',
  async (which) => {
    await book.database.write((tx) => sealJournals(tx));
    await checkpoint();
    const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.json'));
    const kept = JSON.parse(await readFile(join(folder, name), 'utf8')) as Checkpoint;
    // A stranger signs another history, and says that it was us.
    const stranger = generateKeyPairSync('ed25519').privateKey;
    const heads = kept.heads.map((head) => ({ ...head, hash: 'a'.repeat(64) }));
    const theirs = makeCheckpoint(stranger, kept.at, kept.previousRoot, heads);
    const ours = makeCheckpoint(key, kept.at, kept.previousRoot, heads);
    const mixed =
      which === 'root' ? { ...ours, rootSignature: theirs.rootSignature } : { ...ours, heads: theirs.heads };
    await writeFile(join(folder, name), JSON.stringify({ ...mixed, keyId: kept.keyId }));
    const fault =
      which === 'root' ? 'has a root signature that is not ours' : `has a signature for ${ownerId} that is not ours`;
    expect((await verifyFiles()).differences.map(({ message }) => message)).toContain(fault);
  },
);

test.each([
  ['root_signature', 'has a root signature that is not ours'],
  ['signature', 'has a signature that is not ours'],
])(
  'a checkpoint in the database with our key id and a forged %s is found, also by a check that is not in full',
  async (column, fault) => {
    await book.database.write((tx) => sealJournals(tx));
    const made = await checkpoint();
    expect(await verify(false)).toMatchObject({ balanced: true });
    const signature = column === 'signature' ? made?.heads[0]?.signature : made?.rootSignature;
    await tamper(`update ledger_checkpoints set ${column} = '${forged(signature ?? '')}'`);
    for (const full of [true, false])
      expect((await verify(full)).differences).toMatchObject([{ check: 'checkpoint', message: fault }]);
  },
);

test('a checkpoint in the database that names an unknown key is found', async () => {
  await book.database.write((tx) => sealJournals(tx));
  await checkpoint();
  await tamper(`update ledger_checkpoints set key_id = 'b000000000000000'`);
  expect((await verify()).differences).toMatchObject([
    { check: 'checkpoint', message: 'is signed by an unknown key b000000000000000' },
  ]);
});

test('a checkpoint file that was changed, signed by another, or removed is found', async () => {
  await book.database.write((tx) => sealJournals(tx));
  await checkpoint();
  await transfer(1);
  await book.database.write((tx) => sealJournals(tx));
  await checkpoint();
  const [first = ''] = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  const text = await readFile(join(folder, first), 'utf8');
  await writeFile(join(folder, first), text.replace(/"sequence": 10/, '"sequence": 9'));
  expect((await verifyFiles()).differences.map(({ message }) => message)).toContain(
    'names another root than its heads give',
  );
  await rm(join(folder, first));
  expect((await verifyFiles()).differences.map(({ message }) => message)).toEqual([
    'does not follow the file before it: one is missing or was changed',
    'is in the database but not among the files: a file is missing',
  ]);
  const stranger = generateKeyPairSync('ed25519').publicKey;
  const evaluated = await verifyCheckpoints(book.database, store(), new Map([[keyIdOf(stranger), stranger]]));
  expect(evaluated.differences[0]?.message).toMatch(/signed by an unknown key/);
});

test('only one check in full runs at a time', async () => {
  const gate = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holder = book.database.write(async (tx) => {
    await runSql(tx, 'select pg_advisory_xact_lock(8400112)');
    locked.resolve();
    await gate.promise;
  });
  await locked.promise;
  await expect(verifyOwner(book)(ownerId, { full: true, exclusive: true })).rejects.toMatchObject({
    code: 'rate_limited',
    retryAfterSeconds: 60,
  });
  expect(await verify(false)).toMatchObject({ balanced: true });
  gate.resolve();
  await holder;
});

test('debt that no over-clearing made is found', async () => {
  await book.post(ownerId, 'adjustment', [
    { account: `owner:${ownerId}:receivable` as never, amountCents: -5 as never },
    { account: available(wallet(walletId)), amountCents: 5 as never },
  ]);
  await book.database.write((tx) => sealJournals(tx));
  expect((await verify()).differences).toMatchObject([
    { check: 'receivable', message: expect.stringContaining('adjustment') },
  ]);
});

/** Ten times the first top-up, every balance after it made to fit, and the whole chain sealed again. */
async function rewriteHistory(): Promise<void> {
  const name = available(wallet(walletId));
  await tamper(
    `update ledger_entries set balance_after_cents = balance_after_cents + 90000,
       balance_before_cents = case when account_version > 1 then balance_before_cents + 90000 else balance_before_cents end
     where account = '${name}'`,
    `update ledger_entries set amount_cents = amount_cents * 10 where journal_id = (select journal_id from journal_seals where sequence = 1)`,
    `update ledger_accounts set balance_cents = balance_cents + 90000, credited_cents = credited_cents + 90000 where name = '${name}'`,
    `update contra_totals set debited_cents = debited_cents + 90000 where account = '${external('processor', ownerId)}'`,
  );
  let previous = genesis;
  for (const journal of await sealedAfter(book.database.read(), ownerId, 0, 100)) {
    previous = sealOf(previous, journal.sequence ?? 0, journal);
    await tamper(`update journal_seals set hash = '${previous}' where journal_id = '${journal.id}'`);
  }
  await tamper(`update ledger_heads set hash = '${previous}'`);
}
