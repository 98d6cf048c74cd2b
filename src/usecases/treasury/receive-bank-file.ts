/**
 * Reads a file of a bank and books its lines: what is about transfers moves these, credits go to wallets, top-ups or
 * suspense, and the rest waits for an operator. The whole file is validated before the first booking. It is booked in
 * parts, each of which finds what an earlier reading booked, so a file that was half booked is read again without harm.
 * @module
 */
import { createHash } from 'node:crypto';
import { setImmediate as untilOthersRan } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import type { NewEntry } from '../../domains/treasury/bank-files/bank-entry.known.service.ts';
import { namedReference } from '../../domains/treasury/bank-files/bank-entry.rules.ts';
import { bookEntries } from '../../domains/treasury/bank-files/bank-entry.service.ts';
import type { BankFileAnswer } from '../../domains/treasury/bank-files/bank-file.contract.ts';
import {
  answerToBytes,
  answerToMessage,
  type FileKey,
  keepAnswer,
} from '../../domains/treasury/bank-files/bank-file.service.ts';
import {
  type BankLine,
  causeOfLine,
  lockBookedLines,
  type NotBooked,
} from '../../domains/treasury/bank-files/bank-line.service.ts';
import type {
  BankFiles,
  EntryLine,
  Notification,
  StatusLine,
  StatusReport,
} from '../../domains/treasury/sepa/bank-files.port.ts';
import { entryMeaning, statusMeaning } from '../../domains/treasury/sepa/bank-message.rules.ts';
import type { HeardMessage, HeardOutcome } from '../../domains/treasury/sepa/bank-rail.port.ts';
import { transferIdOf } from '../../domains/treasury/sepa/end-to-end-id.rules.ts';
import { ibansOfWallets } from '../../domains/treasury/wallets/wallet.queries.ts';
import { assert } from '../../kernel/assert.ts';
import { DomainError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Cause } from '../../platform/cause.ts';
import type { Logger } from '../../platform/log.ts';
import type { Vault } from '../../vault/vault.ts';
import { hearBankMessages } from './hear-bank-messages.ts';

type Deps = {
  readonly database: Database;
  readonly files: Pick<BankFiles, 'read'>;
  readonly vault: Pick<Vault, 'seal'>;
  readonly log: Pick<Logger, 'error'>;
  /** Accounts of Bursar that no wallet has. */
  readonly isOwnIban: (iban: string) => boolean;
};

/** Each is one transaction. */
const linesInPart = 500;

/** `refused`: nothing of it was booked. `why` reads on from "the file". */
export type ReceivedFile =
  | { readonly outcome: 'received'; readonly answer: BankFileAnswer }
  | { readonly outcome: 'refused'; readonly code: 'invalid_request' | 'idempotency_conflict'; readonly why: string };

export function receiveBankFile(deps: Deps) {
  const underWay = new Map<string, Promise<ReceivedFile>>();

  /** A file that comes again while it is read is not read again, as when a bank has waited for too long. */
  return async (given: { adapter: string; bytes: Uint8Array }, cause: Cause): Promise<ReceivedFile> => {
    const file = { adapter: given.adapter, digest: createHash('sha256').update(given.bytes).digest('hex') };
    const key = `${file.adapter} ${file.digest}`;
    const receiving = underWay.get(key) ?? receive(deps, { ...file, bytes: given.bytes }, cause);
    underWay.set(key, receiving);
    try {
      return await receiving;
    } finally {
      if (underWay.get(key) === receiving) underWay.delete(key);
    }
  };
}

async function receive(
  deps: Deps,
  { adapter, digest, bytes }: { adapter: string; digest: string; bytes: Uint8Array },
  cause: Cause,
): Promise<ReceivedFile> {
  const { database, files } = deps;
  const known = await answerToBytes(database.read(), { adapter, digest });
  if (known !== undefined) return { outcome: 'received', answer: known };
  const read = await files.read(bytes);
  if (read.outcome === 'refused') return { outcome: 'refused', code: 'invalid_request', why: read.why };
  const { file } = read;
  const key: FileKey = { adapter, kind: file.kind, messageId: file.messageId, digest };
  const answered = await answerToMessage(database.read(), key);
  if (answered === 'other file') return { outcome: 'refused', code: 'idempotency_conflict', why: otherFile };
  if (answered !== undefined) return { outcome: 'received', answer: answered };
  return { outcome: 'received', answer: await afterReading(() => bookFile(deps, key, file, cause)) };
}

/** For a bank that waits for the answer: a file that is refused is an error. */
export function answerBankFile(deps: Deps) {
  const receive = receiveBankFile(deps);
  return async (file: { adapter: string; bytes: Uint8Array }, cause: Cause): Promise<BankFileAnswer> => {
    const received = await receive(file, cause);
    if (received.outcome === 'refused') throw new DomainError(received.code, `the file ${received.why}`);
    return received.answer;
  };
}

const otherFile = 'has the message id of another one; send a new id';

/**
 * Once the first line can be booked nothing is the sender's mistake any more: a refusal from within is a bug, and the
 * file is to come again.
 */
async function afterReading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code === 'unavailable') throw error;
    throw new Error('a line of the file could not be booked', { cause: error });
  }
}

async function bookFile(
  deps: Deps,
  key: FileKey,
  file: StatusReport | Notification,
  cause: Cause,
): Promise<BankFileAnswer> {
  const sorted = file.kind === 'status_report' ? sortStatuses(file) : await sortEntries(deps, file);
  const heard = await hear(deps, sorted.heard, cause);
  const booked = await book(deps, key.adapter, [...sorted.entries, ...heard.refused], cause);
  const counts = { ...booked, moved: heard.moved, already: booked.already + heard.already, ignored: sorted.ignored };
  const answer = { id: newId('bankFile'), ...identityOf(file), lines: file.lines.length, ...counts };
  return deps.database.write((tx) => keepAnswer(tx, key, answer, cause));
}

const identityOf = ({ kind, messageId }: StatusReport | Notification) => ({ kind, messageId });

/** `line`: of an entry. `ifRefused`: what an operator gets when the transfer does not move by it. */
type Told = { readonly message: HeardMessage; readonly line?: BankLine; readonly ifRefused: NewEntry };
type Sorted = { readonly heard: readonly Told[]; readonly entries: readonly NewEntry[]; readonly ignored: number };

function sortStatuses({ messageId, lines }: StatusReport): Sorted {
  const heard = lines.flatMap((line, index) => toldByStatus(line, `report/${messageId}/${index + 1}`) ?? []);
  return { heard, entries: [], ignored: lines.length - heard.length };
}

/** A file that Bursar writes has one payment, whose end-to-end id is that of the file and of the batch as well. */
function toldByStatus(line: StatusLine, cause: string): Told | undefined {
  const kind = statusMeaning(line);
  const { reference: endToEndId, reasonCode, amountCents } = line;
  if (kind === undefined || transferIdOf(endToEndId) === undefined) return undefined;
  return {
    message: { endToEndId, kind, cause, reasonCode, amountCents, accountIban: null },
    ifRefused: {
      accountIban: null,
      servicerReference: cause,
      entryReference: null,
      direction: null,
      isReversal: false,
      amountCents,
      bookedOn: null,
      reference: undefined,
      isReturn: false,
      details: { ...noDetails, endToEndId },
    },
  };
}

const noDetails = { payerName: null, payerIban: null, text: null, creditorReference: null, endToEndId: null };

async function sortEntries({ database, isOwnIban }: Deps, { lines }: Notification): Promise<Sorted> {
  const named = [...new Set(lines.map((line) => line.accountIban))];
  const ours = new Set(await ibansOfWallets(database.read(), named));
  const heard: Told[] = [];
  const entries: NewEntry[] = [];
  let ignored = 0;
  for (const [index, line] of lines.entries()) {
    if (index % linesInPart === 0) await untilOthersRan();
    const found = entryMeaning(line, (iban) => ours.has(iban) || isOwnIban(iban));
    if (found.meaning === 'none') ignored += 1;
    else if (found.meaning === 'transfer') heard.push(toldByEntry(line, found.kind));
    else entries.push({ ...entryOf(line), ...(found.meaning === 'unexplained' && { refused: whyUnexplained(line) }) });
  }
  return { heard, entries, ignored };
}

function whyUnexplained({ isReversal, direction }: EntryLine): string {
  if (isReversal) return 'it takes back an earlier entry';
  return direction === 'debit' ? 'no transfer of ours explains it' : 'it returns a payment that is not ours';
}

const toldByEntry = (line: EntryLine, kind: HeardMessage['kind']): Told => ({
  message: {
    endToEndId: line.endToEndId ?? '',
    kind,
    cause: causeOfLine(line),
    reasonCode: line.returnReasonCode,
    amountCents: line.amountCents,
    accountIban: line.accountIban,
    isDebit: line.direction === 'debit',
    ...(line.entryReference !== null && {
      entryCause: causeOfLine({ ...line, servicerReference: line.entryReference }),
    }),
  },
  line,
  ifRefused: entryOf(line),
});

const entryOf = (line: EntryLine): NewEntry => ({
  accountIban: line.accountIban,
  servicerReference: line.servicerReference,
  entryReference: line.entryReference,
  direction: line.direction,
  isReversal: line.isReversal,
  amountCents: line.amountCents,
  bookedOn: line.bookingDate,
  reference: namedReference(line.remittance),
  isReturn: line.returnReasonCode !== null,
  details: {
    payerName: line.counterparty.name,
    payerIban: line.counterparty.iban,
    ...line.remittance,
    endToEndId: line.endToEndId,
  },
});

async function hear({ database }: Deps, told: readonly Told[], cause: Cause) {
  const refused: NewEntry[] = [];
  const counts = { moved: 0, already: 0 };
  for (const part of partsOf(told)) {
    const outcomes = await database.write((tx) => hearPart(tx, part, cause));
    for (const [index, outcome] of outcomes.entries()) count(outcome, part[index]);
  }
  return { ...counts, refused };

  function count(heard: Heard, of: Told | undefined): void {
    if (heard.outcome === 'moved' || heard.outcome === 'already') counts[heard.outcome] += 1;
    else if (of !== undefined) refused.push({ ...of.ifRefused, ...refusalOf(heard) });
  }
}

/** `booked`: by an entry, before it came as a message about a transfer. */
type Heard = HeardOutcome | { readonly outcome: 'booked'; readonly unbooked: NotBooked };

/** What contradicts a message that was heard has another amount or another account, so it is other money. */
function refusalOf(heard: Heard): Partial<NewEntry> {
  if (heard.outcome === 'booked') return { unbooked: heard.unbooked };
  if (!('why' in heard)) return {};
  return heard.outcome === 'contradicts'
    ? { unbooked: { why: heard.why, isOtherMoney: true } }
    : { refused: heard.why };
}

/** A line whose money is booked as a separate entry moves no transfer as well. */
async function hearPart(tx: Tx, part: readonly Told[], cause: Cause): Promise<Heard[]> {
  const ofAccounts = part.flatMap(({ line }) => line ?? []);
  const booked = await lockBookedLines(tx, ofAccounts);
  const found = part.map(({ message, line }) => ({
    message,
    unbooked: line === undefined ? undefined : booked.whyNot(line, 'transfer'),
  }));
  const messages = found.flatMap(({ message, unbooked }) => (unbooked === undefined ? [message] : []));
  const outcomes = (await hearBankMessages(tx, messages, cause)).values();
  return found.map(({ unbooked }) => {
    if (unbooked !== undefined) return { outcome: 'booked', unbooked };
    const { value } = outcomes.next();
    assert(value !== undefined, 'each message has its outcome');
    return value;
  });
}

/** Each part says at once what waits in it: after a crash its lines are known, and nothing would say so any more. */
async function book({ database, vault, log }: Deps, adapter: string, entries: readonly NewEntry[], cause: Cause) {
  const total = { credited: 0, suspense: 0, unbooked: 0, already: 0 };
  for (const lines of partsOf(entries)) {
    const booked = await database.write((tx) => bookEntries(tx, vault, { adapter, lines }, cause));
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += booked[name];
    const { suspense, unbooked } = booked;
    if (suspense + unbooked > 0)
      log.error({ adapter, suspense, unbooked }, 'lines of a bank file wait for an operator: GET /bank-entries');
  }
  return total;
}

const partsOf = <T>(all: readonly T[]): readonly T[][] =>
  Array.from({ length: Math.ceil(all.length / linesInPart) }, (_, index) =>
    all.slice(index * linesInPart, (index + 1) * linesInPart),
  );
