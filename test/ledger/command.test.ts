/** `bursar ledger verify`, `prove` and `check` as programs: what they say, and with which exit code they end. @module */

import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { publicPemOf } from '../../src/domains/treasury/ledger/checkpoint.rules.ts';
import { writeCheckpoint } from '../../src/domains/treasury/ledger/checkpoint.service.ts';
import { checkpointFolder } from '../../src/domains/treasury/ledger/checkpoint.store.ts';
import { faultOfProof, type Proof } from '../../src/domains/treasury/ledger/proof.rules.ts';
import { sealJournals } from '../../src/domains/treasury/ledger/seal.service.ts';
import { runCommand } from '../../src/main/cli.ts';
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
  const proof = JSON.parse(said) as Proof;
  expect(proof).toMatchObject({ chain: 'journals', id: journalId, format: 2, checkpoint: { size: 1 } });
  expect(faultOfProof(privateKey, proof)).toBeUndefined();
  expect(code).toBe(0);
  const unknown = await bursar(['ledger', 'prove', 'jr_unknown0'], environment);
  expect(unknown).toEqual({ code: 2, said: 'bursar: no sealed journal jr_unknown0\n' });
  expect((await bursar(['ledger', 'prove'], environment)).code).toBe(2);
});

describe('checking a proof needs its file and the public key, and no database', () => {
  /** Without a separate process, which takes seconds to start. */
  const check = async (...args: string[]): Promise<Ended> => {
    let said = '';
    const env = { BURSAR_DATA_DIR: join(dataDir, 'none') };
    const code = await runCommand(['ledger', 'check', ...args], env, (text) => {
      said += text;
    });
    return { code, said };
  };
  const file = (name: string) => join(dataDir, name);
  const keyFile = () => file('public.pem');

  beforeAll(async () => {
    const id = String((await book.rows('select journal_id from journal_seals limit 1'))[0]?.journal_id);
    const { said } = await bursar(['ledger', 'prove', id], { DATABASE_URL: book.url, BURSAR_SIGNING_KEY: pem });
    await writeFile(file('proof.json'), said);
    await writeFile(keyFile(), publicPemOf(privateKey));
    await writeFile(file('other.pem'), publicPemOf(generateKeyPairSync('ed25519').privateKey));
  });

  test('it holds under the key that is named, and under one that stands beside the checkpoints', async () => {
    const said = expect.stringMatching(/^the proof holds: journal jr_\w+ of own_\w+ is number 1 of the 1 in its chain/);
    expect(await check(file('proof.json'), keyFile())).toEqual({ code: 0, said });
    expect(await bursar(['ledger', 'check', file('proof.json')], {})).toEqual({ code: 0, said });
  });

  test('another key, a changed file and a file that is no proof end with 1 and the reason', async () => {
    const proof = JSON.parse(await readFile(file('proof.json'), 'utf8')) as Proof;
    const changed = async (change: object) => {
      await writeFile(file('changed.json'), JSON.stringify({ ...proof, ...change }));
      return check(file('changed.json'), keyFile());
    };
    const refused = (reason: RegExp) => ({ code: 1, said: expect.stringMatching(reason) });
    const names = /^the proof does not hold: it names the key \w{16}, not \w{16}\n$/;
    expect(await check(file('proof.json'), file('other.pem'))).toEqual(refused(names));
    expect(await check(file('proof.json'))).toEqual(refused(/names the unknown key/));
    expect(await changed({ text: proof.text.replace('100', '900') })).toEqual(refused(/the text was changed\n$/));
    expect(await changed({ path: [1] })).toEqual(refused(/it is not a proof: path\.0: /));
    await writeFile(file('changed.json'), 'no proof');
    expect(await check(file('changed.json'), keyFile())).toEqual(refused(/it is not a proof: /));
  });

  test('a file that is not there ends with 2', async () => {
    const ended = await bursar(['ledger', 'check', file('nowhere.json'), keyFile()], {});
    expect(ended).toEqual({ code: 2, said: expect.stringMatching(/ENOENT/) });
  });

  test('the example of the documentation holds, and says what the documentation prints', async () => {
    const docs = await readFile(new URL('../../docs/ledger.md', import.meta.url), 'utf8');
    const block = (kind: string) => new RegExp(`\`\`\`${kind}\\n([^\`]+)\`\`\``).exec(docs)?.[1] ?? '';
    await writeFile(file('documented.json'), block('json'));
    await writeFile(file('documented.pem'), block('pem'));
    const printed = /\$ npm run bursar -- ledger check proof.json key.pem\n([^`]+)$/.exec(block('console'))?.[1];
    expect(await check(file('documented.json'), file('documented.pem'))).toEqual({ code: 0, said: printed });
  });
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
  expect(proof).toMatchObject({ code: 1, said: expect.stringMatching(/does not lead from its leaf to the root/) });
  const { code, said } = await bursar(['ledger', 'verify'], { DATABASE_URL: book.url });
  expect(said).toMatch(/does not match its seal 1/);
  expect(said).toMatch(/\d+ differences: 3 owners/);
  expect(code).toBe(1);
});
