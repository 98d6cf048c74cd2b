/**
 * Answers the operations about banks' files: verify the signature, before the body is read as far as the headers show it,
 * call, shape the answer. No decision is made here.
 * @module
 */
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
import type { BankFileBodies } from './bank-file.body.ts';
import type { BankFileAnswer, bankFilesArea } from './bank-file.contract.ts';

export type SignedHead = {
  readonly requestLine: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

export type BankFileDeps = {
  readonly database: Database;
  readonly vault: Vault;
  /** Whether the headers alone show the bank that signed. Throws for headers that no bank sends. */
  readonly signedHead: (head: SignedHead, call: Call) => Promise<boolean>;
  /** The bank that signed it. Throws for a wrong signature. */
  readonly signedBy: (input: SignedHead & { readonly rawBody: Uint8Array }, call: Call) => Promise<string>;
  readonly bodies: BankFileBodies;
  readonly receive: (file: { adapter: string; bytes: Uint8Array }, cause: Cause) => Promise<BankFileAnswer>;
};

export const bankFileHandlers = (deps: BankFileDeps): Handlers<typeof bankFilesArea> => ({
  receiveBankFile: async ({ requestLine, headers }, call) => {
    const head = { requestLine, headers };
    const isProven = await deps.signedHead(head, call);
    return deps.bodies.holding({ isProven, declaredBytes: call.declaredBytes }, async (limit) => {
      const bytes = await call.readFile(limit);
      const adapter = await deps.signedBy({ ...head, rawBody: bytes }, call);
      validatedQuery(undefined, requestLine);
      const cause: Cause = { ...call.cause, actor: { kind: 'network' }, at: await call.now() };
      return deps.receive({ adapter, bytes }, cause);
    });
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
