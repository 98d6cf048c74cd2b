/** Checks an owner's book and chains in one snapshot, and then notes how far they are whole. @module */
import type { Database } from '../../db/database.ts';
import {
  checkBook,
  noteVerified,
  type Verification,
  type VerifyOptions,
} from '../../domains/treasury/ledger/verify.service.ts';

export const verifyOwner =
  ({ database }: { readonly database: Database }) =>
  async (ownerId: string, options: VerifyOptions): Promise<Verification> => {
    const checked = await database.write((tx) => checkBook(tx, ownerId, options));
    if (checked.verification.balanced) await noteVerified(database.read(), ownerId, checked);
    return checked.verification;
  };
