/** A part of a transaction that can be undone alone: an error in `work` undoes `work`, and the caller may continue. @module */
import type { Tx } from './tx.ts';

export const inSavepoint = <T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> => tx.transactional(work);
