/**
 * What the floors of the transfers have in common: postings between two wallets each, entered into the ledger's tables by
 * one bare statement, with running balances and account versions. No key, event, audit row or chain, no refusal, no
 * function of the product.
 * @module
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';

/** Of one cent. */
export type BarePosting = { readonly fromWalletId: string; readonly toWalletId: string };

const account = (walletId: string): string => `wallet:${walletId}:available`;

/** One statement, one commit. */
export async function enterBare(client: pg.Client, ownerId: string, postings: readonly BarePosting[]): Promise<void> {
  const values = [
    postings.map(() => randomUUID().replaceAll('-', '')),
    postings.map(({ fromWalletId }) => account(fromWalletId)),
    postings.map(({ toWalletId }) => account(toWalletId)),
    ownerId,
  ];
  await client.query({ name: 'post', text, values });
}

const text = `
  with t as materialized (
    select 'jr_' || id as id, source, target, n from unnest($1::text[], $2::text[], $3::text[]) with ordinality t (id, source, target, n)
  ), lines as materialized (
    select id, n, 0 as line, source as account, -1 as cents from t
    union all select id, n, 1, target, 1 from t
  ), locked as materialized (
    select name, balance_cents, version from ledger_accounts where name in (select account from lines) order by name for no key update
  ), entered as (
    insert into journals (id, owner_id, kind, reference_type, reference_id, cause, request_id, created_at)
      select id, $4, 'internal_transfer', 'fund', id, id, 'bench', now() from t
  ), moved as (
    update ledger_accounts a set balance_cents = a.balance_cents + s.change, debited_cents = a.debited_cents + s.debited,
        credited_cents = a.credited_cents + s.credited, version = a.version + s.entries, last_entry_at = now()
      from (
        select account, sum(cents) as change, count(*) as entries, -sum(least(cents, 0)) as debited,
          sum(greatest(cents, 0)) as credited from lines group by account
      ) s join locked l on l.name = s.account where a.name = s.account
  )
  insert into ledger_entries (journal_id, line, account, amount_cents, balance_before_cents, balance_after_cents,
      account_version, created_at)
    select r.id, r.line, r.account, r.cents, l.balance_cents + r.through - r.cents, l.balance_cents + r.through,
      l.version + r.nth, now()
    from (
      select *, sum(cents) over w as through, row_number() over w as nth from lines
      window w as (partition by account order by n, line)
    ) r join locked l on l.name = r.account`;
