/**
 * Books lines of a bank's file, many in one statement each: lock wallets and top-ups, decide, add the lines that are
 * new, post, record. The same line again is `already`; one with a known reference and other content moves nothing and
 * waits for an operator.
 * @module
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';
import { centsValue, idRow, idValue } from '../../../db/row-values.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChanges } from '../../../events/record.ts';
import { assert } from '../../../kernel/assert.ts';
import type { CalendarDate } from '../../../kernel/calendar-date.ts';
import { type Id, newId } from '../../../kernel/ids.ts';
import { type Cents, cents, eurosFromCents } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Vault } from '../../../vault/vault.ts';
import { available, wallet as walletSource } from '../ledger/account.rules.ts';
import { bankCredit, toSuspense } from '../ledger/ledger.rules.ts';
import { balancesAfter, type JournalDraft, type PostResult, postNew } from '../ledger/ledger.service.ts';
import {
  type BankEntryStatus,
  type CreditedWallet,
  creditTarget,
  givenId,
  isBookable,
  isSameMoney,
  type NamedFunding,
  operatorOwnerId,
  type SaidOfLine,
} from './bank-entry.rules.ts';
import type { BankEntryDetails } from './bank-file.contract.ts';
import { type BankLine, type BookedLines, lockBookedLines, type NotBooked } from './bank-line.service.ts';

export type NewEntry = {
  readonly accountIban: string | null;
  readonly servicerReference: string;
  /** Of one of the payments of an entry: the reference of the entry, if it has one. */
  readonly entryReference: string | null;
  readonly direction: 'credit' | 'debit' | null;
  readonly isReversal: boolean;
  readonly amountCents: Cents | null;
  readonly bookedOn: CalendarDate | null;
  /** Of a credit: the top-up that it may name. */
  readonly reference: string | undefined;
  /** It gives back a payment. */
  readonly isReturn: boolean;
  readonly details: BankEntryDetails;
  /** Why it must not go to a wallet. A credit goes to suspense then, and anything else stays unbooked. */
  readonly refused?: string;
  /** Why it moves nothing. */
  readonly unbooked?: NotBooked;
};

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

/** What makes two lines with one reference the same. */
type Content = SaidOfLine & { readonly paymentKey: string | null };
type KnownLines = ReadonlyMap<string, readonly (Content & { readonly id: string })[]>;

const placeOf = (line: Pick<NewEntry, 'accountIban' | 'servicerReference'>): string =>
  `${line.accountIban ?? ''} ${line.servicerReference}`;
const isSame = (one: Content, other: Content): boolean =>
  isSameMoney(one, other) && one.isReversal === other.isReversal && one.paymentKey === other.paymentKey;

function contentOf(line: NewEntry): Content {
  const checkOf = (text: string | null) =>
    text === null
      ? null
      : createHash('sha256')
          .update(`${placeOf(line)} ${text}`)
          .digest('hex')
          .slice(0, 8);
  const { endToEndId, payerIban } = line.details;
  return {
    direction: line.direction,
    amountCents: line.amountCents,
    isReversal: line.isReversal,
    bookedOn: line.bookedOn,
    paymentKey: paymentKeyOf(line),
    endToEndCheck: checkOf(givenId(endToEndId)),
    payerCheck: checkOf(payerIban),
  };
}

/** What a debit has in common with the money that it brought back. */
function paymentKeyOf({ accountIban, direction, isReversal, isReturn, details: { endToEndId } }: NewEntry) {
  const isPayment = direction === 'debit' || isReturn;
  if (!isPayment || isReversal || givenId(endToEndId) === null) return null;
  return createHash('sha256').update(`${accountIban} ${endToEndId}`).digest('hex');
}

const knownRow = columnRow({
  id: z.string(),
  accountIban: z.string().nullable(),
  servicerReference: z.string(),
  direction: z.enum(['credit', 'debit']).nullable(),
  amountCents: centsValue.nullable(),
  isReversal: z.boolean(),
  bookedOn: z.string().nullable(),
  paymentKey: z.string().nullable(),
  endToEndCheck: z.string().nullable(),
  payerCheck: z.string().nullable(),
});

/** The lines that have these references: the first one of each, then those that contradict it. */
async function knownLines(tx: Tx, adapter: string, lines: readonly NewEntry[]): Promise<KnownLines> {
  const named = lines.map(({ accountIban, servicerReference }) => ({ accountIban, servicerReference }));
  const rows = await rowsOf(
    tx,
    knownRow,
    `with named as (
       select distinct * from jsonb_to_recordset($1::jsonb) as r ("accountIban" text, "servicerReference" text)
     ), first as (
       select e.* from named r join bank_entries e
         on e.account_iban = r."accountIban" and e.servicer_reference = r."servicerReference" and e.contradicts is null
       union all
       select e.* from named r join bank_entries e
         on e.account_iban is null and e.adapter = $2 and e.servicer_reference = r."servicerReference"
           and e.contradicts is null
       where r."accountIban" is null
     ), known as (
       select * from first union all select c.* from first f join bank_entries c on c.contradicts = f.id
     )
     select id, account_iban, servicer_reference, direction, amount_cents, is_reversal, booked_on, payment_key,
       end_to_end_check, payer_check
     from known order by contradicts nulls first, created_at, id`,
    [JSON.stringify(named), adapter],
  );
  return Map.groupBy(rows, placeOf);
}

/** `others`: a line before, in this file or an earlier one, has the reference, and none has this content. */
function sorted(lines: readonly NewEntry[], known: KnownLines) {
  const seen = new Map<string, readonly Content[]>(known);
  const [news, others]: [NewEntry[], NewEntry[]] = [[], []];
  for (const line of lines) {
    const [place, content] = [placeOf(line), contentOf(line)];
    const before = seen.get(place) ?? [];
    if (before.some((one) => isSame(one, content))) continue;
    (before.length === 0 ? news : others).push(line);
    seen.set(place, [...before, content]);
  }
  return { news, others };
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

type Targets = {
  readonly wallets: ReadonlyMap<string, CreditedWallet>;
  readonly fundings: ReadonlyMap<string, NamedFunding>;
  /** Of debits that are not booked. */
  readonly unbookedPayments: ReadonlySet<string>;
};

const walletRow = columnRow({
  id: idValue('wallet'),
  ownerId: idValue('owner'),
  iban: z.string().nullable(),
  status: z.enum(['active', 'frozen', 'closed']),
});
const fundingRow = columnRow({
  id: idValue('funding'),
  walletId: idValue('wallet'),
  amountCents: centsValue,
  status: z.enum(['pending', 'completed']),
  reference: z.string(),
});

/** Wallets, then top-ups, each in the order of their ids. */
async function lockTargets(tx: Tx, lines: readonly NewEntry[]): Promise<Targets> {
  const ibans = [...new Set(lines.flatMap(({ accountIban }) => accountIban ?? []))];
  const references = [...new Set(lines.flatMap(({ reference }) => reference ?? []))];
  const wallets = await rowsOf(
    tx,
    walletRow,
    `select id, owner_id, iban, status from wallets
     where iban = any($1) or id in (select wallet_id from fundings where reference = any($2))
     order by id for share`,
    [ibans, references],
  );
  const fundings = await rowsOf(
    tx,
    fundingRow,
    `select id, wallet_id, amount_cents, status, reference from fundings where reference = any($1)
     order by id for update`,
    [references],
  );
  const byId = new Map(wallets.map((one) => [one.id, one]));
  return {
    wallets: new Map(wallets.map((one) => [one.iban ?? '', one])),
    fundings: new Map(
      fundings.flatMap(({ walletId, reference, ...funding }) => {
        const wallet = byId.get(walletId);
        return wallet === undefined ? [] : [[reference, { ...funding, wallet }] as const];
      }),
    ),
    unbookedPayments: await unbookedPaymentsOf(tx, lines),
  };
}

const paymentRow = columnRow({ paymentKey: z.string() });

/** No line with a debit is booked, so those of this part count as well, wherever they stand in it. */
async function unbookedPaymentsOf(tx: Tx, lines: readonly NewEntry[]): Promise<ReadonlySet<string>> {
  const keysOf = (some: readonly NewEntry[]) => some.flatMap((line) => paymentKeyOf(line) ?? []);
  const returns = keysOf(lines.filter(({ isReturn }) => isReturn));
  if (returns.length === 0) return new Set();
  const text = `select payment_key from bank_entries where direction = 'debit' and payment_key = any($1)`;
  const rows = await rowsOf(tx, paymentRow, text, [returns]);
  const debits = lines.filter(({ direction }) => direction === 'debit');
  return new Set([...rows.map(({ paymentKey }) => paymentKey), ...keysOf(debits)]);
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

type Target = ReturnType<typeof creditTarget> | { readonly to: 'unbooked'; readonly why: string };

function targetOf(line: NewEntry, { wallets, fundings, unbookedPayments }: Targets): Target {
  const { direction, amountCents, accountIban, reference, refused, unbooked } = line;
  if (unbooked !== undefined) return { to: 'unbooked', why: unbooked.why };
  if (direction !== 'credit' || amountCents === null)
    return { to: 'unbooked', why: refused ?? 'money left the account, and no transfer of ours explains it' };
  if (line.isReversal) return { to: 'unbooked', why: refused ?? 'it takes back an earlier entry' };
  if (!isBookable(amountCents)) return { to: 'unbooked', why: refused ?? 'it has an amount that no payment has' };
  if (refused !== undefined) {
    const gaveNothing = unbookedPayments.has(paymentKeyOf(line) ?? '');
    return gaveNothing
      ? { to: 'unbooked', why: `${refused}; its payment is not booked either` }
      : { to: 'suspense', why: refused };
  }
  return creditTarget({
    amountCents,
    wallet: wallets.get(accountIban ?? ''),
    funding: reference === undefined ? undefined : fundings.get(reference),
  });
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
       amount_cents, booked_on, status, why, owner_id, wallet_id, funding_id, journal_id, contradicts, payment_key, end_to_end_check,
       payer_check, assignable, sealed_details, request_id, created_at, updated_at)
     select "id", $2, "accountIban", "servicerReference", "entryReference", "direction", "isReversal", "amountCents",
       "bookedOn", "status", "why", "ownerId", "walletId", "fundingId", "journalId", "contradicts", "paymentKey", "endToEndCheck",
       "payerCheck", "assignable", "sealedDetails", $3, $4, $4
     from jsonb_to_recordset($1::jsonb) as r ("id" text, "accountIban" text, "servicerReference" text,
       "entryReference" text, "direction" text, "isReversal" boolean, "amountCents" bigint, "bookedOn" text, "status" text, "why" text, "ownerId" text,
       "walletId" text, "fundingId" text, "journalId" text, "contradicts" text, "paymentKey" text,
       "endToEndCheck" text, "payerCheck" text, "assignable" boolean, "sealedDetails" text)
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
