/** Cards as callers and subscribers see them: the record, its state, its rotation and what it may spend. @module */
import * as z from 'zod';
import { eurosOut, idOut, instantOut } from '../../../http/schemas.ts';
import { cardStatuses, cardUsages } from './card.rules.ts';

export const cardOut = z
  .strictObject({
    id: idOut('card'),
    ownerId: idOut('owner'),
    agentId: idOut('agent'),
    agentName: z.string(),
    name: z.string(),
    displayName: z.string().nullable(),
    purpose: z.string().nullable(),
    scope: z.string().nullable().meta({ description: 'reserved; null so far' }),
    last4: z.string(),
    brand: z.string(),
    expiryMonth: z.int(),
    expiryYear: z.int(),
    status: z.enum(cardStatuses),
    frozenBy: z.enum(['card', 'agent', 'policy']).nullable().meta({
      description:
        'whose freeze it is: `card` its owner’s, `policy` that of an expired or used-up policy (both end with the card’s unfreeze); `agent` ends with the agent’s',
    }),
    usage: z.enum(cardUsages),
    isPrimary: z.boolean(),
    spendLimitEuros: eurosOut.nullable().meta({ deprecated: true, description: 'the same as maxTransactionEuros' }),
    maxTransactionEuros: eurosOut.nullable(),
    dailyLimitEuros: eurosOut.nullable(),
    monthlyLimitEuros: eurosOut.nullable(),
    walletBalanceEuros: eurosOut.meta({ description: "available in the wallet of the card's agent" }),
    cardRef: z.string().optional().meta({ description: "sandbox only: the processor's reference, not a number" }),
    createdAt: instantOut,
    closedAt: instantOut.nullable(),
  })
  .meta({ id: 'Card', description: 'A virtual card of an agent. Its number is never shown.' });
export type CardWire = z.infer<typeof cardOut>;

export const cardStatusOut = z
  .strictObject({ cardId: idOut('card'), status: z.enum(cardStatuses), last4: z.string() })
  .meta({ id: 'CardStatus', description: 'A card and its state.' });

export const cardRotatedOut = z
  .strictObject({ card: cardOut, previousCardId: idOut('card') })
  .meta({ id: 'RotatedCard', description: 'The card with the new number, and the card that it replaced.' });

const left = (what: string) => eurosOut.nullable().meta({ description: `${what}; null is no limit` });

export const cardPolicyOut = z
  .strictObject({
    cardId: idOut('card'),
    status: z.enum(cardStatuses),
    usage: z.enum(cardUsages),
    isExpired: z.boolean().meta({ description: 'whether the policy has expired' }),
    expiresAt: instantOut.nullable(),
    cooldownActive: z.boolean().meta({ description: 'whether the last payment is too recent for another' }),
    spendStats: z.strictObject({
      dailySpent: eurosOut.meta({ description: 'with this card and those it replaced, in the UTC day' }),
      monthlySpent: eurosOut.meta({ description: 'with this card and those it replaced, in the UTC month' }),
      dailyRemaining: left('what card and policy still leave today'),
      monthlyRemaining: left('what card and policy still leave this month'),
    }),
    effectivePolicy: z.strictObject({
      maxTransactionEuros: left('the narrower of card and policy'),
      dailyLimitEuros: left('the narrower of card and policy'),
      monthlyLimitEuros: left('the narrower of card and policy'),
      autoApproveLimitEuros: eurosOut.nullable(),
      lockToFirstMerchant: z.boolean(),
      cooldownMinutes: z.int().nullable(),
    }),
    merchantLock: z
      .strictObject({
        merchant: z
          .string()
          .nullable()
          .meta({ description: 'as the network named it at the first payment', examples: ['Sandbox Shop 0087'] }),
        merchantId: z.string().nullable(),
        mcc: z
          .string()
          .nullable()
          .meta({ description: 'its category, which a drifted name has to have too', examples: ['5734'] }),
        names: z.array(z.string()).meta({
          description: 'under which it was paid lately, newest first; none widens the lock',
          examples: [['Sandbox Shop 0412', 'Sandbox Shop 0087']],
        }),
      })
      .nullable()
      .meta({
        description: 'The only merchant; null without a lock, and before the first payment.',
        examples: [
          {
            merchant: 'Sandbox Shop 0087',
            merchantId: 'sandbox-shop',
            mcc: '5734',
            names: ['Sandbox Shop 0412', 'Sandbox Shop 0087'],
          },
        ],
      }),
  })
  .meta({ id: 'CardPolicy', description: 'What a card may still spend.' });
export type CardPolicyWire = z.infer<typeof cardPolicyOut>;
