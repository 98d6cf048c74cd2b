/** The shapes of intents and their windows for callers and subscribers. @module */
import * as z from 'zod';
import { eurosOut, idOut, instantOut } from '../../../http/schemas.ts';
import { exampleId } from '../../../kernel/ids.ts';
import { intentStatuses } from './intent.rules.ts';
import { cadences } from './windows/recurrence.rules.ts';
import { windowStatuses } from './windows/window.rules.ts';

const recurringOut = z.strictObject({
  cadence: z.enum(cadences),
  windowStartDaysBefore: z.int(),
  windowEndDaysAfter: z.int(),
  amountTolerancePercent: z.number(),
  merchantMatch: z.boolean(),
});
const windowShape = {
  number: z.int().meta({ description: 'the first is 1' }),
  dueOn: z.string().meta({ format: 'date', description: 'the day it is due, in UTC' }),
  from: instantOut,
  to: instantOut.meta({ description: 'belongs to it no more' }),
};
const currentWindowOut = z.strictObject(windowShape);
export type IntentWindowWire = z.infer<typeof currentWindowOut>;

export const intentWindowOut = z
  .strictObject({
    ...windowShape,
    intentId: idOut('intent'),
    status: z.enum(windowStatuses),
    transactionId: z.string().nullable(),
    completedAt: instantOut.nullable(),
  })
  .meta({ id: 'IntentWindow', description: 'A window of a recurring intent that was charged or is over.' });

const declinedChargeOut = z
  .strictObject({
    transactionId: idOut('transaction'),
    merchantId: z.string().meta({ description: 'the network’s id of the merchant' }),
    merchantMcc: z.string().meta({ description: 'merchant category', examples: ['5734'] }),
    merchantCountry: z.string().meta({ description: 'ISO 3166-1 alpha-2', examples: ['DE'] }),
    rule: z.string().meta({ description: 'code of the rule that declined it', examples: ['auto_approve_limit'] }),
    figures: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).meta({
      description: 'what the rule compared; amounts in euros',
      examples: [{ limitEuros: 10, askedEuros: 12.5 }],
    }),
  })
  .meta({ id: 'DeclinedCharge', description: 'A declined charge, as an intent that was made from it names it.' });

export const approverGrammar =
  'Who approved it: `policy`, `key:` with the id of the owner’s key, `passkey:` with the id of the passkey, `signal:` with what the approver typed';

export const intentOut = z
  .strictObject({
    id: idOut('intent'),
    ownerId: idOut('owner'),
    agentId: idOut('agent'),
    purpose: z.string(),
    expectedAmountEuros: eurosOut,
    expectedMerchant: z.string().nullable(),
    status: z.enum(intentStatuses),
    recurring: recurringOut.nullable(),
    expiresAt: instantOut,
    cardId: idOut('card'),
    policyCheck: z
      .strictObject({
        allowed: z.boolean(),
        requiresApproval: z.boolean(),
        reason: z
          .string()
          .nullable()
          .meta({ description: 'the rule with its figures; null where nothing stood against it' }),
      })
      .meta({ description: 'what the rules said when it was declared; it does not change afterwards' }),
    clientIntentId: z.string().nullable(),
    approvedBy: z
      .string()
      .nullable()
      .meta({
        description: `${approverGrammar}. null until it is approved`,
        examples: ['policy', 'key:key_…', 'passkey:psk_…', 'signal:anna'],
      }),
    approvedAt: instantOut.nullable(),
    deniedReason: z.string().nullable().meta({
      description:
        'of a denied one: the rule with its figures, or what the person gave as the reason; of a failed one: why its charge was declined; else null',
    }),
    completedAt: instantOut.nullable(),
    matchedTransactionId: z
      .string()
      .nullable()
      .meta({ description: 'what is paying for it now; of a recurring one its windows say it' }),
    transferId: z
      .string()
      .nullable()
      .meta({
        description: 'the transfer, or the split of transfers, that was ordered for it; null again where no money left',
        examples: [exampleId('transfer')],
      }),
    openPaymentId: z.string().nullable().meta({
      description: 'the machine payment for it that has not ended: it neither expires nor is cancelled meanwhile',
    }),
    transactionId: z.string().nullable().meta({ description: 'what paid for it; of a recurring one the last charge' }),
    declinedCharge: declinedChargeOut.nullable().meta({
      description: 'the declined charge that it was made from: a person is asked about it, or the owner has allowed it',
    }),
    allowsOnceOf: z
      .string()
      .nullable()
      .meta({
        description:
          'the declined transaction that it lets pass once (`POST /transactions/{id}/allow-once`); it pays for nothing else',
        examples: [exampleId('transaction')],
      }),
    attestedAt: instantOut.nullable().meta({
      description:
        'when a passkey last stood by it; null again when that passkey is removed before anything was charged',
    }),
    verified: z.boolean().meta({
      description: 'the last `POST /intents/{id}/verify` found that what was paid is what was declared',
    }),
    createdAt: instantOut,
    window: currentWindowOut.nullable().meta({
      description:
        'of an approved recurring one: the window that is current or next, and unpaid; those before are `GET /intents/{id}/windows`',
    }),
    maxChargeEuros: eurosOut.nullable().meta({
      description: 'while it waits: the most that one charge may take, tolerance included; what approving it allows',
    }),
    approvalUrl: z
      .string()
      .nullable()
      .meta({ description: 'where a person decides it, while it waits; shown to the owner, never to an agent' }),
  })
  .meta({ id: 'Intent', description: 'A planned payment and its state.' });

export type IntentWire = z.infer<typeof intentOut>;
/** What also subscribers see: the link is a capability, and no event carries one; the most is of the moment. */
export type IntentFacts = Omit<IntentWire, 'approvalUrl' | 'maxChargeEuros'>;
