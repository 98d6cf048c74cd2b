/** The input of an intent: the planned payment, and the actual one. Wire shapes only. @module */
import * as z from 'zod';
import type { Received } from '../../../http/cents-names.ts';
import { euros, id, prose, text } from '../../../http/schemas.ts';
import { exampleId } from '../../../kernel/ids.ts';
import { cadences } from './windows/recurrence.rules.ts';

const dayInMinutes = 1_440;
const longestTtlMinutes = { one: 30 * dayInMinutes, recurring: 5 * 366 * dayInMinutes };
const defaultTtlMinutes = { one: dayInMinutes, recurring: 366 * dayInMinutes };
/** As many minutes, and how many days that is. */
const inMinutes = (minutes: number): string => `${minutes} (${minutes / dayInMinutes} d)`;
const halfYearInDays = 182;

const recurring = z
  .strictObject({
    cadence: z.enum(cadences),
    windowStartDaysBefore: z.int().min(0).max(halfYearInDays).default(3),
    windowEndDaysAfter: z.int().min(0).max(halfYearInDays).default(2),
    amountTolerancePercent: z.number().min(0).max(100).default(10).meta({
      description: 'how far above the amount a charge may be; bounded by the policy’s, where that names one',
    }),
    merchantMatch: z.boolean().default(true).meta({ description: 'false: by whichever merchant' }),
  })
  .meta({
    description:
      'Charged once in each window: whole UTC days around a due day. The first due day is that of the approval, and that window begins with it; months without that day have their last one. A day that two windows want belongs to the nearer due day, in a tie to the earlier one.',
  });

export const declaration = z
  .strictObject({
    agentId: id('agent').optional(),
    purpose: prose(500),
    expectedAmountEuros: euros().optional().meta({
      description: 'The amount in euros, with at most two decimals. Required, unless `expectedAmount` is given.',
    }),
    expectedAmount: euros()
      .optional()
      .meta({ description: 'The older name of `expectedAmountEuros`; give one of the two.', deprecated: true }),
    expectedMerchant: text(200).optional(),
    clientIntentId: text(64).optional(),
    ttlMinutes: z
      .int()
      .min(1)
      .max(longestTtlMinutes.recurring)
      .optional()
      .meta({
        description: `until when it stands: for one payment at most ${inMinutes(longestTtlMinutes.one)}, if not given ${inMinutes(defaultTtlMinutes.one)}; recurring at most ${inMinutes(longestTtlMinutes.recurring)}, if not given ${inMinutes(defaultTtlMinutes.recurring)}`,
      }),
    recurring: recurring.optional(),
    cardId: id('card').optional(),
    cardName: text(60).optional(),
  })
  .refine(
    (body) => !(body.cardId !== undefined && body.cardName !== undefined),
    'name the card by cardId or by cardName, not both',
  )
  .refine(
    (body) => (body.expectedAmountEuros === undefined) !== (body.expectedAmount === undefined),
    'give expectedAmountEuros (or its older name expectedAmount), once',
  )
  .refine(({ ttlMinutes = 1, recurring: again }) => again !== undefined || ttlMinutes <= longestTtlMinutes.one, {
    path: ['ttlMinutes'],
    message: `must be at most ${inMinutes(longestTtlMinutes.one)} for an intent that is not recurring`,
  })
  .meta({
    examples: [
      {
        agentId: exampleId('agent'),
        purpose: 'Paper for the office printer',
        expectedAmountEuros: 12.5,
        expectedMerchant: 'Sandbox Shop',
      },
    ],
  })
  .transform(({ ttlMinutes, ...body }) => ({
    ...body,
    ttlMinutes: ttlMinutes ?? defaultTtlMinutes[body.recurring === undefined ? 'one' : 'recurring'],
  }));

export type DeclareBody = Received<typeof declaration>;

export const verification = z
  .strictObject({ actualAmountEuros: euros().optional(), actualMerchant: text(200).optional() })
  .refine(
    ({ actualAmountEuros, actualMerchant }) => actualAmountEuros !== undefined || actualMerchant !== undefined,
    'give actualAmountEuros, actualMerchant or both',
  )
  .meta({ minProperties: 1 });

export type VerifyBody = Received<typeof verification>;
