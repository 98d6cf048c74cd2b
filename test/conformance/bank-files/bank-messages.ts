/** The messages that a bank sends, written for tests: pain.002 and camt.054 with what a test gives and defaults. @module */

export const ourIban = 'DE89370400440532013000';
export const theirIban = 'FR1420041010050500013M02606';

export type TestEntry = {
  readonly amount?: string;
  readonly currency?: string;
  readonly direction?: 'CRDT' | 'DBIT';
  readonly status?: string;
  readonly reference?: string | null;
  readonly endToEndId?: string;
  /** Null: in the bank's own words. */
  readonly returnReason?: string | null;
  readonly isReversal?: boolean;
  readonly name?: string;
  readonly text?: string;
  readonly creditorReference?: string;
  readonly bookedOn?: string;
  readonly payerIban?: string;
  /** Without details of its payment. */
  readonly isBare?: boolean;
  /** Amounts of a batch that is booked as this entry. */
  readonly payments?: readonly { readonly amount: string; readonly endToEndId: string; readonly reference?: string }[];
};

const detailsXml = (entry: TestEntry, amount: string, endToEndId: string, reference?: string): string => {
  const { direction = 'DBIT', currency = 'EUR', name = 'Jane Doe', text, creditorReference, returnReason } = entry;
  const { payerIban = theirIban } = entry;
  const other = direction === 'CRDT' ? 'Dbtr' : 'Cdtr';
  const remittance = [
    text === undefined ? '' : `<Ustrd>${text}</Ustrd>`,
    creditorReference === undefined
      ? ''
      : `<Strd><CdtrRefInf><Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry></Tp><Ref>${creditorReference}</Ref></CdtrRefInf></Strd>`,
  ].join('');
  return `<TxDtls><Refs>${reference === undefined ? '' : `<AcctSvcrRef>${reference}</AcctSvcrRef>`}<EndToEndId>${endToEndId}</EndToEndId></Refs>
<Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>
<RltdPties><${other}><Pty><Nm>${name}</Nm></Pty></${other}><${other}Acct><Id><IBAN>${payerIban}</IBAN></Id></${other}Acct></RltdPties>
${remittance === '' ? '' : `<RmtInf>${remittance}</RmtInf>`}${returnReason === undefined ? '' : `<RtrInf><Rsn>${returnReason === null ? '<Prtry>HELD</Prtry>' : `<Cd>${returnReason}</Cd>`}</Rsn></RtrInf>`}</TxDtls>`;
};

function entryXml(entry: TestEntry, index: number): string {
  const { amount = '12.50', currency = 'EUR', direction = 'DBIT', status = 'BOOK', isReversal = false } = entry;
  const reference = entry.reference === undefined ? `REF${index}` : entry.reference;
  const details =
    entry.payments === undefined
      ? detailsXml(entry, amount, entry.endToEndId ?? 'NOTPROVIDED')
      : entry.payments.map((one) => detailsXml(entry, one.amount, one.endToEndId, one.reference)).join('');
  return `<Ntry><Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>${isReversal ? '<RvslInd>true</RvslInd>' : ''}
<Sts><Cd>${status}</Cd></Sts><BookgDt><Dt>${entry.bookedOn ?? '2026-11-20'}</Dt></BookgDt><ValDt><DtTm>2026-11-23T00:00:00+01:00</DtTm></ValDt>
${reference === null ? '' : `<AcctSvcrRef>${reference}</AcctSvcrRef>`}<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd>
${entry.isBare === true ? '' : `<NtryDtls>${details}</NtryDtls>`}</Ntry>`;
}

export const camt054 = (entries: readonly TestEntry[], iban: string = ourIban): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.08"><BkToCstmrDbtCdtNtfctn>
<GrpHdr><MsgId>N-1</MsgId><CreDtTm>2026-11-20T18:00:00+01:00</CreDtTm></GrpHdr>
<Ntfctn><Id>N-1-1</Id><CreDtTm>2026-11-20T18:00:00+01:00</CreDtTm><Acct><Id><IBAN>${iban}</IBAN></Id></Acct>
${entries.map(entryXml).join('\n')}</Ntfctn></BkToCstmrDbtCdtNtfctn></Document>`;

export type TestStatus = { readonly endToEndId: string | null; readonly status: string; readonly reason?: string };

export const pain002 = (
  statuses: readonly TestStatus[],
  { groupStatus = 'PART', originalName = 'pain.001.001.09' }: { groupStatus?: string; originalName?: string } = {},
): string => `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>
<GrpHdr><MsgId>S-1</MsgId><CreDtTm>2026-11-20T18:00:00Z</CreDtTm></GrpHdr>
<OrgnlGrpInfAndSts><OrgnlMsgId>M-1</OrgnlMsgId><OrgnlMsgNmId>${originalName}</OrgnlMsgNmId><GrpSts>${groupStatus}</GrpSts></OrgnlGrpInfAndSts>
<OrgnlPmtInfAndSts><OrgnlPmtInfId>M-1</OrgnlPmtInfId>
${statuses
  .map(
    ({ endToEndId, status, reason }) =>
      `<TxInfAndSts>${endToEndId === null ? '' : `<OrgnlEndToEndId>${endToEndId}</OrgnlEndToEndId>`}<TxSts>${status}</TxSts>${
        reason === undefined ? '' : `<StsRsnInf><Rsn><Cd>${reason}</Cd></Rsn></StsRsnInf>`
      }<OrgnlTxRef><Amt><InstdAmt Ccy="EUR">12.50</InstdAmt></Amt></OrgnlTxRef></TxInfAndSts>`,
  )
  .join('\n')}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`;
