/** The simulations table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { ChargeRefusal } from './simulation.port.ts';
import type { SimulationStatus, WantedOutcome } from './simulation.rules.ts';

const SimulationSchema = defineEntity({
  name: 'Simulation',
  tableName: 'simulations',
  properties: {
    id: p.string().primary().$type<Id<'simulation'>>(),
    ownerId: p.string(),
    agentId: p.string(),
    cardId: p.string(),
    intentId: p.string().nullable(),
    amountCents: p.bigint('number').$type<Cents>(),
    merchant: p.string(),
    mcc: p.string(),
    country: p.string(),
    wanted: p.string().$type<WantedOutcome>(),
    status: p.string().$type<SimulationStatus>(),
    attempt: p.integer(),
    transactionId: p.string().nullable(),
    refusal: p.string().$type<ChargeRefusal>().nullable(),
    requestId: p.string(),
    runId: p.string().nullable(),
    version: p.integer().version(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
export class SimulationRow extends SimulationSchema.class {}
SimulationSchema.setClass(SimulationRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    simulations: TableOf<typeof SimulationSchema>;
  }
}
