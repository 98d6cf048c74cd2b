/** Reads camt.054.001.08: what was booked on an account. Its result counts only if the text is valid by the schema. @module */
import type { EntryLine, Notification } from '../../domains/treasury/sepa/bank-files.port.ts';
import { add } from '../../kernel/money.ts';
import { RefusedFile } from './refused-file.ts';
import { centsOf, dateOf } from './values.ts';
import { readRecords, XmlNode } from './xml-records.ts';

const message = 'Document/BkToCstmrDbtCdtNtfctn';
const header = `${message}/GrpHdr`;
const account = `${message}/Ntfctn/Acct`;
const entry = `${message}/Ntfctn/Ntry`;

export function readNotification(text: string): Notification {
  let messageId = '';
  let accountIban = '';
  const lines: EntryLine[] = [];
  readRecords(text, new Set([header, account, entry]), (path, record) => {
    if (path === header) messageId = record.textAt('MsgId') ?? '';
    else if (path === account) {
      const iban = record.textAt('Id', 'IBAN');
      if (iban === null) throw new RefusedFile('is about an account without an IBAN');
      accountIban = iban;
    } else for (const line of linesOf(record, accountIban)) lines.push(line);
  });
  return { kind: 'notification', messageId, lines };
}

/** An entry without details is one line; a batch that is booked as one entry is a line for each payment. */
function linesOf(record: XmlNode, accountIban: string): readonly EntryLine[] {
  const reference = record.textAt('AcctSvcrRef');
  const payments = record.all('NtryDtls').flatMap((details) => details.all('TxDtls'));
  const amountCents = centsOf(required(record.at('Amt')));
  const common = {
    accountIban,
    isReversal: record.textAt('RvslInd') === 'true' || record.textAt('RvslInd') === '1',
    isBooked: record.textAt('Sts', 'Cd') === 'BOOK',
    bookingDate: dateOf(record.at('BookgDt')),
    valueDate: dateOf(record.at('ValDt')),
  };
  const [only = emptyDetails] = payments;
  if (payments.length < 2) {
    const servicerReference = reference ?? only.textAt('Refs', 'AcctSvcrRef');
    return [lineOf({ ...common, amountCents, entryReference: null }, servicerReference, only, record)];
  }
  const owns = payments.map((payment) => payment.textAt('Refs', 'AcctSvcrRef'));
  const entryReference = reference ?? sharedBy(owns);
  const lines = payments.map((payment, index) => {
    const own = owns[index] ?? null;
    // A bank may give several payments one reference, or that of their entry: it names none of them then.
    const isOwn = own !== null && own !== reference && owns.filter((one) => one === own).length === 1;
    const base = entryReference ?? own;
    const numbered = base === null ? null : `${base}/${index + 1}`;
    const lineCents = centsOf(required(payment.at('Amt')));
    return lineOf({ ...common, amountCents: lineCents, entryReference }, isOwn ? own : numbered, payment, record);
  });
  if (add(...lines.map((line) => line.amountCents)) !== amountCents)
    throw new RefusedFile('has an entry whose payments do not sum to its amount');
  return lines;
}

/** What each payment has is the reference of their entry, also where the entry itself has none. */
const sharedBy = ([first = null, ...others]: readonly (string | null)[]): string | null =>
  others.every((one) => one === first) ? first : null;

const emptyDetails = new XmlNode({ local: 'TxDtls', attributes: {} } as never);

type Common = Pick<
  EntryLine,
  'accountIban' | 'entryReference' | 'isReversal' | 'isBooked' | 'bookingDate' | 'valueDate' | 'amountCents'
>;

function lineOf(common: Common, servicerReference: string | null, payment: XmlNode, record: XmlNode): EntryLine {
  if (servicerReference === null) throw new RefusedFile('has an entry without the reference of the bank');
  const written = payment.textAt('CdtDbtInd') ?? record.textAt('CdtDbtInd');
  const direction = written === 'CRDT' ? 'credit' : 'debit';
  const other = direction === 'credit' ? 'Dbtr' : 'Cdtr';
  const texts = payment.at('RmtInf')?.all('Ustrd') ?? [];
  return {
    ...common,
    servicerReference,
    direction,
    endToEndId: payment.textAt('Refs', 'EndToEndId'),
    returnReasonCode: returnReasonOf(payment),
    counterparty: {
      name: payment.textAt('RltdPties', other, 'Pty', 'Nm'),
      iban: payment.textAt('RltdPties', `${other}Acct`, 'Id', 'IBAN'),
    },
    remittance: {
      text: texts.length === 0 ? null : texts.map(({ text }) => text).join(''),
      creditorReference: payment.textAt('RmtInf', 'Strd', 'CdtrRefInf', 'Ref'),
    },
  };
}

/** A return may have a reason in the bank's own words, or none. */
const returnReasonOf = (payment: XmlNode): string | null =>
  payment.at('RtrInf') === undefined ? null : (payment.textAt('RtrInf', 'Rsn', 'Cd') ?? unspecifiedReason);
const unspecifiedReason = 'MS03';

/** The schema requires it of an entry, but not of its payments. */
function required(node: XmlNode | undefined): XmlNode {
  if (node === undefined) throw new RefusedFile('has an entry or a payment without its amount');
  return node;
}
