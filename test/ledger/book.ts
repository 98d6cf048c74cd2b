/**
 * A database of its own with the ledger in it, and short ways to move money there. For tests of the book itself,
 * below HTTP.
 * @module
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { type Database, databaseOf } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/orm.ts';
import { rows } from '../../src/db/tx.ts';
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

export type Book = {
  readonly database: Database;
  readonly url: string;
  /** Another pool on the same database, as another process would have. */
  elsewhere(): Promise<Database>;
  owner(): Promise<{ ownerId: Id<'owner'>; walletId: Id<'wallet'> }>;
  wallet(ownerId: string): Promise<Id<'wallet'>>;
  post(ownerId: string, kind: JournalKind, postings: readonly Posting[], cause?: string): Promise<PostResult>;
  fund(ownerId: string, walletId: string, amountCents: number): Promise<PostResult>;
  /** A statement that the append-only triggers would refuse, as somebody with the owner's rights could send it. */
  rewrite(text: string, params?: readonly unknown[]): Promise<void>;
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
  return { id: newId('journal'), ownerId, kind, referenceType: 'adjustment', referenceId: 'test', cause, postings };
}

export async function openBook(): Promise<Book> {
  const server = process.env.TEST_PG;
  if (server === undefined) throw new Error('TEST_PG names no server');
  const name = `book_${randomBytes(6).toString('hex')}`;
  await onServer(server, `create database ${name} template tpl strategy file_copy`);
  const url = `${server}${name}`;
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
    await rows(
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
  return {
    database,
    url,
    elsewhere,
    wallet: openWallet,
    owner: async () => {
      const ownerId = newId('owner');
      return { ownerId, walletId: await openWallet(ownerId) };
    },
    post,
    fund: (ownerId, walletId, amountCents) =>
      post(ownerId, 'fund', fund({ ownerId, to: wallet(walletId), amountCents: cents(amountCents) })),
    rewrite: async (text, params = []) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        await client.query('set session_replication_role = replica');
        await client.query(text, [...params]);
      } finally {
        await client.end();
      }
    },
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
