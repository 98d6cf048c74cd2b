/**
 * Compares the recomputed ledger with the stored accounts, heads, holds, totals and checkpoints. Reads in the caller's
 * snapshot and reports differences; repairs nothing.
 * @module
 */
import * as z from 'zod';
import { idRow } from '../../../db/row-values.ts';
import { firstRowOf, oneRowOf, rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { isFrontierOf, MerkleTree } from '../../../platform/record-chains/merkle.rules.ts';
import type { SignedHead } from './checkpoint.rules.ts';
import type { BookCheck } from './verify.rules.ts';

export type StoredCheckpoint = SignedHead & {
  readonly at: string;
  readonly keyId: string;
  readonly root: string;
  readonly rootSignature: string;
  /** The seal that stands at its sequence now; null where it is gone. */
  readonly sealHash: string | null;
};

/** A stored checkpoint, as PostgreSQL returns it. */
export const storedCheckpoint = z.object({
  ownerId: z.string(),
  sequence: z.int(),
  hash: z.string(),
  treeRoot: z.string().nullable(),
  signature: z.string(),
  at: z.date(),
  keyId: z.string(),
  root: z.string(),
  rootSignature: z.string(),
  sealHash: z.string().nullable(),
});

/** In the shape in which it was signed. */
export const asSigned = <Row extends { readonly at: Date; readonly treeRoot: string | null }>(row: Row) => ({
  ...row,
  at: row.at.toISOString(),
  treeRoot: row.treeRoot ?? undefined,
});

type Frontier = { readonly sequence: number; readonly frontier: string | null; readonly treeRoot: string | null };

/** Whether a kept frontier gives the root that was signed; a checkpoint of format 1 keeps none. */
export const leadsTo = ({ sequence, frontier, treeRoot }: Frontier): boolean =>
  frontier === null
    ? treeRoot === null
    : isFrontierOf(sequence, frontier) && new MerkleTree(sequence, frontier).root === treeRoot;

/** Oldest first, with a sequence above `after` and up to `through`. */
export async function checkpointsOf(
  tx: Tx,
  ownerId: string,
  after: number,
  through?: number,
): Promise<(StoredCheckpoint & { readonly frontier: string | null })[]> {
  const found = await rowsOf(
    tx,
    storedCheckpoint.extend({ frontier: z.string().nullable() }),
    `select c.owner_id as "ownerId", c.sequence, c.hash, c.tree_root as "treeRoot", c.frontier, c.signature,
       c.created_at as at, c.key_id as "keyId", c.root, c.root_signature as "rootSignature", s.hash as "sealHash"
     from ledger_checkpoints c left join journal_seals s on s.owner_id = c.owner_id and s.sequence = c.sequence
     where c.owner_id = $1 and c.sequence > $2 and c.sequence <= coalesce($3::bigint, c.sequence) order by c.sequence`,
    [ownerId, after, through ?? null],
  );
  return found.map(asSigned);
}

/** After all journals were checked: does everything that is kept beside them agree with them? */
export async function checkStanding(tx: Tx, ownerId: string, book: BookCheck, full: boolean): Promise<void> {
  await checkAccounts(tx, ownerId, book, full);
  await checkHead(tx, ownerId, book);
  await checkHolds(tx, ownerId, book);
  await checkSum(tx, ownerId, book);
  if (!full) return;
  await checkContraTotals(tx, ownerId, book);
  await checkContraLines(tx, ownerId, book);
  await checkStrays(tx, ownerId, book);
}

async function checkAccounts(tx: Tx, ownerId: string, book: BookCheck, full: boolean): Promise<void> {
  const accounts = await rowsOf(
    tx,
    z.object({ name: z.string(), balance: z.int(), version: z.int(), turnover: z.int() }),
    `select name, balance_cents as balance, version, credited_cents - debited_cents as turnover
     from ledger_accounts where owner_id = $1`,
    [ownerId],
  );
  const missing = new Set(book.accounts.keys());
  for (const { name, balance, version, turnover } of accounts) {
    missing.delete(name);
    const due = book.accounts.get(name) ?? (full ? { balanceCents: 0, version: 0 } : undefined);
    if (due !== undefined && (due.balanceCents !== balance || due.version !== version)) {
      book.differs(
        'account',
        name,
        `stands at ${balance} cents after ${version} entries; its entries make ${due.balanceCents} after ${due.version}`,
      );
    }
    if (balance < 0) book.differs('account', name, `stands below zero: ${balance} cents`);
    if (balance !== (name.startsWith('owner:') ? -turnover : turnover)) {
      book.differs('account', name, `stands at ${balance} cents, its debits and credits make ${turnover}`);
    }
  }
  for (const name of missing) book.differs('account', name, 'has entries but is not among the owner’s accounts');
}

async function checkHead(tx: Tx, ownerId: string, book: BookCheck): Promise<void> {
  const head = await firstRowOf(
    tx,
    z.object({ sequence: z.int(), hash: z.string(), frontier: z.string().nullable() }),
    'select sequence, hash, frontier from ledger_heads where owner_id = $1',
    [ownerId],
  );
  const { sequence, hash, tree } = book.sealedThrough;
  if ((head?.sequence ?? 0) !== sequence || (head !== undefined && head.hash !== hash))
    book.differs('seal', ownerId, `has the head ${head?.sequence ?? 0}, its seals end at ${sequence}`);
  else if ((head?.frontier ?? tree.frontier) !== tree.frontier)
    book.differs('seal', ownerId, 'has a tree that is not the one of its journals');
}

async function checkHolds(tx: Tx, ownerId: string, book: BookCheck): Promise<void> {
  const different = await rowsOf(
    tx,
    z.object({ account: z.string(), held: z.int(), balance: z.int() }),
    `select coalesce(h.account, a.name) as account, coalesce(h.held, 0) as held, coalesce(a.balance_cents, 0) as balance
     from (select account, sum(held_cents)::bigint as held from open_holds($1) group by account) h
     full join (select name, balance_cents from ledger_accounts where owner_id = $1 and name like '%:held') a
       on a.name = h.account
     where coalesce(h.held, 0) <> coalesce(a.balance_cents, 0)`,
    [ownerId],
  );
  for (const { account, held, balance } of different) {
    book.differs('hold', account, `holds ${balance} cents, the open payments hold ${held}`);
  }
}

/** Over everything an owner has, in and outside, the book sums to zero. */
async function checkSum(tx: Tx, ownerId: string, book: BookCheck): Promise<void> {
  const { cents } = await oneRowOf(
    tx,
    z.object({ cents: z.int() }),
    `select (
       (select coalesce(sum(credited_cents - debited_cents), 0) from ledger_accounts where owner_id = $1)
       + (select coalesce(sum(credited_cents - debited_cents), 0) from contra_totals where owner_id = $1)
       + (select coalesce(sum(e.amount_cents), 0) from unsealed_journals u join ledger_entries e using (journal_id)
          where u.owner_id = $1 and e.account_version is null)
     )::bigint as cents`,
    [ownerId],
  );
  if (cents !== 0) book.differs('total', ownerId, `has accounts that sum to ${cents} cents, not to 0`);
}

async function checkContraTotals(tx: Tx, ownerId: string, book: BookCheck): Promise<void> {
  const totals = await rowsOf(
    tx,
    z.object({ account: z.string(), debited: z.int(), credited: z.int() }),
    'select account, debited_cents as debited, credited_cents as credited from contra_totals where owner_id = $1',
    [ownerId],
  );
  const stored = new Map(totals.map((row) => [row.account, row]));
  for (const account of new Set([...stored.keys(), ...book.contra.keys()])) {
    const { debited, credited } = stored.get(account) ?? { debited: 0, credited: 0 };
    const due = book.contra.get(account) ?? { debitedCents: 0, creditedCents: 0 };
    if (due.debitedCents === debited && due.creditedCents === credited) continue;
    book.differs(
      'total',
      account,
      `is kept as ${debited} and ${credited} cents; its entries make ${due.debitedCents} and ${due.creditedCents}`,
    );
  }
}

/** The lines that statements of contra accounts are read from: each sealed entry once, in order, with the right sums. */
async function checkContraLines(tx: Tx, ownerId: string, book: BookCheck): Promise<void> {
  const different = await rowsOf(
    tx,
    z.object({ account: z.string(), number: z.int() }),
    `with due as (
       select e.account, row_number() over sealed as number, e.journal_id, e.line,
         -sum(least(e.amount_cents, 0)) over sealed as debited, sum(greatest(e.amount_cents, 0)) over sealed as credited
       from journal_seals s join ledger_entries e on e.journal_id = s.journal_id
       where s.owner_id = $1 and e.account_version is null
       window sealed as (partition by e.account order by s.sequence, e.line)
     ), kept as (
       select l.* from contra_totals t join contra_lines l on l.account = t.account where t.owner_id = $1
     )
     select account, number from due full join kept using (account, number)
     where (due.journal_id, due.line, due.debited, due.credited)
       is distinct from (kept.journal_id, kept.line, kept.debited_cents::numeric, kept.credited_cents::numeric)
     order by account, number limit 100`,
    [ownerId],
  );
  for (const { account, number } of different)
    book.differs('total', account, `has another line ${number} in its statement than its sealed entries make`);
}

/** A journal that has no seal and waits for none would never be missed. */
async function checkStrays(tx: Tx, ownerId: string, book: BookCheck): Promise<void> {
  const strays = await rowsOf(
    tx,
    idRow,
    `select j.id from journals j where j.owner_id = $1
       and not exists (select from journal_seals s where s.journal_id = j.id)
       and not exists (select from unsealed_journals u where u.journal_id = j.id) limit 100`,
    [ownerId],
  );
  for (const { id } of strays) book.differs('seal', id, 'has no seal and waits for none');
}
