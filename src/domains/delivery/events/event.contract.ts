/** The feed of events as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { idOut, instantOut } from '../../../http/schemas.ts';

export const maximumEvents = 100;
/** Below the time-outs of usual proxies. */
export const maximumWaitMs = 25_000;

const position = z.int().min(0);

const feedEvent = z
  .strictObject({
    id: idOut('event'),
    position: position.meta({
      description: 'Its place in the feed. It is the `X-Service-Sequence` of its deliveries, too.',
      examples: [4711],
    }),
    event: z.string().meta({ description: 'Name of the event.', examples: ['transaction.completed'] }),
    agentId: idOut('agent')
      .nullable()
      .meta({ description: 'The agent that the event concerns; null: the owner alone.' }),
    subjectId: z
      .string()
      .meta({ description: 'Id of the record that changed.', examples: ['tx_01kc1v9m3se7ttw5v1x0h2q8ab'] }),
    requestId: z.string().meta({
      description: 'X-Request-Id of the originating call.',
      examples: ['019aa3d1-5c1e-7d3a-9b41-0d8a5a0f4c11'],
    }),
    runId: z
      .string()
      .nullable()
      .meta({ description: 'X-Service-Run-Id of the originating call.', examples: ['run-7'] }),
    createdAt: instantOut.meta({ description: 'When it happened, in business time.' }),
    data: z
      .record(z.string(), z.unknown())
      .meta({ description: 'As in a delivery; `events.json` has its schema.', examples: [{ status: 'completed' }] }),
  })
  .meta({ id: 'FeedEvent', description: 'An event with its place in the feed.' });
export type FeedEventWire = z.infer<typeof feedEvent>;

const feedOut = z
  .strictObject({
    data: z.array(feedEvent).meta({ description: 'Ascending by `position`.' }),
    position: position.meta({
      description: '`after` of the next call. It may be ahead of the last event, and may move without an event.',
      examples: [4711],
    }),
    hasMore: z.boolean().meta({ description: 'True when the next call need not wait for new events.' }),
  })
  .meta({ id: 'FeedPage', description: 'The events behind a position.' });

export const eventsArea = defineArea({
  tag: 'Events',
  base: '/events',
  aliases: [],
  description:
    'Every event of an owner in one order, to be read by polling: for consumers that no webhook reaches, and to catch up.',
  operations: {
    listEvents: {
      method: 'get',
      path: '',
      summary: 'Events behind a position, oldest first',
      description:
        'Call again with `after` set to the `position` of the answer. No event ever appears behind a position that was answered, so that a consumer that stores `position` misses none. Where events behind `after` are not kept any more, the answer is 410, and its text names the position from which all are kept. An agent gets the events that concern it, and none of the owner alone.',
      auth: ['key', 'agent'],
      scope: 'events.read',
      query: z.strictObject({
        after: z
          .string()
          .regex(/^(now|\d{1,15})$/, 'must be the position of an earlier answer, or now')
          .transform((text) => (text === 'now' ? ('now' as const) : Number(text)))
          .meta({
            description:
              'The `position` of an earlier answer. `now`: no event, but the position behind all that happened until now. Absent or 0: from the first event that is kept.',
            examples: ['4711'],
          })
          .optional(),
        limit: z
          .string()
          .regex(/^\d{1,9}$/, 'must be a number in decimal digits')
          .transform(Number)
          .refine((limit) => limit >= 1 && limit <= maximumEvents, `must be from 1 to ${maximumEvents}`)
          .meta({ description: 'How many events at most, in decimal digits.', examples: ['100'] })
          .default(maximumEvents),
        waitMs: z
          .string()
          .regex(/^\d{1,9}$/, 'must be a number in decimal digits')
          .transform(Number)
          .refine((waitMs) => waitMs <= maximumWaitMs, `must be at most ${maximumWaitMs}`)
          .meta({
            description:
              'How long to wait for an event where there is none yet, in milliseconds and decimal digits. The answer may come earlier without one: with `after=now`, where 20 calls of the owner or 8 of the agent or key wait already, and when the service restarts.',
            examples: ['25000'],
          })
          .optional(),
      }),
      unpaged: 'a feed goes on by its position, because a cursor of a list ends with the list',
      success: { status: 200, body: feedOut },
      refusals: ['gone'],
    },
  },
});
