/** The operations of MPP credentials as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { euros, eurosOut, id, idOut, instantOut, pageOut, pageQuery, text } from '../../../http/schemas.ts';
import { limits } from '../../../platform/limits.ts';
import { credentialStatuses } from './mpp-credential.rules.ts';

const challengeId = z.string().meta({
  description: 'Id of the challenge, as the merchant sent it.',
  examples: ['yNWWSxEpR7gVM9iQ3DbvS77hdUMOC5z_zSLziN4sy38'],
});
const merchantId = idOut('merchant')
  .nullable()
  .meta({ description: 'The registered merchant; null where the payee is not registered.' });
const expiresAt = instantOut.meta({
  description: 'When it expires, in real time, which the sandbox clock does not move.',
});

/** Between the tokens of JSON lines may end anywhere; a header is one line. */
const onOneLine = (given: string): string =>
  given.trimStart().startsWith('{') ? given.replace(/\s*[\r\n]\s*/g, ' ') : given;

/** The header value of a challenge. Merchants send at most 8 KB. */
export const challengeText = text(8_192, 1, z.string().overwrite(onOneLine)).meta({
  description:
    'The value of `WWW-Authenticate` as the merchant sent it, with or without the word `Payment`; or the JSON of what an MCP server answered, where its tool demands the payment, on one line or several.',
  examples: ['Payment id="yNWW…", realm="shop.example", method="card", intent="charge", request="eyJhbW91bnQi…"'],
});

const credentialOut = z
  .strictObject({
    id: idOut('mppCredential'),
    agentId: idOut('agent').meta({ description: 'The agent that pays.' }),
    intentId: idOut('intent').meta({ description: 'The only intent that it pays for.' }),
    cardId: idOut('card').meta({ description: 'The card that it is charged to.' }),
    merchantId,
    challengeId,
    host: z
      .string()
      .nullable()
      .meta({
        description: 'Host of the address that sent the challenge; null where only the challenge was given.',
        examples: ['shop.example'],
      }),
    recipient: z
      .string()
      .nullable()
      .meta({
        description: 'The merchant’s id at its acquirer, by the challenge; null without one.',
        examples: ['merch_1'],
      }),
    amountEuros: eurosOut.meta({ description: 'What the challenge asks for. The merchant cannot charge more.' }),
    currency: z.literal('EUR'),
    status: z.enum(credentialStatuses).meta({
      description:
        '`requested`: not minted yet; `minted`: the merchant may use it; `consumed`: used; `expired`: its time is over; `declined`: the charge was declined; `refused`: nothing was minted; `revoked`: the intent was cancelled before it was used.',
      examples: ['minted'],
    }),
    expiresAt,
    transactionId: idOut('transaction').nullable().meta({ description: 'The transaction that it was used for.' }),
    reason: z
      .string()
      .nullable()
      .meta({
        description: 'Why it was refused or declined, in words.',
        examples: ['the payment token is for up to 12.50, asked 13.00'],
      }),
    createdAt: instantOut,
  })
  .meta({ id: 'MppCredential', description: 'A credential that answers one payment challenge, without its secret.' });
export type MppCredentialWire = z.infer<typeof credentialOut>;

const mintedOut = z
  .strictObject({
    id: idOut('mppCredential'),
    credential: z.string().meta({
      description: 'The secret: what follows the word `Payment` in the header. Send it only to the merchant.',
      examples: ['eyJjaGFsbGVuZ2UiOnsiaWQiOi…'],
    }),
    header: z.enum(['Authorization', 'Payment-Authorization']).meta({
      description: 'The header that the merchant expects the credential in.',
      examples: ['Authorization'],
    }),
    expires_at: expiresAt,
    amount_euros: eurosOut.meta({ description: 'What the challenge asks for.' }),
    currency: z.literal('EUR'),
    merchant_id: merchantId,
  })
  .meta({ id: 'NewMppCredential', description: 'A credential with its secret.' });
export type NewMppCredentialWire = z.infer<typeof mintedOut>;

const consumedOut = z
  .strictObject({
    id: idOut('mppCredential'),
    status: z.literal('consumed'),
    intent_id: idOut('intent').meta({ description: 'The intent that it pays for.' }),
    amount_euros: eurosOut.meta({ description: 'What the challenge asks for.' }),
    currency: z.literal('EUR'),
    par: z
      .string()
      .nullable()
      .meta({
        description: 'Payment account reference of the card; null, as the card processor gives none.',
        examples: [null],
      }),
    transaction_id: idOut('transaction').meta({ description: 'The transaction that pays.' }),
    receipt: z.string().meta({
      description: 'Receipt signed by Bursar: a compact JWS, verified with the keys of `/.well-known/jwks.json`.',
      examples: ['eyJhbGciOiJFZERTQSIsInR5cCI6ImJ1cnNhci1yZWNlaXB0K2p3dCJ9.eyJqdGkiOi…'],
    }),
  })
  .meta({ id: 'ConsumedMppCredential', description: 'A credential that its merchant has used up.' });
export type ConsumedMppCredentialWire = z.infer<typeof consumedOut>;

const expectation = z
  .strictObject({
    expectedAmountEuros: euros()
      .optional()
      .meta({ description: 'The price. Refused where the credential is for another amount.', examples: [4.99] }),
    expectedCurrency: z
      .string()
      .regex(/^[A-Za-z]{3}$/, 'must be a currency code of three letters')
      .optional()
      .meta({ description: 'The currency of the price (ISO 4217), in either case.', examples: ['EUR'] }),
    expectedPayee: text(253)
      .optional()
      .meta({
        description: 'The merchant’s id at its acquirer, or its host: `recipient` or `host` of the credential.',
        examples: ['merch_1'],
      }),
  })
  .meta({ id: 'ConsumeMppCredential', description: 'What the merchant expects; nothing is compared that is absent.' });

/** Both operations that use a credential up differ in how they name it. */
const consumption = {
  method: 'post',
  auth: ['merchant'],
  ownerless: true,
  problems: true,
  sealed: true,
  body: expectation,
  success: { status: 200, body: consumedOut },
  refusals: ['invalid_state', 'not_found', 'conflict', 'gone'],
  fires: [
    ...(['mpp.credential.consumed', 'mpp.transaction.completed'] as const),
    ...(['transaction.created', 'intent.completed', 'intent_window.completed'] as const),
  ],
} as const;

const consumptionInWords =
  'Once: of several calls one succeeds, also at the same time. It moves no money: the card network’s authorization with the token of the credential holds it, before this call or within 7 days after it, and the clearing collects it. The intent is completed. Refusals are problem details: 400 `invalid_state` where amount, currency or payee is another than the expected one, which consumes nothing; 404 for a credential that is not this merchant’s, 409 `conflict` for one that was verified before or whose charge was declined, 410 `gone` for one that has expired or whose intent is not open any more.';

export const mppCredentialsArea = defineArea({
  tag: 'MPP',
  base: '/v1/mpp/credentials',
  aliases: [],
  description:
    'Credentials of machine payments: each answers one payment challenge, for one intent and one card, and is used once.',
  operations: {
    mintMppCredential: {
      method: 'post',
      path: '/mint',
      summary: 'Mint a credential for a payment challenge',
      description: `The intent has to be approved and for this card. 400 \`invalid_state\` where the challenge does not fit it: amount, expected merchant (the \`recipient\` of the challenge), expiry, encryption key; also while another credential, checkout or payment of the intent is under way. 403 \`policy_denied\` where a rule of the policy or a protect rule forbids it. It is valid until the challenge expires, at most 5 minutes. Repeating with the same Idempotency-Key gives the same credential. An intent has up to ${limits.mpp_credentials.most}.`,
      auth: ['key', 'agent'],
      scope: 'mpp.write',
      body: z
        .strictObject({ challenge: challengeText, intentId: id('intent'), cardId: id('card') })
        .meta({ id: 'MintMppCredential' }),
      success: { status: 201, body: mintedOut },
      refusals: ['invalid_state', 'insufficient_funds', 'agent_isolation', 'policy_denied', 'not_found', 'gone'],
      fires: ['mpp.credential.minted'],
      secret: true,
    },
    listMppCredentials: {
      method: 'get',
      path: '',
      reaches: { 'query.intentId': 'filter' },
      summary: 'List MPP credentials, newest first',
      auth: ['key', 'agent'],
      scope: 'mpp.read',
      query: z.strictObject({
        ...pageQuery('mppCredential'),
        intentId: id('intent').optional(),
        status: z
          .enum(credentialStatuses)
          .optional()
          .meta({ description: 'Only credentials in this state.', examples: ['minted'] }),
      }),
      success: { status: 200, body: pageOut(credentialOut) },
      refusals: [],
    },
    getMppCredential: {
      method: 'get',
      path: '/{id}',
      summary: 'Get an MPP credential',
      auth: ['key', 'agent'],
      scope: 'mpp.read',
      params: z.strictObject({ id: id('mppCredential') }),
      success: { status: 200, body: credentialOut },
      refusals: ['agent_isolation', 'not_found'],
    },
    consumeMppCredential: {
      ...consumption,
      path: '/{id}/verify',
      summary: 'Verify a credential as its merchant, and use it up',
      description: consumptionInWords,
      params: z.strictObject({
        id: id('mppCredential', { elsewhere: 'found by id and merchant, in its transaction' }),
      }),
    },
    consumeMppCredentialByChallenge: {
      ...consumption,
      path: '/by-challenge/{challengeId}/verify',
      summary: 'Verify a credential by the id of its challenge, and use it up',
      description: consumptionInWords,
      params: z.strictObject({
        challengeId: z
          .string()
          .min(1)
          .max(512)
          .meta({
            description: 'Id of the challenge that the merchant sent.',
            examples: ['yNWWSxEpR7gVM9iQ3DbvS77hdUMOC5z_zSLziN4sy38'],
          }),
      }),
    },
  },
});
