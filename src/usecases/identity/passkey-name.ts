/** The name of the person behind a passkey, for the audit row of a decision. Events and payloads never have it. @module */
import type { Tx } from '../../db/tx.ts';
import { findPasskey } from '../../domains/identity/passkeys/passkey.queries.ts';

/** Null for an unknown id. */
export const passkeyName = async (tx: Tx, id: string): Promise<string | null> =>
  (await findPasskey(tx, id))?.name ?? null;
