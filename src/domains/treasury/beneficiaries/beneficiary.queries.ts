/** Reads of beneficiaries: one, locked for a change, and pages of an owner. Deleted ones are not found. @module */
import { LockMode } from '@mikro-orm/core';
import { sql } from 'kysely';
import { type Given, query } from '../../../db/db.ts';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Own } from '../../../http/caller.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { BeneficiaryRow, BeneficiarySchema } from './beneficiary.entity.ts';
import type { BeneficiaryStatus } from './beneficiary.rules.ts';

const one = query((from, given: Given<{ id: string }>) =>
  from
    .selectFrom('beneficiaries')
    .select(columnsOf(BeneficiarySchema))
    .where('id', '=', given('id'))
    .where('deletedAt', 'is', null),
);

export const findBeneficiary = (tx: Tx, id: string): Promise<BeneficiaryRow | null> => one.first(tx, { id });

/** As isolation compares it: an agent reads the beneficiaries that agents may pay. */
export async function beneficiaryFor(tx: Tx, { agentId }: Own, id: string) {
  const found = await findBeneficiary(tx, id);
  if (found === null || agentId === undefined) return found;
  return { ...found, agentId: found.agentsMayPay ? agentId : null };
}

/** Of this owner, where the owner is known. */
export async function lockBeneficiary(
  tx: Tx,
  { id, ownerId }: { readonly id: Id<'beneficiary'>; readonly ownerId?: string },
): Promise<BeneficiaryRow> {
  const wanted = { id, deletedAt: null, ...(ownerId !== undefined && { ownerId }) };
  const row = await tx.findOne(BeneficiaryRow, wanted, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (row === null) throw notFound('beneficiary', id);
  return row;
}

/** All of the owner that may have the same IBAN, because they look alike. */
export const lookAlikes = (
  tx: Tx,
  { ownerId, ibanMasked }: { readonly ownerId: string; readonly ibanMasked: string },
): Promise<BeneficiaryRow[]> => tx.find(BeneficiaryRow, { ownerId, ibanMasked, deletedAt: null, isSaved: true });

export type BeneficiaryFilter = {
  readonly ownerId: string;
  readonly status: BeneficiaryStatus | undefined;
  /** A part of the name, in either case. */
  readonly q: string | undefined;
  /** True for an agent, which sees no others. */
  readonly agentsMayPay: true | undefined;
};

const beneficiaries = list((from, given: Filters<BeneficiaryFilter>) => {
  let wanted = from
    .selectFrom('beneficiaries')
    .select(columnsOf(BeneficiarySchema))
    .where('ownerId', '=', given('ownerId'))
    .where('isSaved', '=', sql.lit(true))
    .where('deletedAt', 'is', null);
  if (given.has('status')) wanted = wanted.where('status', '=', given('status'));
  if (given.has('agentsMayPay')) wanted = wanted.where('agentsMayPay', '=', given('agentsMayPay'));
  if (given.has('q')) wanted = wanted.where(sql<boolean>`position(lower(${given('q')}::text) in lower(name)) > 0`);
  return wanted;
}, newestFirst('beneficiaries'));

/** Newest first. */
export const listBeneficiaries = (
  tx: Tx,
  filter: BeneficiaryFilter,
  pageQuery: PageQuery,
): Promise<Page<BeneficiaryRow>> => page(tx, beneficiaries, filter, pageQuery);

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly beneficiary: BeneficiaryRow;
  }
}
