/** The limits operations as published: how many records an owner may have. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { limitNames } from '../../../platform/limits.ts';

const name = z.enum(limitNames).meta({ description: 'the limit, as `GET /limits` names it' });

const Limit = z
  .strictObject({
    name,
    per: z.string().meta({ description: 'what the records are counted for: an owner, an agent, an intent …' }),
    counted: z.string().meta({ description: 'what is counted' }),
    limit: z.int().meta({ description: 'how many there may be' }),
    defaultLimit: z.int().meta({ description: 'the same for an owner whose limit was not raised' }),
  })
  .meta({ id: 'Limit', description: 'How many records of one kind an owner may have.' });

export type LimitRecord = z.infer<typeof Limit>;

export const largestLimit = 1_000_000;

export const limitsArea = defineArea({
  tag: 'Limits',
  base: '/limits',
  aliases: [],
  description:
    'How many records of each kind an owner may have. Creating one above the limit is refused with 400, which names the limit.',
  operations: {
    listLimits: {
      method: 'get',
      path: '',
      summary: 'List the limits of this owner',
      auth: ['key', 'dashboard'],
      unpaged: 'one row for each entry of limits.ts',
      success: {
        status: 200,
        body: z.strictObject({ data: z.array(Limit) }).meta({ id: 'Limits', description: 'The limits of an owner.' }),
      },
      refusals: [],
    },
    updateLimit: {
      method: 'put',
      path: '/{name}',
      summary: 'Raise a limit of one owner',
      description:
        'With the dashboard secret, for the owner in `X-Owner-Id`. Never below the default; the default itself takes the raise back. Records above a limit that was lowered stay.',
      auth: ['dashboard'],
      params: z.strictObject({ name }),
      body: z.strictObject({ limit: z.int().min(1).max(largestLimit) }),
      success: { status: 200, body: Limit },
      refusals: [],
      fires: ['limit.updated'],
    },
  },
});
