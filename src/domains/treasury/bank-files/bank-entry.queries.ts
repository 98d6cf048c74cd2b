/** Reads of the lines of banks' files. Decides nothing. @module */
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { type BankEntryRow, BankEntrySchema } from './bank-entry.entity.ts';
import type { BankEntryStatus } from './bank-entry.rules.ts';

type Filter = { readonly status: BankEntryStatus | undefined };

const entries = list((from, given: Filters<Filter>) => {
  const all = from.selectFrom('bankEntries').select(columnsOf(BankEntrySchema));
  return given.has('status') ? all.where('status', '=', given('status')) : all;
}, newestFirst('bankEntries'));

/** Newest first. */
export const listBankEntries = (tx: Tx, filter: Filter, pageQuery: PageQuery): Promise<Page<BankEntryRow>> =>
  page(tx, entries, filter, pageQuery);
