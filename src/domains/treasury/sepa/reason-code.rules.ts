/**
 * Why a bank rejects, returns or does not give back a payment, in words. The codes are those of the ISO 20022 external
 * code sets that the SEPA schemes use; a code that is not here is passed on as it is. Pure.
 * @module
 */

/**
 * `rejection`: before settlement, in a status report. `return`: after settlement, as a credit. `recall`: why money is
 * asked back. `refusal`: the answer to a recall that gives nothing back.
 */
export type ReasonUse = 'rejection' | 'return' | 'recall' | 'refusal';

type Reason = { readonly inWords: string; readonly uses: readonly ReasonUse[] };

const reasons = {
  AB05: { inWords: 'the bank of the payee did not answer in time', uses: ['rejection'] },
  AB06: { inWords: 'the instant payment took longer than its scheme allows', uses: ['rejection'] },
  AB07: { inWords: 'a bank on the way cannot be reached', uses: ['rejection'] },
  AB08: { inWords: 'the bank of the payee cannot be reached', uses: ['rejection'] },
  AB09: { inWords: 'the bank of the payee has a fault', uses: ['rejection'] },
  AB10: { inWords: 'a bank on the way has a fault', uses: ['rejection'] },
  AC01: { inWords: 'the IBAN is wrong or has no account', uses: ['rejection', 'return'] },
  AC02: { inWords: 'the IBAN of the payer is wrong', uses: ['rejection'] },
  AC03: { inWords: 'the IBAN of the payee is wrong', uses: ['rejection', 'refusal'] },
  AC04: { inWords: 'the account of the payee is closed', uses: ['rejection', 'return', 'refusal'] },
  AC06: { inWords: 'the account is blocked', uses: ['rejection', 'return'] },
  AG01: { inWords: 'the account takes no credit transfers', uses: ['rejection', 'return'] },
  AG02: { inWords: 'the kind of the payment is not allowed here', uses: ['rejection', 'return'] },
  AG09: { inWords: 'the payment did not arrive', uses: ['rejection'] },
  AG10: { inWords: 'a bank on the way is suspended', uses: ['rejection'] },
  AG11: { inWords: 'the bank of the payee is suspended', uses: ['rejection'] },
  AM02: { inWords: 'the amount is larger than the bank carries', uses: ['rejection'] },
  AM04: { inWords: 'the account has too little money', uses: ['rejection', 'refusal'] },
  AM05: { inWords: 'the bank has this payment already', uses: ['rejection', 'return'] },
  AM09: { inWords: 'the amount is not the agreed one', uses: ['return', 'recall'] },
  AM23: { inWords: 'the amount is larger than the settlement system holds ready', uses: ['rejection'] },
  ARDT: { inWords: 'the payment was returned before', uses: ['refusal'] },
  BE04: { inWords: 'the address of the payee is missing', uses: ['return'] },
  CNOR: { inWords: 'the bank of the payee takes part in no SEPA scheme', uses: ['rejection', 'return'] },
  CUST: { inWords: 'the payer or the payee wants it', uses: ['rejection', 'recall', 'refusal'] },
  DNOR: { inWords: 'the bank of the payer takes part in no SEPA scheme', uses: ['rejection'] },
  DUPL: { inWords: 'the payment was sent twice', uses: ['recall'] },
  ED05: { inWords: 'the settlement between the banks failed', uses: ['rejection'] },
  ERIN: { inWords: 'the extended remittance text is not supported', uses: ['rejection', 'return'] },
  FF01: { inWords: 'the file is not of the agreed form', uses: ['rejection'] },
  FOCR: { inWords: 'the money is given back after a recall', uses: ['return'] },
  FRAD: { inWords: 'the payment is a fraud', uses: ['recall', 'rejection'] },
  LEGL: { inWords: 'the law forbids it', uses: ['refusal'] },
  MD07: { inWords: 'the payee has died', uses: ['return'] },
  MS02: { inWords: 'the payee refuses the payment and gives no reason', uses: ['return'] },
  MS03: { inWords: 'the bank gives no reason', uses: ['rejection', 'return'] },
  NOAS: { inWords: 'the payee did not answer', uses: ['refusal'] },
  NOOR: { inWords: 'the bank of the payee never had the payment', uses: ['refusal'] },
  RC01: { inWords: 'the BIC is wrong', uses: ['rejection', 'return'] },
  RC07: { inWords: 'the BIC of the payee is wrong', uses: ['return'] },
  RR01: { inWords: 'by law the account of the payer must be named', uses: ['rejection', 'return'] },
  RR02: { inWords: 'by law the name or the address of the payer must be given', uses: ['rejection', 'return'] },
  RR03: { inWords: 'by law the name or the address of the payee must be given', uses: ['rejection', 'return'] },
  RR04: { inWords: 'the law of the country of the bank forbids it', uses: ['rejection', 'return', 'refusal'] },
  TECH: { inWords: 'a technical fault caused the payment', uses: ['recall', 'rejection'] },
  TM01: { inWords: 'the file came after the cut-off', uses: ['rejection'] },
} as const satisfies Record<string, Reason>;

export type ReasonCode = keyof typeof reasons;
export const reasonCodes = Object.keys(reasons) as readonly ReasonCode[];

const isKnown = (code: string): code is ReasonCode => Object.hasOwn(reasons, code);

/** `AC04: the account of the payee is closed`; a code that is not in the table stands alone. */
export const reasonInWords = (code: string): string => (isKnown(code) ? `${code}: ${reasons[code].inWords}` : code);

/** A bank may send another code than its scheme foresees: it is shown, but nothing is decided by it. */
export const isUsedFor = (code: string, use: ReasonUse): boolean =>
  isKnown(code) && (reasons[code].uses as readonly ReasonUse[]).includes(use);
