/**
 * Books what the bank said of transfers: any number of messages in the caller's transaction, with as many statements for
 * ten thousand as for one, and some for each intent that was paid for. Messages of one transfer are heard in the order of the list. What was heard before, or is old
 * news, moves nothing; a contradiction is answered and moves nothing. Each transfer is debited by one entry.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { mismatchOf } from '../../domains/treasury/sepa/bank-message.rules.ts';
import type { HeardMessage, HeardOutcome } from '../../domains/treasury/sepa/bank-rail.port.ts';
import { hearBank } from '../../domains/treasury/sepa/bank-transfer.rules.ts';
import { transferIdOf } from '../../domains/treasury/sepa/end-to-end-id.rules.ts';
import { type BankTransfer, lockBankTransfers } from '../../domains/treasury/transfers/bank-transfer.queries.ts';
import {
  debitsOf,
  inStage,
  noteDebits,
  noteEntries,
  seenCauses,
  type TransferStep,
} from '../../domains/treasury/transfers/bank-transfer.service.ts';
import type { Id } from '../../kernel/ids.ts';
import { type Cause, causedBy } from '../../platform/cause.ts';
import { moveTransfers } from './transfer-intents.ts';

export type HearOptions = { readonly isOwnStep?: boolean };

/** Outcomes are in the order of the messages. `cause`: of the file or the answer; each message is one more cause. */
export async function hearBankMessages(
  tx: Tx,
  messages: readonly HeardMessage[],
  cause: Cause,
  { isOwnStep = false }: HearOptions = {},
): Promise<HeardOutcome[]> {
  const named = messages.map((message) => ({ message, id: transferIdOf(message.endToEndId) }));
  const ids = [...new Set(named.flatMap(({ id }) => id ?? []))].sort();
  const rows = new Map((await lockBankTransfers(tx, ids)).map((row) => [row.id, row]));
  const seen = new Set(await seenCauses(tx, namedCauses(named)));
  const debits = await debitsOf(tx, ids);
  const newDebits = new Map<string, string>();
  const steps: TransferStep[] = [];
  const outcomes = named.map(({ message, id }) => {
    const row = id === undefined ? undefined : rows.get(id);
    if (row === undefined) return notOurs;
    const debit = message.isDebit === true ? (debits.get(row.id) ?? newDebits.get(row.id)) : undefined;
    const isSecondDebit = debit !== undefined && debit !== causeIdOf(message);
    const known = { isRepeated: seen.has(keyOf(row.id, message)), isSecondDebit };
    const { outcome, after } = heard(row, message, known, cause.at);
    if (message.isDebit === true && debit === undefined && !('why' in outcome))
      newDebits.set(row.id, causeIdOf(message));
    if (after === undefined) return outcome;
    rows.set(row.id, after);
    seen.add(keyOf(row.id, message));
    // Events carry the ids of the call that asked for the transfer.
    steps.push({ before: row, after, cause: causedBy({ ...cause, causeId: causeIdOf(message) }, row) });
    return outcome;
  });
  await moveTransfers(tx, steps, { isOwnStep });
  await noteDebits(tx, newDebits, cause.at);
  await noteEntries(tx, entriesOf(named, outcomes), cause.at);
  return outcomes;
}

/** Of the payments that were heard. */
const entriesOf = (named: readonly Named[], outcomes: readonly HeardOutcome[]) =>
  named.flatMap(({ message: { entryCause }, id }, index) => {
    const outcome = outcomes[index];
    const isHeard = outcome !== undefined && !('why' in outcome);
    return isHeard && id !== undefined && entryCause !== undefined ? [{ id, cause: `bank:${entryCause}` }] : [];
  });

const notOurs: HeardOutcome = { outcome: 'not_ours', why: 'there is no such transfer' };

const causeIdOf = ({ cause }: HeardMessage): string => `bank:${cause}`;
const keyOf = (id: string, message: HeardMessage): string => `${id} ${causeIdOf(message)}`;

type Named = { readonly message: HeardMessage; readonly id: Id<'transfer'> | undefined };

const namedCauses = (named: readonly Named[]) =>
  named.flatMap(({ message, id }) => (id === undefined ? [] : [{ id, cause: causeIdOf(message) }]));

const otherBefore = 'the bank gave its reference to another line of this transfer';
const debitedBefore = 'another entry has debited the account for this transfer before';

type Known = { readonly isRepeated: boolean; readonly isSecondDebit: boolean };

function heard(
  row: BankTransfer,
  { kind, reasonCode, amountCents, accountIban }: HeardMessage,
  { isRepeated, isSecondDebit }: Known,
  at: Date,
): { readonly outcome: HeardOutcome; readonly after?: BankTransfer } {
  const mismatch = mismatchOf(row, { amountCents, ...(accountIban !== null && { accountIban }) });
  if (mismatch !== undefined)
    return { outcome: { outcome: isRepeated ? 'contradicts' : 'refused', why: isRepeated ? otherBefore : mismatch } };
  if (isSecondDebit) return { outcome: { outcome: 'refused', why: debitedBefore } };
  const move = hearBank(row.stage, kind, isRepeated);
  if (move.outcome === 'refused') return { outcome: { outcome: 'refused', why: move.why } };
  if (move.outcome === 'already') return { outcome: { outcome: 'already' } };
  const failed = kind === 'rejected' || kind === 'returned' || kind === 'recalled';
  const code = reasonCode === null ? '' : `:${reasonCode.replace(/[^A-Za-z0-9_]/g, '').slice(0, 40)}`;
  const why = failed ? { reasonCode, failureReason: `${kind}${code}`.replace(/:$/, '') } : {};
  return { outcome: { outcome: 'moved' }, after: inStage(row, move.next, at, why) };
}
