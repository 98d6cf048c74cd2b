/** The chain against a real PostgreSQL: sealed in order by one at a time, and every way of tampering is found. @module */

import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import * as z from 'zod';
import { oneRowOf, runSql } from '../../src/db/statement.ts';
import type { Tx } from '../../src/db/tx.ts';

import { available, external, held, wallet } from '../../src/domains/treasury/ledger/account.rules.ts';
import { type Checkpoint, keyIdOf, makeCheckpoint } from '../../src/domains/treasury/ledger/checkpoint.rules.ts';
import { writeCheckpoint } from '../../src/domains/treasury/ledger/checkpoint.service.ts';
import { checkpointFolder } from '../../src/domains/treasury/ledger/checkpoint.store.ts';
import { verifyCheckpoints } from '../../src/domains/treasury/ledger/checkpoint.verify.service.ts';
import { sealedAfter } from '../../src/domains/treasury/ledger/journal.queries.ts';
import { authorization, internalTransfer } from '../../src/domains/treasury/ledger/ledger.rules.ts';
import { postJournals } from '../../src/domains/treasury/ledger/ledger.service.ts';
import { faultOfProof, type Proof } from '../../src/domains/treasury/ledger/proof.rules.ts';
import { genesis, sealOfFormat1 } from '../../src/domains/treasury/ledger/seal.rules.ts';
import { sealJournals } from '../../src/domains/treasury/ledger/seal.service.ts';
import { startSealer } from '../../src/domains/treasury/ledger/sealer.ts';
import { recordChains } from '../../src/main/record-chains.ts';
import { createLogger } from '../../src/platform/log.ts';
import { leafHash, type MerkleTree } from '../../src/platform/record-chains/merkle.rules.ts';
import { proveRecord } from '../../src/usecases/treasury/prove-record.ts';
import { verifyOwner } from '../../src/usecases/treasury/verify-owner.ts';
import { sealAgain } from '../support/seal-again.ts';
import { eventually } from '../support/world.ts';
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

test('a round reads the journals that it seals, however long the book is', async () => {
  const drafts = Array.from({ length: 400 }, (_, n) =>
    draft(
      ownerId,
      'internal_transfer',
      internalTransfer({ fromWalletId: walletId, toWalletId: otherWallet, amountCents: 1 }),
      `one of many ${n}`,
    ),
  );
  await book.database.write((tx) => postJournals(tx, because('many'), drafts));
  expect(await book.database.write((tx) => sealJournals(tx))).toBeGreaterThan(400);
  await book.fund(ownerId, walletId, 1);
  for (let n = 0; n < 4; n++) await transfer(1);
  const { sealed, scanned } = await book.database.write(async (tx) => {
    const before = await rowsScanned(tx);
    return { sealed: await sealJournals(tx), scanned: (await rowsScanned(tx)) - before };
  });
  expect([sealed, scanned]).toEqual([5, 0]);
});

/** From the begins of tables, so far in this session. */
const rowsScanned = async (tx: Tx): Promise<number> => {
  const { rows } = await oneRowOf(
    tx,
    z.object({ rows: z.int() }),
    `select coalesce(sum(seq_tup_read), 0)::int as rows from pg_stat_xact_user_tables
     where relname in ('journals', 'ledger_entries')`,
  );
  return rows;
};

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

test('the sealer seals every journal, also those of later, and stops on request', async () => {
  const log = createLogger({ name: 'test', level: 'silent' });
  const sealer = startSealer({ database: book.database, log, checkpoints: { key, store: store() }, pauseMs: 20 });
  await eventually(
    async () => (await readdir(folder)).length,
    (files) => files >= 2,
  );
  expect(await verify()).toMatchObject({ sealedThrough: 10, unsealed: 0 });
  await transfer(1);
  await eventually(verify, ({ sealedThrough }) => sealedThrough === 11);
  await sealer.stop();
  await transfer(1);
  const stoppedAt = sealer.state().lastSuccessAt;
  await new Promise((r) => setTimeout(r, 60)); // Three of its pauses.
  expect(sealer.state().lastSuccessAt).toBe(stoppedAt);
  expect(await verify()).toMatchObject({ sealedThrough: 11, unsealed: 1 });
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
  ['a leaf', 'seal', `update journal_seals set leaf = repeat('a', 64) where sequence = 5`],
  [
    'when a journal was sealed',
    'seal',
    `update journal_seals set sealed_at = sealed_at - interval '1 day' where sequence = 5`,
  ],
  ['the format of a seal', 'seal', `update journal_seals set format = 1 where sequence = 5`],
  ['the tree of the head', 'seal', `update ledger_heads set frontier = repeat('a', length(frontier))`],
  [
    'two leaves that changed places',
    'seal',
    `update journal_seals a set leaf = b.leaf from journal_seals b where a.owner_id = b.owner_id
       and ((a.sequence = 4 and b.sequence = 5) or (a.sequence = 5 and b.sequence = 4))`,
  ],
  ['a journal taken out', 'seal', `delete from journal_seals where sequence = 5`],
  ['the end cut off', 'seal', `delete from journal_seals where sequence = 10`],
  ['a balance', 'account', `update ledger_accounts set balance_cents = balance_cents + 1 where name like 'wallet%'`],
  ['a hold', 'hold', `update ledger_accounts set balance_cents = balance_cents + 1 where name like '%held'`],
  ['a contra total', 'total', 'update contra_totals set debited_cents = debited_cents + 1'],
  ['a line of a statement', 'total', 'update contra_lines set debited_cents = debited_cents + 1 where number = 1'],
  ['a line left out of a statement', 'total', `delete from contra_lines where account like 'external:%'`],
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
  const tree = await rewriteHistory();
  await tamper(
    `update ledger_checkpoints c set hash = s.hash, tree_root = '${tree.root}', frontier = '${tree.frontier}' from journal_seals s where s.owner_id = c.owner_id and s.sequence = c.sequence`,
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
    const heads = kept.heads.map((head) => ({ ...head, hash: 'a'.repeat(64), treeRoot: 'b'.repeat(64) }));
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

test('seals of format 1 stay valid under seals and checkpoints of format 2', async () => {
  await book.database.write((tx) => sealJournals(tx, 4));
  await toFormat1();
  expect(await verify()).toMatchObject({ balanced: true, sealedThrough: 4, unsealed: 6 });
  await book.database.write((tx) => sealJournals(tx, 3));
  await checkpoint();
  await book.database.write((tx) => sealJournals(tx));
  await checkpoint();
  expect(await book.rows('select format, count(*)::int as count from journal_seals group by 1 order by 1')).toEqual([
    { format: 1, count: 4 },
    { format: 2, count: 6 },
  ]);
  for (const full of [true, false, false])
    expect(await verify(full)).toMatchObject({ balanced: true, differences: [] });
  expect(await verifyFiles()).toEqual({ checkpoints: 2, differences: [] });
  await tamper(
    `update journals set reference_id = 'other' where id = (select journal_id from journal_seals where sequence = 2)`,
  );
  expect((await verify()).differences).toMatchObject([{ check: 'seal', message: expect.stringMatching(/seal 2/) }]);
});

/** As an earlier version left the first seals: without leaves, and with a head that knows no tree. */
async function toFormat1(): Promise<void> {
  let previous = genesis;
  for (const journal of await sealedAfter(book.database.read(), ownerId, 0, 100)) {
    previous = sealOfFormat1(previous, journal.seal?.sequence ?? 0, journal);
    await tamper(
      `update journal_seals set format = 1, leaf = null, sealed_at = null, hash = '${previous}' where journal_id = '${journal.id}'`,
    );
  }
  await tamper(`update ledger_heads set hash = '${previous}', frontier = null`);
}

const prove = (id: string) => proveRecord({ database: book.database, chains: recordChains })(id);
const sealedIds = async (): Promise<string[]> =>
  (await book.rows('select journal_id from journal_seals order by sequence')).map((row) => String(row.journal_id));

describe('a proof of one journal', () => {
  test.each([0, 4])(
    'holds for each journal under the checkpoint that speaks for it; %i are of format 1',
    async (old) => {
      if (old > 0) await book.database.write((tx) => sealJournals(tx, old));
      if (old > 0) await toFormat1();
      await book.database.write((tx) => sealJournals(tx, 7 - old));
      await checkpoint();
      await book.database.write((tx) => sealJournals(tx));
      const ids = await sealedIds();
      await expect(prove(ids[7] ?? '')).rejects.toThrow(/no checkpoint speaks for/);
      await checkpoint();
      for (const [at, journalId] of ids.entries()) {
        const proof = await prove(journalId);
        const size = at < 7 ? 7 : 10;
        expect(proof).toMatchObject({
          chain: 'journals',
          id: journalId,
          sequence: at + 1,
          format: at < old ? 1 : 2,
          checkpoint: { size },
        });
        expect(faultOfProof(key, JSON.parse(JSON.stringify(proof)) as Proof)).toBeUndefined();
        for (const other of ids.filter((id) => id !== journalId)) expect(JSON.stringify(proof)).not.toContain(other);
      }
      await expect(prove('jr_unknown0')).rejects.toThrow(/no sealed journal/);
    },
  );

  test('does not hold for other facts, another place, size, path, checkpoint or key', async () => {
    await book.database.write((tx) => sealJournals(tx));
    await checkpoint();
    const [, , third = '', fourth = ''] = await sealedIds();
    const proof = await prove(third);
    const other = await prove(fourth);
    const { checkpoint: signed } = proof;
    const moved = proof.text.replace('2,3,', '2,4,');
    const notUnderRoot = /does not lead from its leaf to the root/;
    const notSigned = /has a checkpoint that the key did not sign/;
    const faults: [Partial<Proof>, RegExp][] = [
      [{ text: proof.text.replace('-100', '-200') }, /does not hash to its leaf/],
      [{ text: proof.text.replace('-100', '-200'), leaf: leafHash(proof.text.replace('-100', '-200')) }, notUnderRoot],
      [{ leaf: other.leaf }, /does not hash to its leaf/],
      [{ text: other.text, leaf: other.leaf }, /of another record/],
      [{ ...other, path: proof.path }, notUnderRoot],
      [{ id: fourth }, /of another record/],
      [{ chain: 'audit' }, notSigned],
      [{ ownerId: 'own_00000000' }, notSigned],
      [{ sequence: 4 }, /of another record, place/],
      [{ sequence: 4, text: moved, leaf: leafHash(moved) }, notUnderRoot],
      [{ format: 1 }, /or format/],
      [{ format: 3 }, /or format/],
      [{ path: other.path }, notUnderRoot],
      [{ path: proof.path.toReversed() }, notUnderRoot],
      [{ path: proof.path.slice(1) }, /a path of 3 hashes; .* there are 4/],
      [{ path: proof.path.slice(0, -1) }, /a path of 3 hashes; .* there are 4/],
      [{ path: [...proof.path, 'a'.repeat(64)] }, /a path of 5 hashes; .* there are 4/],
      [{ checkpoint: { ...signed, size: 9 } }, notSigned],
      [{ checkpoint: { ...signed, treeRoot: 'a'.repeat(64) } }, notSigned],
      [{ checkpoint: { ...signed, head: 'a'.repeat(64) } }, notSigned],
      [{ checkpoint: { ...signed, at: '2026-03-02T10:00:00.000Z' } }, notSigned],
      [{ checkpoint: { ...signed, keyId: 'a'.repeat(16) } }, /names the key/],
    ];
    expect(faultOfProof(key, proof)).toBeUndefined();
    for (const [change, fault] of faults) expect(faultOfProof(key, { ...proof, ...change })).toMatch(fault);
    const stranger = generateKeyPairSync('ed25519').privateKey;
    expect(faultOfProof(stranger, proof)).toMatch(/names the key/);
    expect(faultOfProof(stranger, { ...proof, checkpoint: { ...signed, keyId: keyIdOf(stranger) } })).toMatch(
      notSigned,
    );
  });

  test('cannot be made any more of a journal that was rewritten and sealed again', async () => {
    await book.database.write((tx) => sealJournals(tx));
    await checkpoint();
    await rewriteHistory();
    const [first = ''] = await sealedIds();
    expect(faultOfProof(key, await prove(first))).toMatch(/does not lead from its leaf/);
  });

  test('stays valid when a text is erased', async () => {
    const moved = internalTransfer({ fromWalletId: walletId, toWalletId: otherWallet, amountCents: 1 });
    const [posted] = await book.database.write((tx) =>
      postJournals(tx, because('memo'), [
        { ...draft(ownerId, 'internal_transfer', moved, 'memo'), memo: 'Rent for Anna' },
      ]),
    );
    await book.database.write((tx) => sealJournals(tx));
    await checkpoint();
    const before = await prove(posted?.journalId ?? '');
    expect(JSON.stringify(before)).not.toContain('Anna');
    await book.asOwner('delete from journal_texts');
    expect(await prove(posted?.journalId ?? '')).toEqual(before);
    expect(faultOfProof(key, before)).toBeUndefined();
  });
});

test('a forged frontier of a checkpoint is not continued from', async () => {
  await book.database.write((tx) => sealJournals(tx));
  await checkpoint();
  expect(await verify(false)).toMatchObject({ balanced: true, checkedFrom: 0 });
  expect(await verify(false)).toMatchObject({ balanced: true, checkedFrom: 10 });
  await tamper(`update ledger_checkpoints set frontier = repeat('a', length(frontier))`);
  expect(await verify(false)).toMatchObject({ balanced: true, checkedFrom: 0 });
  await tamper(`update ledger_checkpoints set frontier = 'short'`);
  expect(await verify(false)).toMatchObject({ balanced: true, checkedFrom: 0 });
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
async function rewriteHistory(): Promise<MerkleTree> {
  const name = available(wallet(walletId));
  await tamper(
    `update ledger_entries set balance_after_cents = balance_after_cents + 90000,
       balance_before_cents = case when account_version > 1 then balance_before_cents + 90000 else balance_before_cents end
     where account = '${name}'`,
    `update ledger_entries set amount_cents = amount_cents * 10 where journal_id = (select journal_id from journal_seals where sequence = 1)`,
    `update ledger_accounts set balance_cents = balance_cents + 90000, credited_cents = credited_cents + 90000 where name = '${name}'`,
    `update contra_lines set debited_cents = debited_cents + 90000 where account = '${external('processor', ownerId)}'`,
    `update contra_totals set debited_cents = debited_cents + 90000 where account = '${external('processor', ownerId)}'`,
  );
  return sealAgain(book.database.read(), ownerId, book.rewrite);
}
