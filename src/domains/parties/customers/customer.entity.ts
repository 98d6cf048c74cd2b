/** The customers table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { CustomerStatus, CustomerType, DefaultPolicy } from './customer.rules.ts';
import type { Plan } from './plan.rules.ts';

const CustomerSchema = defineEntity({
  name: 'Customer',
  tableName: 'customers',
  properties: {
    id: p.string().primary().$type<Id<'customer'>>(),
    ownerId: p.string().$type<Id<'owner'>>(),
    type: p.string().$type<CustomerType>(),
    email: p.string().nullable(),
    status: p.string().$type<CustomerStatus>(),
    plan: p.string().$type<Plan>(),
    defaultPolicy: p.json<DefaultPolicy>().nullable(),
    firstName: p.string().nullable(),
    lastName: p.string().nullable(),
    companyName: p.string().nullable(),
    dateOfBirth: p.string().nullable(),
    addressLine1: p.string().nullable().fieldName('address_line1'),
    addressCity: p.string().nullable(),
    addressPostcode: p.string().nullable(),
    addressCountry: p.string().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
export class CustomerRow extends CustomerSchema.class {}
CustomerSchema.setClass(CustomerRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    customers: TableOf<typeof CustomerSchema>;
  }
}
