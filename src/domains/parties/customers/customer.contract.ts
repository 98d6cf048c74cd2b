/** The customer operations as published. Wire shapes only; the rules live in customer.rules.ts and plan.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { atLeastOneField, country, euros, eurosOut, id, idOut, instantOut, text } from '../../../http/schemas.ts';
import { customerStatuses, customerTypes } from './customer.rules.ts';
import { plans } from './plan.rules.ts';

const ceiling = z.int().nullable();

/** Personal data that agents have no use for. */
const personal = (description: string) =>
  z
    .string()
    .nullable()
    .meta({ description: `${description}; shown to the owner's key alone, null for every other caller` });

const Customer = z
  .strictObject({
    id: idOut('customer'),
    ownerId: idOut('owner'),
    type: z.enum(customerTypes),
    email: z.string().nullable(),
    status: z.enum(customerStatuses),
    plan: z.enum(plans),
    walletBalanceEuros: eurosOut,
    planLimits: z.strictObject({
      agents: ceiling,
      cards: ceiling,
      members: ceiling,
      monthlyVolumeEuros: eurosOut.nullable().meta({ examples: [5_000] }),
      apiRequestsPerMonth: ceiling,
      historyDays: z.int(),
    }),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    companyName: z.string().nullable(),
    dateOfBirth: personal('such as 1990-12-31'),
    addressLine1: personal('street and number'),
    addressCity: personal('city'),
    addressPostcode: personal('postcode'),
    addressCountry: personal('ISO 3166-1 alpha-2'),
    createdAt: instantOut,
  })
  .meta({ id: 'Customer', description: 'The owner of the account: identity data, plan and the total of the wallets.' });

const NewCustomer = z
  .strictObject({
    id: idOut('customer'),
    ownerId: idOut('owner'),
    type: z.enum(customerTypes),
    status: z.enum(customerStatuses),
  })
  .meta({ id: 'NewCustomer', description: 'A customer that was just created.' });

const email = z
  .email('must be an email address')
  .max(254)
  .refine((address) => address.lastIndexOf('@') <= 64, 'must have at most 64 characters before the @');
const limit = euros().nullable().optional();
const line = text(200).nullable().optional();

const dateOfBirth = z.iso
  .date('must be a date such as 1990-12-31')
  .refine((date) => date >= '1900-01-01' && date < '2100-01-01', 'must be a date of birth');

export const customersArea = defineArea({
  tag: 'Customers',
  base: '/customers',
  aliases: [],
  description: 'The account owner behind the API key: identity data, plan and the total of its wallets.',
  operations: {
    createCustomer: {
      method: 'post',
      path: '',
      summary: 'Create the customer of this owner',
      description: 'Once per owner; a default wallet comes with it. `policy` becomes the default for new agents.',
      auth: ['key'],
      body: z.strictObject({
        type: z.enum(customerTypes).default('consumer'),
        email: email.optional(),
        name: z.strictObject({ first: text(100), last: text(100) }).optional(),
        policy: z
          .strictObject({
            maxTransactionEuros: limit,
            dailyLimitEuros: limit,
            monthlyLimitEuros: limit,
            autoApproveLimitEuros: limit,
          })
          .optional(),
      }),
      success: { status: 201, body: NewCustomer },
      refusals: ['invalid_state'],
      fires: ['customer.created', 'wallet.created'],
    },
    getOwnCustomer: {
      method: 'get',
      path: '',
      summary: 'Get the own customer',
      description: 'Made on the first call of an API key where the owner has none yet.',
      auth: ['key', 'agent'],
      scope: 'wallets.read',
      success: { status: 200, body: Customer },
      refusals: ['not_found'],
      fires: ['customer.created', 'wallet.created'],
    },
    getCustomer: {
      method: 'get',
      path: '/{id}',
      summary: 'Get a customer',
      auth: ['key'],
      params: z.strictObject({ id: id('customer') }),
      success: { status: 200, body: Customer },
      refusals: ['not_found'],
    },
    updateCustomer: {
      method: 'patch',
      path: '/{id}',
      summary: 'Change a customer',
      description: 'In live mode the plan changes only through billing or with the dashboard secret.',
      auth: ['key', 'dashboard'],
      params: z.strictObject({ id: id('customer') }),
      body: z
        .strictObject({
          email: email.nullable().optional(),
          plan: z.enum([...plans, 'personal']).optional(),
          firstName: line,
          lastName: line,
          companyName: line,
          dateOfBirth: dateOfBirth.nullable().optional(),
          addressLine1: line,
          addressCity: line,
          addressPostcode: text(20).nullable().optional(),
          addressCountry: country.nullable().optional(),
        })
        .refine(...atLeastOneField)
        .meta({ minProperties: 1 }),
      success: { status: 200, body: Customer },
      refusals: ['not_found'],
      fires: ['customer.updated', 'cardholder.updated'],
    },
  },
});

export type CustomerRecord = z.infer<typeof Customer>;
