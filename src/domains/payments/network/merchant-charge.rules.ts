/** What a merchant abroad charges in its own currency: amount and currency together, or neither. Pure. @module */

export type MerchantCharge = {
  readonly merchantAmount?: number | undefined;
  readonly merchantCurrency?: string | undefined;
};

export const namesBothOrNeither = ({ merchantAmount, merchantCurrency }: MerchantCharge): boolean =>
  (merchantAmount === undefined) === (merchantCurrency === undefined);

/** What a message that names one of them is told. */
export const bothOrNeither = {
  path: ['merchantCurrency'],
  error: 'goes together with merchantAmount: send both or neither',
};
