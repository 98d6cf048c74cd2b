/** Answers the limits operations: ask the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { type LimitName, limits } from '../../../platform/limits.ts';
import type { LimitRecord, limitsArea } from './limit.contract.ts';
import { limitsOf, updateLimit } from './limit.service.ts';

export const limitHandlers = ({ database }: { readonly database: Database }): Handlers<typeof limitsArea> => ({
  listLimits: async ({ own }) => {
    const found = await limitsOf(database.read(), own.ownerId);
    return { data: [...found].map(([name, limit]) => recordOf(name, limit)) };
  },
  updateLimit: async ({ params: { name }, body: { limit }, own: { ownerId } }, call) => {
    await inTransaction({ database }, call, (tx, cause) => updateLimit(tx, { ownerId, name, limit }, cause));
    return recordOf(name, limit);
  },
});

const recordOf = (name: LimitName, limit: number): LimitRecord => {
  const { most, per, counted } = limits[name];
  return { name, per, counted, limit, defaultLimit: most };
};
