/**
 * Asks whether an account belongs to a name, as a bank's verification of payee does. Never throws for what happens
 * outside: no answer, a late one and one of another form are `not_possible` with the reason.
 * @module
 */
export type PayeeQuestion = {
  /** In the SEPA character set. */
  readonly name: string;
  readonly iban: string;
  readonly bic: string | null;
};

export type PayeeAnswer =
  | { readonly result: 'match' | 'no_match' }
  /** The name of the account holder, as the bank has it: personal data. */
  | { readonly result: 'close_match'; readonly suggestedName: string }
  | { readonly result: 'not_possible'; readonly reason: PayeeCheckGap };

/** `not_supported`: the bank cannot say. */
export type PayeeCheckGap = 'no_provider' | 'no_answer' | 'not_supported';

export type PayeeResult = PayeeAnswer['result'];

export type PayeeCheck = {
  ask(question: PayeeQuestion): Promise<PayeeAnswer>;
};
