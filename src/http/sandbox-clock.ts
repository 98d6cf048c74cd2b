/**
 * The sandbox's movable business clock. It only moves forward. Due runs are woken, for some seconds before the answer
 * and in the background after it. Absent in live.
 * @module
 */
import * as z from 'zod';
import { day } from '../kernel/instant.ts';
import type { Cause } from '../platform/cause.ts';
import { defineArea, type Handlers } from './route.ts';
import { instantOut } from './schemas.ts';

export const sandboxClockArea = defineArea({
  tag: 'Sandbox',
  base: '/sandbox/clock',
  aliases: [],
  description: 'Move business time, to see deadlines, holds and retries in seconds. Sandbox deployments only.',
  operations: {
    getSandboxClock: {
      method: 'get',
      path: '',
      summary: 'Business time, and how far it is ahead of real time',
      auth: ['clock', 'dashboard'],
      ownerless: true,
      success: {
        status: 200,
        body: z
          .strictObject({ now: instantOut, offsetMs: z.number().int() })
          .meta({ id: 'SandboxClock', description: 'The business time of a sandbox.' }),
      },
      refusals: [],
      unlimited: true,
      sandboxOnly: true,
    },
    advanceSandboxClock: {
      method: 'post',
      path: '/advance',
      summary: 'Move business time forward',
      description:
        'Up to 400 days per call. Wakes the workflow runs whose deadline has passed, and answers within 5 s: `woken` is ' +
        'how many have been woken by then, `left` how many are woken in the background (all of them while Temporal is ' +
        'away).',
      auth: ['dashboard'],
      ownerless: true,
      body: z.strictObject({
        ms: z
          .number()
          .int()
          .min(1)
          .max(400 * day),
      }),
      success: {
        status: 200,
        body: z
          .strictObject({
            now: instantOut,
            offsetMs: z.number().int(),
            woken: z.number().int().min(0).describe('Due workflow runs that have been woken'),
            left: z.number().int().min(0).describe('Due workflow runs that are still to be woken, in the background'),
          })
          .meta({ id: 'AdvancedSandboxClock', description: 'The business time after it was moved forward.' }),
      },
      refusals: [],
      pure: true, // No owner's record changes by the call itself; what becomes due fires its own events.
      sandboxOnly: true,
    },
  },
});

export type SandboxClockDeps = {
  readonly read: () => Promise<{ now: Date; offsetMs: number }>;
  readonly advance: (ms: number, cause: Cause) => Promise<{ now: Date; offsetMs: number; woken: number; left: number }>;
};

export const sandboxClockHandlers = ({ read, advance }: SandboxClockDeps): Handlers<typeof sandboxClockArea> => ({
  getSandboxClock: async () => {
    const { now, offsetMs } = await read();
    return { now: now.toISOString(), offsetMs };
  },
  advanceSandboxClock: async ({ body }, call) => {
    const { now, ...answer } = await advance(body.ms, call.cause);
    return { now: now.toISOString(), ...answer };
  },
});
