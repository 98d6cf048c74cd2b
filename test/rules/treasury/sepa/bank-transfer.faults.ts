/** The rules of a bank transfer as the model plays them, and faults that it has to find. @module */
import * as product from '../../../../src/domains/treasury/sepa/bank-transfer.rules.ts';

type Product = typeof product;

export type BankTransferRules = Pick<
  Product,
  'afterPayeeCheck' | 'hearBank' | 'isRecallable' | 'maySend' | 'moveTransfer' | 'postingsOf'
> & {
  isNotKnownFinal(sending: Pick<product.Sending, 'sendUntil'>, realNow: Date, businessNow: Date): boolean;
};

export const productRules: BankTransferRules = product;

const { hearBank, maySend, moveTransfer, postingsOf, isNotKnownFinal } = product;

export const faults: Readonly<Record<string, Partial<BankTransferRules>>> = {
  'a run sends what another run marked': {
    maySend: (sending, _cause, now) => maySend(sending, sending.sendingCause ?? '', now),
  },
  'a run sends after the deadline': {
    maySend: (sending, cause) => maySend(sending, cause, new Date(0)),
  },
  'not known is believed at once': { isNotKnownFinal: () => true },
  'not known is believed at the deadline': {
    isNotKnownFinal: ({ sendUntil }, now) => sendUntil !== null && now >= sendUntil,
  },
  'the deadline is in business time': {
    isNotKnownFinal: (sending, _realNow, businessNow) => isNotKnownFinal(sending, businessNow),
  },
  'what is being sent can be cancelled': {
    moveTransfer: (from, command, isRepeated) =>
      from === 'sending' && command === 'cancel'
        ? { outcome: 'moved', next: 'cancelled' }
        : moveTransfer(from, command, isRepeated),
  },
  'what was not received is sent again': {
    moveTransfer: (from, command, isRepeated) =>
      command === 'noteNotReceived' && from === 'sending'
        ? { outcome: 'moved', next: 'approved' }
        : moveTransfer(from, command, isRepeated),
  },
  'a late message moves a transfer back': {
    hearBank: (from, message, isRepeated) =>
      from === 'returned' && message === 'settled'
        ? { outcome: 'moved', next: 'settled' }
        : hearBank(from, message, isRepeated),
  },
  'a rejected transfer is accepted by a late message': {
    hearBank: (from, message, isRepeated) =>
      from === 'rejected' && message === 'accepted'
        ? { outcome: 'moved', next: 'accepted' }
        : hearBank(from, message, isRepeated),
  },
  'a return that overtook the debit pays nothing': {
    postingsOf: (from, next) => postingsOf(from, next).filter((posting) => posting !== 'pay'),
  },
  'a repeated return is a second one': {
    hearBank: (from, message) => hearBank(from, message, false),
  },
};
