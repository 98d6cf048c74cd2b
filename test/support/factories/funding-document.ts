/** The funding and the audit row of a journal that a test posted directly, so that reconciliation finds its document. @module */
import { newId } from '../../../src/kernel/ids.ts';

type Sql = (text: string, params: unknown[]) => Promise<unknown>;

export type FundingJournal = {
  readonly ownerId: string;
  /** `wallet:{id}` or `agent:{id}`; the funding of an agent's budget names the agent's wallet. */
  readonly to: string;
  readonly journalId: string;
  readonly amountCents: number;
};

export async function documentFunding(
  sql: Sql,
  { ownerId, to, journalId, amountCents }: FundingJournal,
): Promise<void> {
  await sql(
    `with named as (
       select case split_part($3, ':', 1) when 'wallet' then split_part($3, ':', 2)
         else (select wallet_id from agents where id = split_part($3, ':', 2)) end as wallet_id
     ), funding as (
       insert into fundings (id, owner_id, wallet_id, amount_cents, balance_cents, status, is_simulated, journal_id, created_at)
       select $1, $2, wallet_id, $5, $5, 'completed', true, $4, now() from named returning wallet_id
     )
     insert into audit (id, owner_id, actor, action, subject_id, details, request_id, outcome, created_at)
     select $6, $2, 'system', 'wallet.funded', wallet_id, jsonb_build_object('fundingId', $1::text, 'amountCents', $5::bigint),
       'req', 'done', now() from funding`,
    [newId('funding'), ownerId, to, journalId, amountCents, newId('audit')],
  );
}
