/**
 * The card method and the charge intent (drafts of MPP), defined for mppx, which has neither. Knows no code of Bursar.
 * @module
 */
import { Method, z } from 'mppx';

const text = z.string().check(z.minLength(1));

export const cardCharge = Method.from({
  name: 'card',
  intent: 'charge',
  schema: {
    request: z.object({
      // In no order of the alphabet: the order on the wire comes from the canonical form.
      methodDetails: z.object({
        merchantName: text,
        acceptedNetworks: z.array(z.enum(['visa', 'mastercard', 'amex', 'discover'])),
        encryptionJwk: z.optional(z.record(z.string(), z.unknown())),
        jwksUri: z.optional(text),
        kid: z.optional(text),
        billingRequired: z.optional(z.boolean()),
      }),
      recipient: z.optional(text),
      externalId: z.optional(text),
      description: z.optional(text),
      currency: z.string().check(z.regex(/^[a-z]{3}$/)),
      amount: z.string().check(z.regex(/^[0-9]+$/)),
    }),
    credential: {
      payload: z.strictObject({
        encryptedPayload: z.string().check(z.regex(/^([A-Za-z0-9_-]+\.){4}[A-Za-z0-9_-]+$/)),
        network: z.enum(['visa', 'mastercard', 'amex', 'discover']),
        panLastFour: z.string().check(z.regex(/^[0-9]{4}$/)),
        panExpirationMonth: z.string().check(z.regex(/^(0[1-9]|1[0-2])$/)),
        panExpirationYear: z.string().check(z.regex(/^[0-9]{4}$/)),
        paymentAccountReference: z.optional(text),
      }),
    },
  },
});

/** The payment token inside the encrypted part, as the card method's draft writes it. */
export const paymentToken = z.strictObject({
  token: z.strictObject({
    paymentToken: text,
    tokenExpirationMonth: z.string().check(z.regex(/^(0[1-9]|1[0-2])$/)),
    tokenExpirationYear: z.string().check(z.regex(/^[0-9]{4}$/)),
    eci: z.string(),
  }),
  dynamicData: z.strictObject({
    dynamicDataValue: z.string(),
    dynamicDataType: z.enum([
      'CARD_APPLICATION_CRYPTOGRAM_SHORT_FORM',
      'CARD_APPLICATION_CRYPTOGRAM_LONG_FORM',
      'CARDHOLDER_AUTHENTICATION_CRYPTOGRAM',
      'NONE',
    ]),
    dynamicDataExpiration: z.int(),
  }),
});
