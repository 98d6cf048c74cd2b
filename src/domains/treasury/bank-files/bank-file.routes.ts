/** Answers the operations about banks' files: verify the signature, call, shape the answer. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Call } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { validatedQuery } from '../../../http/validate.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Vault } from '../../../vault/vault.ts';
import { assignEntry } from './bank-entry.assign.service.ts';
import { listBankEntries } from './bank-entry.queries.ts';
import { bankEntryWire } from './bank-entry.wire.ts';
import type { BankFileAnswer, bankFilesArea } from './bank-file.contract.ts';

export type SignedInput = {
  readonly requestLine: string;
  readonly rawBody: Uint8Array;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

export type BankFileDeps = {
  readonly database: Database;
  readonly vault: Vault;
  /** The bank that signed it. Throws for a wrong signature. */
  readonly signedBy: (input: SignedInput, call: Call) => Promise<string>;
  readonly receive: (file: { adapter: string; bytes: Uint8Array }, cause: Cause) => Promise<BankFileAnswer>;
};

export const bankFileHandlers = (deps: BankFileDeps): Handlers<typeof bankFilesArea> => ({
  receiveBankFile: async (input, call) => {
    const adapter = await deps.signedBy(input, call);
    validatedQuery(undefined, input.requestLine);
    const file = { adapter, bytes: input.rawBody };
    return deps.receive(file, { ...call.cause, actor: { kind: 'network' } });
  },

  listBankEntries: async ({ query: { status, ...paging } }) => {
    const found = await listBankEntries(deps.database.read(), { status }, pageOfQuery(paging));
    return { ...found, data: await Promise.all(found.data.map((row) => bankEntryWire(deps.vault, row))) };
  },

  assignBankEntry: async ({ params: { id }, body: { walletId, reason }, own: { ownerId } }, call) => {
    const wanted = { id, ownerId, walletId, reason };
    return bankEntryWire(deps.vault, await inTransaction(deps, call, (tx, cause) => assignEntry(tx, wanted, cause)));
  },
});
