/** What `spending_counters` returns: what an agent and one of its cards have spent. Shapes only. @module */
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';

const text = z.string().nullable();
/** `domain`: the host of a machine payment; null for every other. */
const merchant = z.object({ id: text, name: text, domain: text, mcc: text });

/** `instant`: a date in a row, a text within JSON. */
export const spendingCounters = (instant: z.ZodType<Date>) =>
  columnRow({
    spentTodayCents: z.int(),
    spentThisMonthCents: z.int(),
    openIntentsCents: z.int(),
    openIntentsThisMonthCents: z.int(),
    cardSpentTodayCents: z.int(),
    cardSpentThisMonthCents: z.int(),
    lastPaymentAt: instant.nullable(),
    usageCount: z.int(),
    firstMerchant: merchant.nullable(),
  });
