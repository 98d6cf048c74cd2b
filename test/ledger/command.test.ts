/** `bursar ledger verify` as a program: what it says, and with which exit code it ends. @module */

import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { writeCheckpoint } from '../../src/domains/treasury/ledger/checkpoint.service.ts';
import { checkpointFolder } from '../../src/domains/treasury/ledger/checkpoint.store.ts';
import { faultOfProof, type JournalProof } from '../../src/domains/treasury/ledger/proof.rules.ts';
import { sealJournals } from '../../src/domains/treasury/ledger/seal.service.ts';
import { documentFunding } from '../support/factories/funding-document.ts';
import { type Book, openBook } from './book.ts';

const program = fileURLToPath(new URL('../../src/main/cli.ts', import.meta.url));
const { privateKey } = generateKeyPairSync('ed25519');
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

let book: Book;
let dataDir: string;
beforeAll(async () => {
  book = await openBook();
  dataDir = await mkdtemp(join(tmpdir(), 'bursar-command-'));
  for (let n = 0; n < 3; n++) {
    const { ownerId, walletId } = await book.owner();
    const { journalId } = await book.fund(ownerId, walletId, 100);
    await documentFunding(book.asOwner, { ownerId, to: `wallet:${walletId}`, journalId, amountCents: 100 });
  }
  await book.database.write((tx) => sealJournals(tx));
  const store = checkpointFolder(join(dataDir, 'checkpoints'));
  await book.database.write((tx) => writeCheckpoint(tx, { key: privateKey, store }));
});
afterAll(async () => {
  await book.close();
  await rm(dataDir, { recursive: true, force: true });
});

type Ended = { code: number; said: string };

const bursar = (args: string[], env: Record<string, string>): Promise<Ended> =>
  new Promise((resolve) => {
    const environment = { PATH: process.env.PATH ?? '', BURSAR_DATA_DIR: dataDir, ...env };
    const child = execFile(process.execPath, [program, ...args], { env: environment }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, said: stdout + stderr }),
    );
  });

test('an intact ledger ends with 0 and the number of checked journals', async () => {
  const { code, said } = await bursar(['ledger', 'verify'], { DATABASE_URL: book.url, BURSAR_SIGNING_KEY: pem });
  expect(said).toMatch(/the ledger is whole: 3 owners, 3 journals, 1 checkpoints\n$/);
  expect(code).toBe(0);
});

test('it finds the database of a running Bursar, and its key', async () => {
  await writeFile(join(dataDir, 'ready.json'), JSON.stringify({ databaseUrl: book.url, apiUrl: 'http://localhost:1' }));
  await writeFile(join(dataDir, 'signing.key'), pem);
  const { code, said } = await bursar(['ledger', 'verify'], {});
  expect(said).toMatch(/the ledger is whole/);
  expect(said).not.toMatch(/not at hand/);
  expect(code).toBe(0);
});

test('a journal is proven under its checkpoint; one that is unknown ends with 2', async () => {
  const environment = { DATABASE_URL: book.url, BURSAR_SIGNING_KEY: pem };
  const [row] = await book.rows('select journal_id from journal_seals limit 1');
  const journalId = String(row?.journal_id);
  const { code, said } = await bursar(['ledger', 'prove', journalId], environment);
  const proof = JSON.parse(said) as JournalProof;
  expect(proof).toMatchObject({ journalId, format: 2, checkpoint: { size: 1 } });
  expect(faultOfProof(privateKey, proof)).toBeUndefined();
  expect(code).toBe(0);
  const unknown = await bursar(['ledger', 'prove', 'jr_unknown0'], environment);
  expect(unknown).toEqual({ code: 2, said: 'bursar: no sealed journal jr_unknown0\n' });
  expect((await bursar(['ledger', 'prove'], environment)).code).toBe(2);
});

test('without a database it ends with 2 and names the setting', async () => {
  const { code, said } = await bursar(['ledger', 'verify'], { BURSAR_DATA_DIR: join(dataDir, 'nowhere') });
  expect(said).toMatch(/set DATABASE_URL, or start Bursar first/);
  expect(code).toBe(2);
});

test('an unknown command ends with 2 and shows the usage', async () => {
  const { code, said } = await bursar(['ledger'], {});
  expect(said).toMatch(/^usage: bursar ledger verify/);
  expect(code).toBe(2);
});

test('a ledger with a difference ends with 1 and names it', async () => {
  const client = new pg.Client({ connectionString: book.ownerUrl });
  await client.connect();
  await client.query('set session_replication_role = replica');
  await client.query(`update ledger_entries set amount_cents = amount_cents * 3 where account like 'wallet%'`);
  await client.end();
  const [row] = await book.rows('select journal_id from journal_seals limit 1');
  const proof = await bursar(['ledger', 'prove', String(row?.journal_id)], { DATABASE_URL: book.url });
  expect(proof).toMatchObject({ code: 1, said: expect.stringMatching(/does not lead from the journal to the root/) });
  const { code, said } = await bursar(['ledger', 'verify'], { DATABASE_URL: book.url });
  expect(said).toMatch(/does not match its seal 1/);
  expect(said).toMatch(/\d+ differences: 3 owners/);
  expect(code).toBe(1);
});
