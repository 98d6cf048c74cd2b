/** Reads pain.002.001.10: what became of the payments of a file. Its result counts only if the text is valid by the schema. @module */
import type { StatusLine, StatusReport } from '../../domains/treasury/sepa/bank-files.port.ts';
import { RefusedFile } from './refused-file.ts';
import { centsOf } from './values.ts';
import { readRecords, type XmlNode } from './xml-records.ts';

const report = 'Document/CstmrPmtStsRpt';
const header = `${report}/GrpHdr`;
const original = `${report}/OrgnlGrpInfAndSts`;
const batch = `${report}/OrgnlPmtInfAndSts`;

export function readStatusReport(text: string): StatusReport {
  let messageId = '';
  let originalMessageId = '';
  const lines: StatusLine[] = [];
  readRecords(text, new Set([header, original, batch]), (path, record) => {
    if (path === header) messageId = record.textAt('MsgId') ?? '';
    else if (path === original) {
      if (!record.textAt('OrgnlMsgNmId')?.startsWith('pain.001'))
        throw new RefusedFile('is about a message that is no payment initiation');
      originalMessageId = record.textAt('OrgnlMsgId') ?? '';
      addLine(lines, 'message', originalMessageId, record.textAt('GrpSts'), record);
    } else {
      addLine(lines, 'batch', record.textAt('OrgnlPmtInfId'), record.textAt('PmtInfSts'), record);
      for (const payment of record.all('TxInfAndSts'))
        addLine(lines, 'payment', payment.textAt('OrgnlEndToEndId'), payment.textAt('TxSts'), payment);
    }
  });
  return { kind: 'status_report', messageId, originalMessageId, lines };
}

/** Without a status the bank says nothing at this level; a payment without its end-to-end id cannot be matched. */
function addLine(
  lines: StatusLine[],
  about: StatusLine['about'],
  reference: string | null,
  status: string | null,
  record: XmlNode,
): void {
  if (status === null) return;
  if (reference === null) throw new RefusedFile('has the status of a payment without its end-to-end id');
  const amount = record.at('OrgnlTxRef', 'Amt', 'InstdAmt');
  const reasonCode = record.textAt('StsRsnInf', 'Rsn', 'Cd');
  lines.push({ about, reference, status, reasonCode, amountCents: amount === undefined ? null : centsOf(amount) });
}
