/**
 * Kills a process with SIGKILL while it posts, seals and signs: every posting that it reported is in the ledger, and
 * the ledger verifies.
 * @module
 */
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { available, wallet } from '../../src/domains/treasury/ledger/account.rules.ts';
import { keyIdOf } from '../../src/domains/treasury/ledger/checkpoint.rules.ts';
import { checkpointFolder } from '../../src/domains/treasury/ledger/checkpoint.store.ts';
import { verifyCheckpoints } from '../../src/domains/treasury/ledger/checkpoint.verify.service.ts';
import { balancesOf } from '../../src/domains/treasury/ledger/ledger.queries.ts';
import { sealJournals } from '../../src/domains/treasury/ledger/seal.service.ts';
import { verifyOwner } from '../../src/usecases/treasury/verify-owner.ts';
import { type Book, openBook } from './book.ts';

const program = fileURLToPath(new URL('dying-poster.ts', import.meta.url));
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Counted in postings and not in time, so that the process is killed at the same progress on a slow machine. */
const kills: readonly Moment[] = [
  { postings: 6, pauseMs: 3 },
  { postings: 25, pauseMs: 0 },
  { postings: 60, pauseMs: 9 },
  { postings: 1, pauseMs: 1 },
  { postings: 40, pauseMs: 6 },
];

let book: Book;
let folder: string;
beforeAll(async () => {
  book = await openBook();
  folder = await mkdtemp(join(tmpdir(), 'bursar-killed-'));
});
afterAll(async () => {
  await book.close();
  await rm(folder, { recursive: true, force: true });
});

test('after each of five kills no acknowledged change is lost, no change is partial, and every checkpoint is valid', async () => {
  const { ownerId, walletId } = await book.owner();
  const other = await book.wallet(ownerId);
  await book.fund(ownerId, walletId, 1_000_000);
  const acknowledged: string[] = [];
  for (const moment of kills) {
    acknowledged.push(...(await killedAfter([book.url, ownerId, walletId, other, folder, pem], moment)));
    expect(
      await verifyOwner(book)(ownerId, { full: true, publicKeys: new Map([[keyIdOf(publicKey), publicKey]]) }),
    ).toMatchObject({ differences: [] });
    expect(
      (await verifyCheckpoints(book.database, checkpointFolder(folder), new Map([[keyIdOf(publicKey), publicKey]])))
        .differences,
    ).toEqual([]);
  }
  const found = await book.rows('select id from journals where id = any($1::text[])', [acknowledged]);
  expect(found).toHaveLength(acknowledged.length);
  while ((await book.database.write((tx) => sealJournals(tx))) > 0);
  const whole = await verifyOwner(book)(ownerId, {
    full: true,
    publicKeys: new Map([[keyIdOf(publicKey), publicKey]]),
  });
  expect(whole).toMatchObject({ balanced: true, unsealed: 0 });
  const [there, here] = [available(wallet(other)), available(wallet(walletId))];
  const balances = await balancesOf(book.database.read(), [there, here]);
  expect(balances).toEqual({ [there]: whole.journals - 1, [here]: 1_000_000 - (whole.journals - 1) });
}, 120_000);

type Moment = { readonly postings: number; readonly pauseMs: number };

/** The ids of the postings that the process reported until it was killed, `pauseMs` after the given number of them. */
async function killedAfter(args: string[], { postings, pauseMs }: Moment): Promise<string[]> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  const reported = () => output.split('\n').slice(0, -1);
  const ended = new Promise((resolve) => child.once('close', resolve));
  const hasPosted = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (reported().length >= postings) resolve();
    });
  });
  await Promise.race([hasPosted, ended]);
  await sleep(pauseMs);
  child.kill('SIGKILL');
  await ended;
  expect([child.signalCode, reported().length >= postings]).toEqual(['SIGKILL', true]);
  return reported();
}
