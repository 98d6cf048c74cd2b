/** How a route writes: one transaction, under the cause of its call. Services work in it and open none. @module */
import type { Database } from '../db/database.ts';
import type { Tx } from '../db/tx.ts';
import type { Cause } from '../platform/cause.ts';
import type { Call } from './caller.ts';

/** `work` may run again from the start (`Database.write`). */
export const inTransaction = <T>(
  { database }: { readonly database: Pick<Database, 'write'> },
  { cause }: Pick<Call, 'cause'>,
  work: (tx: Tx, cause: Cause) => Promise<T>,
): Promise<T> => database.write((tx) => work(tx, cause));
