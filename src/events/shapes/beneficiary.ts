/** The `data` of the events of a beneficiary: no IBAN and no name. @module */
import * as z from 'zod';
import { code, country, id, instant, named } from '../fields.ts';

export const beneficiaryData = named('BeneficiaryEventData', {
  id: id('beneficiary'),
  ownerId: id('owner'),
  status: code,
  country,
  agentsMayPay: z.boolean(),
  screening: code.meta({ description: 'clear, or hit: the name resembles one of the sanctions list' }),
  createdAt: instant,
});
