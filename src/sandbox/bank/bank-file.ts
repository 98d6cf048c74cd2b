/** The files of the simulated bank: status reports (pain.002) and notifications of booked entries (camt.054). @module */
import { html } from '../../http/html.ts';
import { inWords } from '../../kernel/money.ts';

export type BookedEntry = {
  readonly reference: string;
  readonly account_iban: string;
  readonly direction: 'credit' | 'debit';
  readonly amount_cents: number;
  readonly booked_on: string;
  readonly end_to_end_id: string | null;
  readonly return_reason_code: string | null;
  readonly party_name: string | null;
  readonly party_iban: string | null;
  readonly remittance: string | null;
};

export type ToldStatus = {
  readonly endToEndId: string;
  readonly status: 'ACSP' | 'RJCT';
  readonly reasonCode: string | null;
  readonly amountCents: number;
};

const namespace = 'urn:iso:std:iso:20022:tech:xsd:';
const escaped = (text: string): string => html`${text}`.text;

export const statusReport = (
  id: string,
  createdAt: Date,
  { endToEndId, status, reasonCode, amountCents }: ToldStatus,
): string => `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="${namespace}pain.002.001.10"><CstmrPmtStsRpt>
<GrpHdr><MsgId>${id}</MsgId><CreDtTm>${createdAt.toISOString()}</CreDtTm></GrpHdr>
<OrgnlGrpInfAndSts><OrgnlMsgId>${escaped(endToEndId)}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId></OrgnlGrpInfAndSts>
<OrgnlPmtInfAndSts><OrgnlPmtInfId>${escaped(endToEndId)}</OrgnlPmtInfId><TxInfAndSts>
<OrgnlEndToEndId>${escaped(endToEndId)}</OrgnlEndToEndId><TxSts>${status}</TxSts>${
  reasonCode === null ? '' : `<StsRsnInf><Rsn><Cd>${reasonCode}</Cd></Rsn></StsRsnInf>`
}<OrgnlTxRef><Amt><InstdAmt Ccy="EUR">${inWords(amountCents)}</InstdAmt></Amt></OrgnlTxRef>
</TxInfAndSts></OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>
`;

/** One notification for each account. */
export function notification(id: string, createdAt: Date, entries: readonly BookedEntry[]): string {
  const accounts = [...Map.groupBy(entries, (entry) => entry.account_iban)];
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="${namespace}camt.054.001.08"><BkToCstmrDbtCdtNtfctn>
<GrpHdr><MsgId>${id}</MsgId><CreDtTm>${createdAt.toISOString()}</CreDtTm></GrpHdr>
${accounts
  .map(
    ([iban, booked], index) =>
      `<Ntfctn><Id>${id}-${index + 1}</Id><CreDtTm>${createdAt.toISOString()}</CreDtTm><Acct><Id><IBAN>${iban}</IBAN></Id></Acct>
${booked.map(entryXml).join('')}</Ntfctn>`,
  )
  .join('\n')}
</BkToCstmrDbtCdtNtfctn></Document>
`;
}

function entryXml(entry: BookedEntry): string {
  const direction = entry.direction === 'credit' ? 'CRDT' : 'DBIT';
  const money = `<Amt Ccy="EUR">${inWords(entry.amount_cents)}</Amt><CdtDbtInd>${direction}</CdtDbtInd>`;
  const { booked_on: day, return_reason_code: code, remittance } = entry;
  return `<Ntry>${money}<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>${day}</Dt></BookgDt><ValDt><Dt>${day}</Dt></ValDt>
<AcctSvcrRef>${entry.reference}</AcctSvcrRef>
<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>${direction === 'CRDT' ? 'RCDT' : 'ICDT'}</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd>
<NtryDtls><TxDtls><Refs><EndToEndId>${escaped(entry.end_to_end_id ?? 'NOTPROVIDED')}</EndToEndId></Refs>${money}
${partyXml(entry)}${remittance === null ? '' : `<RmtInf><Ustrd>${escaped(remittance)}</Ustrd></RmtInf>`}${
  code === null ? '' : `<RtrInf><Rsn><Cd>${code}</Cd></Rsn></RtrInf>`
}</TxDtls></NtryDtls></Ntry>
`;
}

function partyXml({ direction, party_name: name, party_iban: iban }: BookedEntry): string {
  if (name === null) return '';
  const side = direction === 'credit' ? 'Dbtr' : 'Cdtr';
  const account = iban === null ? '' : `<${side}Acct><Id><IBAN>${iban}</IBAN></Id></${side}Acct>`;
  return `<RltdPties><${side}><Pty><Nm>${escaped(name)}</Nm></Pty></${side}>${account}</RltdPties>`;
}
