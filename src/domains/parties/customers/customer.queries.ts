/** Reads of customers that other domains need. No decision is made here. @module */
import { type Given, query } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';
import './customer.entity.ts';

const business = query((from, given: Given<{ ownerId: string }>) =>
  from.selectFrom('customers').select('companyName').where('ownerId', '=', given('ownerId')),
);

/** As people know the owner. Null where no company is named: a person's own name is not shown to others. */
export const businessNameOf = async (tx: Tx, ownerId: string): Promise<string | null> =>
  (await business.first(tx, { ownerId }))?.companyName ?? null;
