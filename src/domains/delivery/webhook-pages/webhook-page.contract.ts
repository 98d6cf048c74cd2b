/** The link to the page of a subscription, the page, and what its buttons do. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { id, idOut, instantOut } from '../../../http/schemas.ts';
import { exampleId } from '../../../kernel/ids.ts';
import { webhookStatuses } from '../webhooks/webhook.rules.ts';
import { defaultLinkHours, longestLinkHours, periods } from './webhook-page.rules.ts';

const expiresAt = instantOut.meta({ description: 'Until when the link is good, in real time.' });

const pageLinkOut = z
  .strictObject({
    webhookId: idOut('webhook'),
    url: z.string().meta({
      description: 'The page. Whoever has it may use the buttons; shown only here.',
      examples: ['https://pay.example.com/webhook-pages/5f0c…'],
    }),
    expiresAt,
  })
  .meta({ id: 'WebhookPageLink', description: 'The link to the page of a subscription, which is shown only once.' });

const count = (description: string) => z.int().meta({ description, examples: [12] });
const sum = {
  attempts: count('Attempts, first and repeated ones.'),
  failures: count('Those that failed.'),
  meanMs: z
    .int()
    .nullable()
    .meta({ description: 'Mean time to an answer; null where none came.', examples: [48] }),
  slowestMs: z
    .int()
    .nullable()
    .meta({ description: 'The slowest answer; null where none came.', examples: [910] }),
};

const deadLetterOut = z
  .strictObject({
    id: idOut('delivery'),
    event: z.string().meta({ description: 'Name of the event.', examples: ['transaction.completed'] }),
    attempts: count('How often it was attempted.'),
    createdAt: instantOut.meta({ description: 'When the delivery was made.' }),
    lastStatus: z
      .int()
      .nullable()
      .meta({ description: 'HTTP status of the last attempt; null: no answer.', examples: [500] }),
    lostReason: z
      .string()
      .nullable()
      .meta({
        description: 'Why it ended before its last attempt; null: no attempt was left.',
        examples: ['given up by an operator'],
      }),
  })
  .meta({ id: 'PageDeadLetter', description: 'One dead letter on the page.' });

export const webhookPageOut = z
  .strictObject({
    webhookId: idOut('webhook'),
    businessName: z
      .string()
      .nullable()
      .meta({ description: 'The business of the owner; null where none is named.', examples: ['Acme GmbH'] }),
    host: z
      .string()
      .meta({ description: 'Host of the receiver. The page shows no path.', examples: ['hooks.acme.com'] }),
    status: z.enum(webhookStatuses).meta({ description: 'Of the subscription.', examples: ['active'] }),
    disabledReason: z
      .string()
      .nullable()
      .meta({ description: 'Why it is disabled; null otherwise.', examples: ['the receiver answered 410 Gone'] }),
    ordered: z.boolean().meta({ description: 'Whether subjects keep their order.', examples: [false] }),
    plan: z.string().meta({ description: 'Plan of the owner.', examples: ['enterprise'] }),
    maxAttempts: count('Attempts that the plan has.'),
    createdAt: instantOut.meta({ description: 'When the subscription was made.' }),
    linkExpiresAt: expiresAt,
    now: instantOut.meta({ description: 'Business time of the answer; ages count from it.' }),
    businessTime: z
      .string()
      .nullable()
      .meta({
        description: 'In a sandbox whose clock was moved: one sentence with the business time; null otherwise.',
        examples: [null],
      }),
    failing: z
      .strictObject({
        since: instantOut.meta({ description: 'When the first failure after the last success came.' }),
        failures: count('Failures in a row.'),
        isProbed: z.boolean().meta({
          description: 'After five attempts in a row without an answer it gets one request at a time.',
          examples: [false],
        }),
        lastStatus: z
          .int()
          .nullable()
          .meta({ description: 'HTTP status of the last failure; null: no answer.', examples: [503] }),
      })
      .nullable()
      .meta({ description: 'null: the last attempt succeeded, or none was made.' }),
    period: z.enum(periods).meta({ description: 'What `whole` and `parts` cover.', examples: ['24h'] }),
    whole: z.strictObject(sum).meta({ id: 'WebhookAttemptSum', description: 'Of the whole period.' }),
    parts: z
      .array(
        z
          .strictObject({ from: instantOut.meta({ description: 'When the part begins.' }), ...sum })
          .meta({ id: 'WebhookAttemptPart', description: 'The attempts that began in one part of the period.' }),
      )
      .meta({ description: 'Oldest first: 24 hours, or 28 quarters of a day.' }),
    queue: z
      .strictObject({
        unsent: count('Deliveries that wait for their first attempt.'),
        retrying: count('Deliveries that wait for another attempt.'),
        underWay: count('Attempts without a result yet.'),
        oldestAt: instantOut.nullable().meta({ description: 'When the oldest waiting delivery was made.' }),
        nextAttemptAt: instantOut.nullable().meta({ description: 'The earliest next attempt of those that failed.' }),
      })
      .meta({ id: 'WebhookQueue', description: 'What waits.' }),
    deadLetters: z
      .strictObject({
        letters: count('How many there are, counted up to 10,000.'),
        hasMore: z.boolean().meta({ description: 'True when there are more than were counted.', examples: [false] }),
        newest: z.array(deadLetterOut).meta({ description: 'At most 50, newest first.' }),
      })
      .nullable()
      .meta({ description: 'null: the plan has no dead letters.' }),
  })
  .meta({ id: 'WebhookHealth', description: 'How a subscription is doing, for whoever has the link of its page.' });
export type WebhookPageWire = z.infer<typeof webhookPageOut>;

const changedOut = z
  .strictObject({ deliveries: count('How many waited for another attempt when it was asked.') })
  .meta({ id: 'ChangedRetries', description: 'The deliveries that it was asked for.' });

const params = z.strictObject({ id: id('webhook') });
const one = z.strictObject({ token: z.string().max(128).meta({ description: 'the last part of the link' }) });
const nothing = z.strictObject({});

export const webhookPagesArea = defineArea({
  tag: 'Webhook Pages',
  base: '',
  aliases: [],
  description:
    'A page for people that shows how a subscription is doing, with buttons. The link is a capability: for one subscription, for a limited time, until another one takes its place.',
  operations: {
    createWebhookPageLink: {
      method: 'post',
      path: '/webhooks/{id}/page-links',
      summary: 'Make a link to the page of a subscription',
      description:
        'The answer has the link, once. A subscription has one link: the one before is invalid from the commit on. It ends with the deletion of the subscription too; rotating the signing secret does not touch it. A repeat of a request whose link was revoked or replaced since is refused.',
      auth: ['key'],
      params,
      body: z
        .strictObject({
          expiresInHours: z
            .int()
            .min(1)
            .max(longestLinkHours)
            .default(defaultLinkHours)
            .meta({ description: 'Counted in real time; at most 30 days.', examples: [defaultLinkHours] }),
        })
        .meta({ id: 'CreateWebhookPageLink' }),
      success: { status: 201, body: pageLinkOut },
      refusals: ['not_found', 'invalid_state'],
      fires: ['webhook_page_link.created'],
      secret: true,
    },
    revokeWebhookPageLink: {
      method: 'delete',
      path: '/webhooks/{id}/page-links',
      summary: 'Revoke the link to the page of a subscription',
      description:
        'It shows nothing from the commit on. 204 also where there is none. A repeat also revokes a link that was made since.',
      auth: ['key'],
      params,
      success: { status: 204 },
      refusals: ['not_found'],
      fires: ['webhook_page_link.revoked'],
    },
    getWebhookPage: {
      method: 'get',
      path: '/webhook-pages/{token}',
      summary: 'How the subscription is doing; a page for browsers',
      description:
        'A page where `Accept` prefers HTML, else JSON. 404 for every link that is not good, without saying why.',
      auth: ['public'],
      params: one,
      query: z.strictObject({
        period: z
          .enum(periods)
          .default('24h')
          .meta({ description: 'what the plot covers', examples: ['24h'] }),
      }),
      success: { status: 200, body: webhookPageOut },
      refusals: ['not_found'],
      page: true,
    },
    testByLink: {
      method: 'post',
      path: '/webhook-pages/{token}/test',
      summary: 'Send a test event',
      description: 'As `POST /webhooks/{id}/test` with its usual event, and under the same limit.',
      auth: ['public'],
      params: one,
      body: nothing,
      success: {
        status: 202,
        body: z
          .strictObject({ deliveryId: idOut('delivery') })
          .meta({ id: 'PageTestDelivery', description: 'The delivery of the sample.' }),
      },
      refusals: ['not_found', 'invalid_state'],
      fires: ['webhook_delivery.requested'],
    },
    retryByLink: {
      method: 'post',
      path: '/webhook-pages/{token}/retry',
      summary: 'Attempt now what waits for another attempt',
      description:
        'Records the request, then asks the workflow run of the retries. 503 where this does not answer within ten seconds: the request may still take effect.',
      auth: ['public'],
      params: one,
      body: nothing,
      success: { status: 200, body: changedOut },
      refusals: ['not_found', 'invalid_state'],
      fires: ['webhook_delivery.retry_requested'],
    },
    abandonByLink: {
      method: 'post',
      path: '/webhook-pages/{token}/give-up',
      summary: 'End what waits for another attempt',
      description:
        'The deliveries become dead letters where their plan has these. Attempts under way are left to their results. Records the request, then asks the workflow run of the retries. 503 where this does not answer within ten seconds: the request may still take effect.',
      auth: ['public'],
      params: one,
      body: nothing,
      success: { status: 200, body: changedOut },
      refusals: ['not_found', 'invalid_state'],
      fires: ['webhook_delivery.abandon_requested'],
    },
    redeliverByLink: {
      method: 'post',
      path: '/webhook-pages/{token}/redeliver',
      summary: 'Deliver dead letters again',
      description: 'Those of `ids`, or all of the subscription, oldest first, at most 5,000 for each call.',
      auth: ['public'],
      params: one,
      body: z
        .strictObject({
          ids: z
            .array(
              id('delivery', { elsewhere: 'the statement takes only dead letters of the subscription of the link' }),
            )
            .min(1)
            .max(100)
            .meta({ description: 'Dead letters; absent: all.', examples: [[exampleId('delivery')]] })
            .optional(),
        })
        .meta({ id: 'RedeliverByLink', examples: [{}] }),
      success: {
        status: 202,
        body: z
          .strictObject({
            queued: count('How many deliveries this call made.'),
            hasMore: z.boolean().meta({ description: 'True when another call finds more.', examples: [false] }),
          })
          .meta({ id: 'RedeliveredByLink', description: 'What is delivered again.' }),
      },
      refusals: ['not_found', 'invalid_state', 'plan_limit_exceeded'],
      fires: ['webhook_delivery.requested'],
    },
  },
});
