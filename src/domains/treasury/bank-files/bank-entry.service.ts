/**
 * Books lines of a bank's file, many in one statement each: lock wallets and top-ups, decide, add the lines that are
 * new, post, record. The same line again is `already`; one with a known reference and other content moves nothing and
 * waits for an operator.
 * @module
 */
import { idRow } from '../../../db/row-values.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChanges } from '../../../events/record.ts';
import { assert } from '../../../kernel/assert.ts';
import { type Id, newId } from '../../../kernel/ids.ts';
import { type Cents, cents, eurosFromCents } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Vault } from '../../../vault/vault.ts';
import { available, wallet as walletSource } from '../ledger/account.rules.ts';
import { bankCredit, toSuspense } from '../ledger/ledger.rules.ts';
import { balancesAfter, type JournalDraft, type PostResult, postNew } from '../ledger/ledger.service.ts';
import { contentOf, isSame, knownLines, type NewEntry, placeOf, sorted } from './bank-entry.known.service.ts';
import {
  type BankEntryStatus,
  type CreditedWallet,
  isBookable,
  isSameMoney,
  operatorOwnerId,
} from './bank-entry.rules.ts';
import { lockTargets, type Targets, targetOf } from './bank-entry.target.service.ts';
import { type BankLine, type BookedLines, lockBookedLines, type NotBooked } from './bank-line.service.ts';

export type Booked = Readonly<Record<Exclude<BankEntryStatus, 'assigned'> | 'already', number>>;

export const detailsContext = (id: string): string => `bank-entry/${id}`;

/** In the order of the lines of one bank, which `adapter` names. */
export async function bookEntries(
  tx: Tx,
  vault: Pick<Vault, 'seal'>,
  { adapter, lines: given }: { readonly adapter: string; readonly lines: readonly NewEntry[] },
  cause: Cause,
): Promise<Booked> {
  const ofAccounts = given.filter(isOfAccount);
  const booked = await lockBookedLines(tx, ofAccounts);
  const lines = given.map((line) => withoutBooking(line, booked));
  const targets = await lockTargets(tx, lines);
  const { news, others } = sorted(lines, await knownLines(tx, adapter, lines));
  const completing = new Set<string>();
  const decided = await Promise.all(news.map((line) => decide(line, targets, completing, vault)));
  const added = await insertEntries(tx, adapter, decided, cause);
  const fresh = decided.filter(({ id }) => added.has(id));
  // What another transaction has booked meanwhile is known now.
  const overtaken = decided.filter(({ id }) => !added.has(id)).map(({ line }) => line);
  const contradicting = [...others, ...overtaken];
  const stated = contradicting.length === 0 ? [] : await contradictions(tx, vault, adapter, contradicting);
  const kept = (await insertEntries(tx, adapter, stated, cause)).size;
  const posted = await postNew(tx, cause, fresh.flatMap(journalOf));
  const journals = new Map(posted.map((result) => [result.journalId, result]));
  const credited = await creditedOf(tx, fresh, journals);
  await completeFundings(tx, credited);
  await recordChanges(tx, cause, credited.flatMap(changesOf));
  const count = (status: BankEntryStatus) => fresh.filter((entry) => entry.status === status).length;
  return {
    credited: count('credited'),
    suspense: count('suspense'),
    unbooked: count('unbooked') + kept,
    already: lines.length - fresh.length - kept,
  };
}

const isOfAccount = (line: NewEntry): line is NewEntry & BankLine =>
  line.accountIban !== null && line.direction !== null;

/** What a transfer has heard stays beside it for an operator. */
function withoutBooking(line: NewEntry, booked: BookedLines): NewEntry {
  const unbooked = line.unbooked ?? (isOfAccount(line) ? booked.whyNot(line, 'entry') : undefined);
  return unbooked === undefined ? line : { ...line, unbooked };
}

/** Without those that turn out to be a line that another transaction has booked. */
async function contradictions(
  tx: Tx,
  vault: Pick<Vault, 'seal'>,
  adapter: string,
  lines: readonly NewEntry[],
): Promise<readonly Decided[]> {
  const all = await knownLines(tx, adapter, lines);
  const found = lines.map(async (line) => {
    const known = all.get(placeOf(line)) ?? [];
    const [first] = known;
    assert(first !== undefined, 'a line with its reference is booked');
    const content = contentOf(line);
    if (known.some((one) => isSame(one, content))) return [];
    const isOtherMoney = line.unbooked?.isOtherMoney !== false && known.every((one) => !isSameMoney(one, content));
    const why = line.unbooked?.why ?? `the bank gave its reference to another line, ${first.id}`;
    return [{ ...(await unbookedEntry(line, { why, isOtherMoney }, vault)), contradicts: first.id }];
  });
  return (await Promise.all(found)).flat();
}

type Decided = {
  readonly id: Id<'bankEntry'>;
  readonly line: NewEntry;
  readonly status: Exclude<BankEntryStatus, 'assigned'>;
  readonly why: string | null;
  readonly wallet: CreditedWallet | null;
  readonly fundingId: Id<'funding'> | null;
  readonly journalId: Id<'journal'> | null;
  readonly sealedDetails: string | null;
  readonly contradicts: string | null;
  readonly assignable: boolean;
};

async function unbookedEntry(
  line: NewEntry,
  { why, isOtherMoney }: NotBooked,
  vault: Pick<Vault, 'seal'>,
): Promise<Decided> {
  const id = newId('bankEntry');
  const sealedDetails = await sealed(id, line, vault);
  const assignable = isOtherMoney && isPlainCredit(line);
  return { ...nothingMoved, id, line, status: 'unbooked', why, sealedDetails, assignable };
}

const nothingMoved = { wallet: null, fundingId: null, journalId: null, contradicts: null, assignable: false };
const isPlainCredit = ({ direction, isReversal, amountCents }: NewEntry): boolean =>
  direction === 'credit' && !isReversal && amountCents !== null && isBookable(amountCents);
const sealed = (id: string, { details }: NewEntry, vault: Pick<Vault, 'seal'>): Promise<string> =>
  vault.seal(JSON.stringify(details), detailsContext(id));

async function decide(
  line: NewEntry,
  targets: Targets,
  completing: Set<string>,
  vault: Pick<Vault, 'seal'>,
): Promise<Decided> {
  const target = targetOf(line, targets);
  if (target.to === 'unbooked')
    return unbookedEntry(line, line.unbooked ?? { why: target.why, isOtherMoney: false }, vault);
  const id = newId('bankEntry');
  const journalId = newId('journal');
  if (target.to === 'suspense') {
    const sealedDetails = await sealed(id, line, vault);
    return { ...nothingMoved, id, line, status: 'suspense', why: target.why, journalId, sealedDetails };
  }
  const fundingId = target.fundingId !== null && !completing.has(target.fundingId) ? target.fundingId : null;
  if (fundingId !== null) completing.add(fundingId);
  const { wallet } = target;
  return {
    ...nothingMoved,
    id,
    line,
    status: 'credited',
    why: null,
    wallet,
    fundingId,
    journalId,
    sealedDetails: null,
  };
}

/** In the order of the bank's references, so that two files with the same lines wait for each other. */
async function insertEntries(
  tx: Tx,
  adapter: string,
  decided: readonly Decided[],
  cause: Cause,
): Promise<ReadonlySet<string>> {
  if (decided.length === 0) return new Set();
  const rows = decided.map(({ line, wallet, ...entry }) => ({
    ...entry,
    accountIban: line.accountIban,
    servicerReference: line.servicerReference,
    entryReference: line.entryReference,
    ...contentOf(line),
    ownerId: wallet?.ownerId ?? null,
    walletId: wallet?.id ?? null,
  }));
  const added = await rowsOf(
    tx,
    idRow,
    `insert into bank_entries (id, adapter, account_iban, servicer_reference, entry_reference, direction, is_reversal,
       amount_cents, booked_on, status, why, owner_id, wallet_id, funding_id, journal_id, contradicts, payment_key,
       end_to_end_check, payer_check, assignable, sealed_details, request_id, created_at, updated_at)
     select "id", $2, "accountIban", "servicerReference", "entryReference", "direction", "isReversal", "amountCents",
       "bookedOn", "status", "why", "ownerId", "walletId", "fundingId", "journalId", "contradicts", "paymentKey",
       "endToEndCheck", "payerCheck", "assignable", "sealedDetails", $3, $4, $4
     from jsonb_to_recordset($1::jsonb) as r ("id" text, "accountIban" text, "servicerReference" text,
       "entryReference" text, "direction" text, "isReversal" boolean, "amountCents" bigint, "bookedOn" text,
       "status" text, "why" text, "ownerId" text, "walletId" text, "fundingId" text, "journalId" text,
       "contradicts" text, "paymentKey" text, "endToEndCheck" text, "payerCheck" text, "assignable" boolean,
       "sealedDetails" text)
     order by "accountIban", "servicerReference"
     on conflict do nothing returning id`,
    [JSON.stringify(rows), adapter, cause.requestId, cause.at],
  );
  return new Set(added.map(({ id }) => id));
}

function journalOf({ id, line, wallet, fundingId, journalId }: Decided): JournalDraft[] {
  if (journalId === null) return [];
  assert(line.amountCents !== null, 'what is booked has an amount');
  const { amountCents } = line;
  const entry = { id: journalId, referenceType: 'bank_entry', referenceId: id, cause: `bank-entry:${id}` } as const;
  if (wallet === null) {
    const ownerId = operatorOwnerId;
    return [{ ...entry, ownerId, kind: 'sepa_credit', postings: toSuspense({ ownerId, amountCents }) }];
  }
  const { ownerId } = wallet;
  const postings = bankCredit({ ownerId, to: walletSource(wallet.id), amountCents });
  if (fundingId === null) return [{ ...entry, ownerId, kind: 'sepa_credit', postings }];
  const funding = { referenceType: 'fund', referenceId: fundingId, cause: `fund:${fundingId}` } as const;
  return [{ id: journalId, ...funding, ownerId, kind: 'fund', postings }];
}

type Credited = {
  readonly entryId: Id<'bankEntry'>;
  readonly wallet: CreditedWallet;
  readonly fundingId: Id<'funding'> | null;
  readonly journalId: Id<'journal'>;
  readonly amountCents: Cents;
  readonly balanceCents: Cents;
};

async function creditedOf(
  tx: Tx,
  fresh: readonly Decided[],
  journals: ReadonlyMap<string, PostResult>,
): Promise<Credited[]> {
  const credits = fresh.flatMap(({ id: entryId, line: { amountCents }, wallet, fundingId, journalId }) =>
    wallet === null || journalId === null || amountCents === null
      ? []
      : [{ entryId, wallet, fundingId, journalId, amountCents }],
  );
  const balances = await balancesAfter(
    tx,
    credits.map(({ wallet, journalId }) => ({
      account: available(walletSource(wallet.id)),
      result: journals.get(journalId),
    })),
  );
  return credits.map((credit, index) => ({ ...credit, balanceCents: balances[index] ?? cents(0) }));
}

async function completeFundings(tx: Tx, credited: readonly Credited[]): Promise<void> {
  const completed = credited.filter(({ fundingId }) => fundingId !== null);
  if (completed.length === 0) return;
  const rows = completed.map(({ fundingId, journalId, balanceCents }) => ({ fundingId, journalId, balanceCents }));
  const changed = await runSql(
    tx,
    `update fundings f set status = 'completed', journal_id = r."journalId", balance_cents = r."balanceCents"
     from jsonb_to_recordset($1::jsonb) as r ("fundingId" text, "journalId" text, "balanceCents" bigint)
     where f.id = r."fundingId" and f.status = 'pending'`,
    [JSON.stringify(rows)],
  );
  assert(changed === completed.length, 'each top-up was pending when it was locked');
}

/** Of a credit to a wallet. */
export function changesOf({ entryId, wallet, fundingId, amountCents, balanceCents }: Credited): Change[] {
  const details = { bankEntryId: entryId, amountCents, ...(fundingId === null ? {} : { fundingId }) };
  const data = {
    id: wallet.id,
    ownerId: wallet.ownerId,
    walletId: wallet.id,
    amountEuros: eurosFromCents(amountCents),
    balanceEuros: eurosFromCents(balanceCents),
    source: 'sepa',
  };
  const about = { ownerId: wallet.ownerId, subjectId: wallet.id, details };
  const account = available(walletSource(wallet.id));
  const credit: Change = { ...about, event: 'wallet.credited', data: { ...data, agentId: null, account, fundingId } };
  if (fundingId === null) return [credit];
  return [
    { ...about, event: 'wallet.funded', data: { ...data, fundingId } },
    { ...credit, audited: false },
  ];
}
