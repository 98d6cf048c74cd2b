/**
 * A separate database with the ledger in it, and short functions to move money there. For tests of the ledger,
 * below HTTP.
 * @module
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import * as z from 'zod';
import { type Database, databaseOf } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/orm.ts';
import { rowsOf, runSql } from '../../src/db/statement.ts';
import { wallet } from '../../src/domains/treasury/ledger/account.rules.ts';
import { fund, type Posting } from '../../src/domains/treasury/ledger/ledger.rules.ts';
import {
  type JournalDraft,
  type JournalKind,
  type PostResult,
  postJournals,
} from '../../src/domains/treasury/ledger/ledger.service.ts';
import { WalletSchema } from '../../src/domains/treasury/wallets/wallet.entity.ts';
import { type Id, newId } from '../../src/kernel/ids.ts';
import { cents } from '../../src/kernel/money.ts';
import type { Cause } from '../../src/platform/cause.ts';
import { applicationUrl } from '../../src/supervisor/postgres.ts';

export type Book = {
  /** As the application role, like every process. */
  readonly database: Database;
  /** Of the application role. */
  readonly url: string;
  /** Of the role that owns the tables. */
  readonly ownerUrl: string;
  /** Another pool on the same database, as another process would have. */
  elsewhere(): Promise<Database>;
  owner(): Promise<{ ownerId: Id<'owner'>; walletId: Id<'wallet'> }>;
  wallet(ownerId: string): Promise<Id<'wallet'>>;
  post(ownerId: string, kind: JournalKind, postings: readonly Posting[], cause?: string): Promise<PostResult>;
  fund(ownerId: string, walletId: string, amountCents: number): Promise<PostResult>;
  /** As the role that owns the tables; triggers work. */
  asOwner(text: string, params?: readonly unknown[]): Promise<void>;
  /** As that role with triggers switched off, as an attacker with the owner's password can do. */
  rewrite(text: string, params?: readonly unknown[]): Promise<void>;
  /** All columns of the rows of a statement, as the application role. */
  rows(text: string, params?: readonly unknown[]): Promise<Readonly<Record<string, unknown>>[]>;
  close(): Promise<void>;
};

export const at = new Date('2026-03-02T10:00:00.000Z');

export const because = (causeId: string, when = at): Cause => ({
  causeId,
  requestId: `request-of-${causeId}`,
  actor: { kind: 'system' },
  at: when,
});

export function draft(ownerId: string, kind: JournalKind, postings: readonly Posting[], cause: string): JournalDraft {
  return {
    id: newId('journal'),
    ownerId,
    kind,
    referenceType: kind === 'fund' ? 'fund' : 'adjustment',
    referenceId: 'test',
    cause,
    postings,
  };
}

/** For tests that post holds without their transactions: the ledger's check then compares each hold with itself. */
export const acceptHoldsWithoutTransactions = (book: Book): Promise<void> =>
  book.asOwner(`create or replace function open_holds(p_owner text) returns table (account text, held_cents bigint)
     language sql stable as $$ select name, balance_cents from ledger_accounts where owner_id = p_owner and name like '%:held' $$`);

export async function openBook(): Promise<Book> {
  const server = process.env.TEST_PG;
  if (server === undefined) throw new Error('TEST_PG names no server');
  const name = `book_${randomBytes(6).toString('hex')}`;
  await onServer(server, `create database ${name} template tpl strategy file_copy`);
  const ownerUrl = `${server}${name}`;
  const url = applicationUrl(ownerUrl, 'test');
  const opened: Awaited<ReturnType<typeof openDatabase>>[] = [];
  const elsewhere = async (): Promise<Database> => {
    const orm = await openDatabase({ url, entities: [WalletSchema], poolSize: 10, applicationName: 'book' });
    opened.push(orm);
    return databaseOf(orm);
  };
  const database = await elsewhere();
  let count = 0;

  const openWallet = async (ownerId: string): Promise<Id<'wallet'>> => {
    const id = newId('wallet');
    await runSql(
      database.read(),
      `insert into wallets (id, owner_id, name, created_at, updated_at) values ($1, $2, 'Test', $3, $3)`,
      [id, ownerId, at],
    );
    return id;
  };
  const post: Book['post'] = async (ownerId, kind, postings, cause = `post-${++count}`) => {
    const [result] = await database.write((tx) =>
      postJournals(tx, because(cause), [draft(ownerId, kind, postings, cause)]),
    );
    return result as PostResult;
  };
  const asOwner = async (statements: readonly string[], params: readonly unknown[] = []): Promise<void> => {
    const client = new pg.Client({ connectionString: ownerUrl });
    await client.connect();
    try {
      for (const before of statements.slice(0, -1)) await client.query(before);
      await client.query(statements.at(-1) ?? '', [...params]);
    } finally {
      await client.end();
    }
  };
  return {
    database,
    url,
    ownerUrl,
    asOwner: (text, params) => asOwner([text], params),
    rewrite: (text, params) => asOwner(['set session_replication_role = replica', text], params),
    rows: (text, params) => rowsOf(database.read(), z.record(z.string(), z.unknown()), text, params),
    elsewhere,
    wallet: openWallet,
    owner: async () => {
      const ownerId = newId('owner');
      return { ownerId, walletId: await openWallet(ownerId) };
    },
    post,
    fund: (ownerId, walletId, amountCents) =>
      post(ownerId, 'fund', fund({ ownerId, to: wallet(walletId), amountCents: cents(amountCents) })),
    close: async () => {
      await Promise.all(opened.map((orm) => orm.close()));
      await onServer(server, `drop database ${name} with (force)`);
    },
  };
}

async function onServer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${server}postgres` });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
