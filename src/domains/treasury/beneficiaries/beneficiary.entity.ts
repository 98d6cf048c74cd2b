/** The tables beneficiaries and beneficiary_screenings. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { BeneficiaryStatus, Dismissal, ScreeningOccasion, ScreeningResult } from './beneficiary.rules.ts';
import type { NameMatch } from './name-match.rules.ts';

export const BeneficiarySchema = defineEntity({
  name: 'Beneficiary',
  tableName: 'beneficiaries',
  properties: {
    id: p.string().primary().$type<Id<'beneficiary'>>(),
    ownerId: p.string(),
    name: p.string(),
    sealedIban: p.string().nullable(),
    ibanMasked: p.string(),
    bic: p.string().nullable(),
    country: p.string(),
    email: p.string().nullable(),
    agentsMayPay: p.boolean(),
    /** False: a payee that one transfer names; in no list. */
    isSaved: p.boolean(),
    status: p.string().$type<BeneficiaryStatus>(),
    screeningResult: p.string().$type<ScreeningResult>(),
    screeningList: p.string(),
    matches: p.json<readonly NameMatch[]>(),
    dismissals: p.json<readonly Dismissal[]>(),
    screenedAt: p.datetime(),
    requestId: p.string(),
    version: p.integer().version(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
    deletedAt: p.datetime().nullable(),
  },
});
export class BeneficiaryRow extends BeneficiarySchema.class {}
BeneficiarySchema.setClass(BeneficiaryRow);

/** What every screening found, dismissed or not. Rows never change. */
const BeneficiaryScreeningSchema = defineEntity({
  name: 'BeneficiaryScreening',
  tableName: 'beneficiary_screenings',
  properties: {
    number: p.bigint('string').primary(),
    beneficiaryId: p.string(),
    ownerId: p.string(),
    occasion: p.string().$type<ScreeningOccasion>(),
    list: p.string(),
    result: p.string().$type<ScreeningResult>(),
    matches: p.json<readonly NameMatch[]>(),
    requestId: p.string(),
    createdAt: p.datetime(),
  },
});
export class BeneficiaryScreeningRow extends BeneficiaryScreeningSchema.class {}
BeneficiaryScreeningSchema.setClass(BeneficiaryScreeningRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    beneficiaries: TableOf<typeof BeneficiarySchema>;
    beneficiary_screenings: TableOf<typeof BeneficiaryScreeningSchema>;
  }
}
