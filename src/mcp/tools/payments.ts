/** Tools for paying, and for reading what was paid. @module */
import { refusal } from '../refusals.ts';
import type { Answer, Arguments, Calling, Tool } from '../tool.ts';
import { decisionAbout } from './spending.ts';
import { afterCheckout, afterIntent, afterList, afterPayment, nothingNext } from './steps.ts';

export const paymentTools: readonly Tool[] = [
  {
    name: 'checkout_execute',
    title: 'Pay at a shop',
    description:
      'Pays for an approved intent at the address of a shop, also one that answers 402 with a payment challenge. Needs intentId, targetUrl and the purchaseRef of the purchase. It spends money, once: after a time-out repeat it with the same purchaseRef, which finds the first payment. No card number is shown or needed.',
    reason: 'The payment itself.',
    operation: 'executeCheckout',
    purchase: 'key',
    isDestructive: true,
    isOpenWorld: true,
    next: afterCheckout,
    explain: explainDenied,
  },
  {
    name: 'checkout_confirm',
    title: 'Confirm a payment that was made elsewhere',
    description:
      'Completes an intent whose payment form was filled elsewhere with the agent’s card. It moves no money. Only for payments that checkout_execute and mpp_pay did not make.',
    reason: 'Shops with a form of their own are paid outside of Bursar.',
    operation: 'confirmCheckout',
    purchase: 'key',
    next: ({ transactionId }) => ({
      do: 'Confirmed. Nothing is left to do.',
      tool: 'transactions_get',
      arguments: { transactionId },
    }),
  },
  {
    name: 'mpp_declare',
    title: 'Declare a purchase for a payment challenge',
    description:
      'Declares a purchase for a payment challenge: of a resource that answered HTTP 402 (the value of its WWW-Authenticate header), or of another MCP server’s tool that demands a payment (the JSON of its error or result, unchanged). Give the address too. Amount and payee are read from the challenge. Then pay with mpp_pay. It moves no money.',
    reason: 'Amount and payee of a machine payment stand in its challenge, which a model must not retype.',
    operation: 'handlePaymentChallenge',
    purchase: 'key',
    next: ({ intent }, given) => {
      const declared = (intent ?? {}) as Answer['body'];
      if (declared.status !== 'approved') return afterIntent(declared, given);
      const { purchaseRef, url } = given;
      return {
        do: isJson(given.challenge)
          ? 'Approved. Pay now, with the tool that demanded the payment, its arguments, and the address of its server as url.'
          : 'Approved. Pay now.',
        tool: 'mpp_pay',
        arguments: {
          intentId: declared.id,
          cardId: declared.cardId,
          purchaseRef,
          ...(url === undefined ? {} : { url }),
        },
      };
    },
    refuse: async ({ intent }, given, calling) => {
      const declared = (intent ?? {}) as Answer['body'];
      if (declared.status !== 'denied') return undefined;
      const decided = await decisionAbout(declared, calling);
      const message = String(declared.deniedReason ?? 'denied');
      return refusal({ code: 'policy_denied', message }, { tool: 'mpp_declare', arguments: given }, decided);
    },
  },
  {
    name: 'mpp_pay',
    title: 'Pay for a resource or a tool that demands a payment',
    description:
      'Pays for a resource that answers HTTP 402, or for another MCP server’s tool that demands a payment, for an approved intent, and answers with what the merchant delivered. For a tool, give it with its arguments as tool and its server as url: Bursar calls it, so do not call it again. Needs url, intentId, the cardId of the intent and the purchaseRef. It spends money, once: after a time-out repeat it with the same purchaseRef.',
    reason: 'Machine payments deliver their content in the answer.',
    operation: 'payAtMerchant',
    purchase: 'key',
    isDestructive: true,
    isOpenWorld: true,
    next: afterPayment,
    explain: explainDenied,
  },
  {
    name: 'payments_status',
    title: 'How did a machine payment go?',
    description:
      'Reads one machine payment: its state, what is known, the receipt, and what the merchant delivered. Use it while the state is accepted or unknown, before you do anything else.',
    reason: 'A payment whose outcome is open must be asked for, not repeated.',
    operation: 'getMppPayment',
    names: { id: 'paymentId' },
    next: afterPayment,
  },
  {
    name: 'transactions_list',
    title: 'List transactions',
    description: 'Lists what was paid, declined and given back, newest first; by intent, merchant, state or time.',
    reason: 'The agent answers what it spent.',
    operation: 'listTransactions',
    next: afterList('transactions_list', 'Read one with transactions_get.'),
  },
  {
    name: 'transactions_get',
    title: 'Read a transaction',
    description: 'Reads one transaction: amount, merchant, state, and the rule and reason where it was declined.',
    reason: 'The receipt of a payment, and the reason of a decline.',
    operation: 'getTransaction',
    names: { id: 'transactionId' },
    next: nothingNext,
  },
  {
    name: 'transactions_explain',
    title: 'Why was a charge declined?',
    description:
      'Explains the decision on a charge: the rule with its figures, the rules that it passed, and the smallest change with which it would have passed. Only the owner can make such a change: tell the person, and do not split the payment.',
    reason: 'A model that knows what is missing asks the person for exactly that.',
    operation: 'getTransactionDecision',
    names: { id: 'transactionId' },
    next: ({ outcome, mayAllowOnce }) => {
      if (outcome === 'approved') return { do: 'It was approved. Nothing is left to do.' };
      if (mayAllowOnce !== true) {
        return { do: 'Tell the person what would have been needed. Do not repeat the charge unchanged.' };
      }
      return {
        do: 'Tell the person what would have been needed. The owner can make that change, or let exactly this charge pass once (`allow-once`; with an owner’s key transactions_allow_once), for 15 minutes from that call. Have the merchant try again only after that.',
      };
    },
  },
  {
    name: 'trace_get',
    title: 'Read the whole story of an id',
    description:
      'Reads the whole story of any id in order: declaration, decision rule by rule, approval, payment, postings and events. Use it to explain why something happened.',
    reason: 'One call instead of seven to explain a payment.',
    operation: 'getTrace',
    next: nothingNext,
  },
];

const isJson = (challenge: unknown): boolean => typeof challenge === 'string' && challenge.trimStart().startsWith('{');

/** The refusal of a payment names no rule; the rules as they are now do. */
async function explainDenied({ intentId }: Arguments, { ask, ...calling }: Calling) {
  const intent = await ask('getIntent', { params: { id: intentId } });
  return intent.status === 200 ? decisionAbout(intent.body, { ask, ...calling }) : undefined;
}
