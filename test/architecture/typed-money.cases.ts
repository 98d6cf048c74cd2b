/**
 * Goal: an amount in cents is never taken for euros, nor the other way round. Method: the compiler checks the lines
 * marked `@ts-expect-error`; such a line that compiles is itself an error.
 * @module
 */
import * as z from 'zod';
import type { TransactionFields } from '../../src/domains/payments/transactions/transaction.entity.ts';
import { defineArea, type Handlers } from '../../src/http/route.ts';
import { euros, eurosOut } from '../../src/http/schemas.ts';
import { type Cents, cents, type Euros, eurosFromCents } from '../../src/kernel/money.ts';

export const body = z.strictObject({
  amountEuros: euros(),
  limit: euros().nullable().optional().meta({ description: 'a limit' }),
  payment: z.strictObject({ parts: z.array(z.strictObject({ shareEuros: euros(), name: z.string() })) }).optional(),
  either: z.union([z.strictObject({ feeEuros: euros() }), z.strictObject({ percent: z.number() })]).optional(),
});

const area = defineArea({
  tag: 'Test',
  base: '/test',
  aliases: [],
  description: '',
  operations: {
    pay: {
      method: 'post',
      path: '',
      summary: '',
      auth: ['key'],
      body,
      success: { status: 200, body: z.object({ paidEuros: eurosOut }) },
      refusals: [],
      pure: true,
    },
  },
});

type Pay = Handlers<typeof area>['pay'];

export const converts: Pay = async ({ body: { amountCents } }) => ({ paidEuros: eurosFromCents(amountCents) });

// @ts-expect-error: cents are not euros.
export const returnsCents: Pay = async ({ body: { amountCents } }) => ({ paidEuros: amountCents });

// @ts-expect-error: a bare number is not euros.
export const returnsNumber: Pay = async () => ({ paidEuros: 12.5 });

// @ts-expect-error: a handler has no amount under its wire name.
export const readsEuros: Pay = async ({ body: { amountEuros } }) => ({ paidEuros: amountEuros });

export const readsInner: Pay = async ({ body: { payment } }) => {
  const [part] = payment?.parts ?? [];
  const share: Cents | undefined = part?.shareCents;
  // @ts-expect-error: an inner amount is under its name in cents only.
  void part?.shareEuros;
  return { paidEuros: eurosFromCents(share ?? cents(0)) };
};

// @ts-expect-error: euros cannot be converted to euros again.
export const twice = (amount: Euros): Euros => eurosFromCents(amount);

// @ts-expect-error: a number from elsewhere is checked with `cents` first.
export const unchecked = (amount: number): Euros => eurosFromCents(amount);

// @ts-expect-error: a column of an amount takes cents only.
export const column: Pick<TransactionFields, 'amountCents'> = { amountCents: 500 };
