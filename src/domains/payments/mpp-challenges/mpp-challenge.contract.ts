/** The operation that declares an intent for a payment challenge, as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { eurosOut, id, instantOut } from '../../../http/schemas.ts';
import { intentOut, intentsArea } from '../../spending/intents/index.ts';
import { cardNetworks } from '../mpp/challenge.wire.ts';
import { challengeText } from '../mpp-credentials/mpp-credential.contract.ts';

const challengeOut = z
  .strictObject({
    id: z
      .string()
      .meta({ description: 'Id of the challenge, as the merchant sent it.', examples: ['yNWWSxEpR7gVM9iQ'] }),
    realm: z.string().meta({ description: 'The realm, as the merchant wrote it.', examples: ['shop.example'] }),
    amountEuros: eurosOut.meta({ description: 'What the challenge asks for.' }),
    currency: z.literal('EUR'),
    host: z
      .string()
      .nullable()
      .meta({
        description: 'Host of `url`; null without one.',
        examples: ['shop.example'],
      }),
    recipient: z
      .string()
      .nullable()
      .meta({
        description: 'The merchant’s id at its acquirer; null without one.',
        examples: ['merch_1'],
      }),
    networks: z
      .array(z.enum(cardNetworks))
      .meta({ description: 'Card networks that the merchant accepts.', examples: [['visa']] }),
    expiresAt: instantOut.nullable().meta({
      description: 'When the challenge expires, in real time; null where it says nothing.',
    }),
  })
  .meta({ id: 'PaymentChallenge', description: 'What a payment challenge asks for.' });
export type PaymentChallengeWire = z.infer<typeof challengeOut>;

export const mppChallengesArea = defineArea({
  tag: 'MPP',
  base: '/mpp',
  aliases: [],
  description: 'Payment challenges: what a merchant asks for with HTTP 402, and the intent to pay it.',
  operations: {
    handlePaymentChallenge: {
      method: 'post',
      path: '/handle-402',
      reaches: {
        'body.agentId': {
          elsewhere: 'the declaration locks agent and card, and compares their owner, in its transaction',
        },
      },
      summary: 'Declare an intent for a payment challenge',
      description:
        'Reads the challenge and declares an intent for its amount, at its `recipient` or, where it names none, at the host of `url`. The intent is evaluated like any other, with the host of `url` too, and answered 201 whatever the decision. 400 `invalid_state` where the challenge cannot be answered or names no payee; 403 `policy_denied` where a protect rule forbids the payee. Nothing is paid: pay or mint with the intent. Minting knows no address, so a challenge without a recipient can only be paid by `POST /v1/mpp/pay`.',
      auth: ['key', 'agent'],
      scope: 'mpp.write',
      body: z
        .strictObject({
          agentId: id('agent'),
          challenge: challengeText,
          url: z
            .url()
            .max(2_048)
            .optional()
            .meta({
              description: 'The address that answered 402.',
              examples: ['https://shop.example/reports/7'],
            }),
        })
        .meta({ id: 'HandlePaymentChallenge' }),
      success: {
        status: 201,
        body: z
          .strictObject({ intent: intentOut, challenge: challengeOut })
          .meta({ id: 'HandledPaymentChallenge', description: 'The intent, and the challenge that it is for.' }),
      },
      sealed: true,
      refusals: ['invalid_state', 'agent_isolation', 'policy_denied', 'not_found'],
      fires: intentsArea.operations.declareIntent.fires,
    },
  },
});
