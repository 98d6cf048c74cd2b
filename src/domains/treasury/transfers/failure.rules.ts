/** Why no money arrived, or why it came back, in words: the codes of banks, and the reasons that Bursar gives. Pure. @module */
import { reasonInWords } from '../sepa/reason-code.rules.ts';

const ownReasons: Readonly<Record<string, string>> = {
  payee_refused: 'the payee may not be paid: it is disabled, was changed, or resembles a name of the sanctions list',
  'payee_check:close_match':
    'the payee’s bank has a similar name for the account, not the same, and the policy refuses that',
  'payee_check:no_match': 'the payee’s bank has another name for the account, and the policy refuses that',
  'payee_check:not_possible': 'no bank could say whether the account belongs to the payee, and the policy refuses that',
  not_received: 'the bank never received the payment, and it is not sent again',
  expired: 'it was not approved in time',
  denied: 'a person denied it',
  cancelled: 'it was cancelled before the bank had it',
};

type Failed = { readonly failureReason: string | null; readonly reasonCode: string | null };

/** Null for a transfer that has not failed, and for a reason without words. */
export function failureInWords({ failureReason, reasonCode }: Failed): string | null {
  if (failureReason === null) return null;
  return reasonCode === null ? (ownReasons[failureReason] ?? null) : reasonInWords(reasonCode);
}
