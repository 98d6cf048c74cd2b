/** The beneficiary operations as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import {
  atLeastOneField,
  country,
  id,
  idOut,
  instantOut,
  pageOut,
  pageQuery,
  prose,
  text,
} from '../../../http/schemas.ts';
import { isBic, readIban } from '../../../kernel/iban.ts';
import { longestSepaName, sepaTextOf } from '../../../kernel/sepa-text.ts';
import { limits } from '../../../platform/limits.ts';
import { beneficiaryStatuses, screeningResults } from './beneficiary.rules.ts';
import { matchPercent } from './name-match.rules.ts';

const match = z
  .strictObject({
    reference: z.string().meta({ description: 'The entry of the list.', examples: ['EU.1234.56'] }),
    name: z.string().meta({ description: 'The name of the entry, as the list has it.', examples: ['Erika Muster'] }),
    scorePercent: z
      .int()
      .meta({ description: `How much the names resemble each other; ${matchPercent} or more.`, examples: [96] }),
  })
  .meta({ id: 'SanctionsMatch', description: 'An entry of the sanctions list that a name resembles.' });

const screening = z
  .strictObject({
    result: z.enum(screeningResults).meta({
      description: '`hit`: the name resembles one of the list, and nothing can be sent; otherwise `clear`.',
      examples: ['clear'],
    }),
    list: z.string().meta({
      description: 'The list that the name was compared with; `none` where the operator has set no list.',
      examples: ['eu 2026-11-20'],
    }),
    screenedAt: instantOut.meta({ description: 'When the name was last compared, in business time.' }),
    matches: z.array(match).meta({ description: 'What the name resembles and nobody has dismissed, best first.' }),
  })
  .meta({ id: 'Screening', description: 'How a name compared with the sanctions list.' });

const beneficiaryOut = z
  .strictObject({
    id: idOut('beneficiary'),
    ownerId: idOut('owner'),
    name: z.string().meta({ description: 'The payee’s name, as it was given.', examples: ['Müller & Söhne GmbH'] }),
    sepaName: z.string().meta({
      description: 'The name as banks get it, in the SEPA character set.',
      examples: ['Muller + Sohne GmbH'],
    }),
    iban: z
      .string()
      .nullable()
      .meta({
        description: 'The account; null for an agent token, which sees the masked form.',
        examples: ['DE89370400440532013000'],
      }),
    ibanMasked: z.string().meta({
      description: 'Country and last four characters of the account.',
      examples: ['DE•• •••• 3000'],
    }),
    bic: z
      .string()
      .nullable()
      .meta({ description: 'The BIC, as it was given; null without one.', examples: ['COBADEFFXXX'] }),
    country: z.string().meta({ description: 'The payee’s country (ISO 3166-1 alpha-2).', examples: ['DE'] }),
    email: z
      .string()
      .nullable()
      .meta({
        description: 'The payee’s email address; null without one and for an agent token.',
        examples: ['billing@payee.example'],
      }),
    agentsMayPay: z
      .boolean()
      .meta({ description: 'Whether agents see the beneficiary and may pay it.', examples: [false] }),
    status: z.enum(beneficiaryStatuses).meta({ description: '`disabled`: nothing can be sent.', examples: ['active'] }),
    screening,
    createdAt: instantOut.meta({ description: 'When the beneficiary was saved, in business time.' }),
    updatedAt: instantOut.meta({ description: 'When it last changed, in business time.' }),
  })
  .meta({ id: 'Beneficiary', description: 'A saved payee of bank transfers.' });
export type BeneficiaryWire = z.infer<typeof beneficiaryOut>;

export const nameIn = text(longestSepaName)
  .refine((name) => /[A-Za-z0-9]/.test(sepaTextOf(name)), 'must hold a letter or a digit')
  .refine(
    (name) => sepaTextOf(name).length <= longestSepaName,
    `must have at most ${longestSepaName} characters once it is written in the SEPA character set`,
  )
  .meta({
    description:
      'The name of the account holder. Letters outside the SEPA character set are written in it for the bank.',
    examples: ['Müller & Söhne GmbH'],
  });

export const ibanIn = z
  .string()
  .max(60)
  .meta({
    description: 'An account in the SEPA schemes, in either case, with or without spaces.',
    examples: ['DE89 3704 0044 0532 0130 00'],
  })
  .transform((given, context) => {
    const read = readIban(given);
    if (read.ok) return { iban: read.iban, country: read.country };
    context.addIssue({ code: 'custom', message: read.reason });
    return z.NEVER;
  });

export const bicIn = z
  .string()
  .trim()
  .toUpperCase()
  .refine(isBic, 'must be a BIC of eight or eleven characters')
  .meta({ description: 'The BIC of the account’s bank, in either case.', examples: ['COBADEFFXXX'] });

const countryIn = country.meta({
  description:
    'The payee’s country, in either case; it may differ from that of the account. Absent: that of the account.',
  examples: ['DE'],
});
const emailIn = z
  .email('must be an email address')
  .max(254)
  .meta({
    description: 'The payee’s email address, for your own records: Bursar sends nothing to it.',
    examples: ['billing@payee.example'],
  });
const agentsMayPayIn = z.boolean().meta({
  description: 'Whether agents see the beneficiary and may pay it, within their policies.',
  examples: [true],
});

const creation = z
  .strictObject({
    name: nameIn,
    iban: ibanIn,
    bic: bicIn.optional(),
    country: countryIn.optional(),
    email: emailIn.optional(),
    agentsMayPay: agentsMayPayIn.default(false),
  })
  .meta({ id: 'CreateBeneficiary' });
export type BeneficiaryBody = z.output<typeof creation>;

const change = z
  .strictObject({
    name: nameIn.optional(),
    bic: bicIn.nullable().optional(),
    country: countryIn.optional(),
    email: emailIn.nullable().optional(),
    status: z
      .enum(beneficiaryStatuses)
      .optional()
      .meta({ description: '`disabled`: nothing can be sent.', examples: ['disabled'] }),
    agentsMayPay: agentsMayPayIn.optional(),
  })
  .refine(...atLeastOneField)
  .meta({ id: 'UpdateBeneficiary' });
export type BeneficiaryChange = z.output<typeof change>;

const one = z.strictObject({ id: id('beneficiary') });

export const beneficiariesArea = defineArea({
  tag: 'Beneficiaries',
  base: '/beneficiaries',
  aliases: ['/vendors'],
  description:
    'Saved payees of bank transfers. Each name is compared with the sanctions list that the operator has set; what resembles one of its names cannot be paid until the operator dismisses the match.',
  operations: {
    createBeneficiary: {
      method: 'post',
      path: '',
      summary: 'Save a payee',
      description: `The account must be in the SEPA schemes and have right check digits; an account is saved once per owner. A name that resembles one of the sanctions list is saved and cannot be paid. 503 while the operator’s list cannot be read. An owner has up to ${limits.beneficiaries.most}.`,
      auth: ['key'],
      body: creation,
      success: { status: 201, body: beneficiaryOut },
      refusals: ['invalid_state'],
      fires: ['beneficiary.created'],
      sealed: true,
    },
    listBeneficiaries: {
      method: 'get',
      path: '',
      summary: 'Beneficiaries, newest first',
      description: 'An agent token sees those that agents may pay.',
      auth: ['key', 'agent'],
      scope: 'beneficiaries.read',
      query: z.strictObject({
        ...pageQuery('beneficiary'),
        status: z
          .enum(beneficiaryStatuses)
          .optional()
          .meta({ description: 'Only beneficiaries in this state.', examples: ['active'] }),
        q: text(70)
          .optional()
          .meta({ description: 'Only beneficiaries whose name holds this, in either case.', examples: ['müller'] }),
      }),
      success: { status: 200, body: pageOut(beneficiaryOut) },
      refusals: [],
    },
    getBeneficiary: {
      method: 'get',
      path: '/{id}',
      summary: 'One beneficiary',
      description: 'An agent token reads those that agents may pay.',
      auth: ['key', 'agent'],
      scope: 'beneficiaries.read',
      params: one,
      success: { status: 200, body: beneficiaryOut },
      refusals: ['agent_isolation', 'not_found'],
    },
    updateBeneficiary: {
      method: 'patch',
      path: '/{id}',
      summary: 'Change a beneficiary',
      description:
        'The account cannot change: save another beneficiary. Another name is compared with the sanctions list, and dismissals of the former name no longer count. While a transfer to it is not final, the name cannot change.',
      auth: ['key'],
      params: one,
      body: change,
      success: { status: 200, body: beneficiaryOut },
      refusals: ['not_found', 'invalid_state'],
      fires: ['beneficiary.updated'],
      sealed: true,
    },
    deleteBeneficiary: {
      method: 'delete',
      path: '/{id}',
      summary: 'Delete a beneficiary',
      description: 'Its account number and email address are erased. Refused while a transfer to it is not final.',
      auth: ['key'],
      params: one,
      success: { status: 204 },
      refusals: ['not_found', 'invalid_state'],
      fires: ['beneficiary.deleted'],
    },
    dismissBeneficiaryMatch: {
      method: 'post',
      path: '/{id}/dismiss-match',
      summary: 'Dismiss a match with the sanctions list',
      description:
        'With the dashboard secret, for the owner in `X-Owner-Id`: the operator has found that the payee is not the listed person or entity. The entry no longer counts for this beneficiary under this name; with no match left it can be paid.',
      auth: ['dashboard'],
      params: one,
      body: z
        .strictObject({
          reference: text(100).meta({ description: 'The entry of the list.', examples: ['EU.1234.56'] }),
          reason: prose(500).meta({
            description: 'Why it is somebody else; kept as evidence.',
            examples: ['another date of birth, by passport'],
          }),
        })
        .meta({ id: 'DismissBeneficiaryMatch' }),
      success: { status: 200, body: beneficiaryOut },
      refusals: ['invalid_state', 'not_found'],
      fires: ['beneficiary.updated'],
      sealed: true,
    },
  },
});
