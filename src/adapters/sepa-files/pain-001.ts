/** Writes pain.001.001.09: the payments that a bank is asked to make, one batch in a file. @module */
import type { PaymentInitiation, PaymentOrder } from '../../domains/treasury/sepa/bank-files.port.ts';
import { assert } from '../../kernel/assert.ts';
import { add, inWords } from '../../kernel/money.ts';
import { isSepaIdentifier, isSepaText, longestRemittance, longestSepaName } from '../../kernel/sepa-text.ts';
import { namespaceOf } from './message-kinds.ts';

export function paymentInitiationXml(initiation: PaymentInitiation): string {
  assertWritable(initiation);
  const { messageId, createdAt, scheme, executionDate, payer, orders } = initiation;
  const totals = `<NbOfTxs>${orders.length}</NbOfTxs><CtrlSum>${inWords(add(...orders.map(amountOf)))}</CtrlSum>`;
  const bank = payer.bic === null ? '<Othr><Id>NOTPROVIDED</Id></Othr>' : `<BICFI>${escaped(payer.bic)}</BICFI>`;
  const instrument = scheme === 'instant' ? '<LclInstrm><Cd>INST</Cd></LclInstrm>' : '';
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    `<Document xmlns="${namespaceOf('pain.001.001.09')}"><CstmrCdtTrfInitn>\n`,
    `<GrpHdr><MsgId>${escaped(messageId)}</MsgId><CreDtTm>${createdAt.toISOString()}</CreDtTm>${totals}`,
    `<InitgPty><Nm>${escaped(payer.name)}</Nm></InitgPty></GrpHdr>\n`,
    `<PmtInf><PmtInfId>${escaped(messageId)}</PmtInfId><PmtMtd>TRF</PmtMtd><BtchBookg>false</BtchBookg>${totals}`,
    `<PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl>${instrument}</PmtTpInf>`,
    `<ReqdExctnDt><Dt>${executionDate}</Dt></ReqdExctnDt><Dbtr><Nm>${escaped(payer.name)}</Nm></Dbtr>`,
    `<DbtrAcct><Id><IBAN>${escaped(payer.iban)}</IBAN></Id></DbtrAcct>`,
    `<DbtrAgt><FinInstnId>${bank}</FinInstnId></DbtrAgt><ChrgBr>SLEV</ChrgBr>\n`,
    ...orders.map(orderXml),
    '</PmtInf></CstmrCdtTrfInitn></Document>\n',
  ].join('');
}

function orderXml({ endToEndId, amountCents, payeeName, payeeIban, remittance }: PaymentOrder): string {
  const text = remittance === null ? '' : `<RmtInf><Ustrd>${escaped(remittance)}</Ustrd></RmtInf>`;
  return (
    `<CdtTrfTxInf><PmtId><EndToEndId>${escaped(endToEndId)}</EndToEndId></PmtId>` +
    `<Amt><InstdAmt Ccy="EUR">${inWords(amountCents)}</InstdAmt></Amt><Cdtr><Nm>${escaped(payeeName)}</Nm></Cdtr>` +
    `<CdtrAcct><Id><IBAN>${escaped(payeeIban)}</IBAN></Id></CdtrAcct>${text}</CdtTrfTxInf>\n`
  );
}

const amountOf = ({ amountCents }: PaymentOrder): number => amountCents;

/** What the schema allows and the banks of SEPA do not. Texts were brought into this form before they were stored. */
function assertWritable({ messageId, payer, orders }: PaymentInitiation): void {
  assert(isSepaIdentifier(messageId), 'a message id that banks refuse');
  assertName(payer.name);
  const ids = new Set(orders.map(({ endToEndId }) => endToEndId));
  assert(ids.size === orders.length, 'two payments of a file with one end-to-end id');
  for (const { endToEndId, amountCents, payeeName, remittance } of orders) {
    assert(isSepaIdentifier(endToEndId), 'an end-to-end id that banks refuse');
    assert(amountCents > 0, 'a payment of nothing');
    assertName(payeeName);
    const isShort = remittance === null || (remittance !== '' && remittance.length <= longestRemittance);
    assert(isShort && isSepaText(remittance ?? ''), 'a remittance text that banks refuse');
  }
}

function assertName(name: string): void {
  assert(name !== '' && name.length <= longestSepaName && isSepaText(name), 'a name that banks refuse');
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] ?? '');
