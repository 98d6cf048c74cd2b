/** The mark of the bank's folder, as the database keeps it: the first one stays. And what the folder has to hold before. @module */
import * as z from 'zod';
import type { BankFolderMark } from '../adapters/bank-rail/files.ts';
import type { Database } from '../db/database.ts';
import { firstRowOf, runSql } from '../db/statement.ts';
import { endToEndIdOf } from '../domains/treasury/sepa/end-to-end-id.rules.ts';
import { transfersAtBank } from '../domains/treasury/transfers/bank-transfer.queries.ts';

export function bankFolderMark(database: Database): BankFolderMark {
  const kept = async (): Promise<string | undefined> => {
    const text = `select value from deployment_facts where name = 'bank_folder'`;
    return (await firstRowOf(database.read(), z.object({ value: z.string() }), text))?.value;
  };
  return {
    kept,
    async keep(mark) {
      const text = `insert into deployment_facts (name, value) values ('bank_folder', $1) on conflict (name) do nothing`;
      await runSql(database.read(), text, [mark]);
      return (await kept()) ?? mark;
    },
    open: async () => {
      const found = await transfersAtBank(database.read());
      return found.map(({ id, stage }) => ({ endToEndId: endToEndIdOf(id), isTaken: stage !== 'sending' }));
    },
  };
}
