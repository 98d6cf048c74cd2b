/**
 * Web Push by the library `web-push`, which encrypts and signs; the request goes through the guarded client, because a
 * caller supplied the address.
 * @module
 */
// biome-ignore lint/correctness/noUnresolvedImports: a CommonJS module, which Node gives a default export
import webPush from 'web-push';
import type { PushService } from '../../domains/delivery/push-subscriptions/push.port.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';

type Deps = {
  readonly outbound: Outbound;
  /** Where a push service reaches the operator: an https address or a mailto. */
  readonly contact: string;
};

const timeoutMs = 10_000;

export const createWebPush = ({ outbound, contact }: Deps): PushService => ({
  send: async ({ endpoint, keys, sender, payload, ttlSeconds, isUrgent, topic }) => {
    const details = webPush.generateRequestDetails({ endpoint, keys: { ...keys } }, payload, {
      vapidDetails: { subject: contact, ...sender },
      TTL: ttlSeconds,
      urgency: isUrgent ? 'high' : 'normal',
      topic,
    });
    try {
      const { status, linesOf } = await outbound.request(endpoint, {
        method: 'POST',
        headers: headersOf(details.headers),
        body: details.body,
        timeoutMs,
        maxBytes: 4_096,
        requireHttps: 'always',
        // The status says everything.
        acceptsPartialBody: true,
      });
      return { status, retryAfter: linesOf('retry-after')[0] ?? null, why: null };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return { status: null, retryAfter: null, why: error.message };
    }
  },
});

/** The client counts the body itself. */
const headersOf = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (name === 'Content-Length' ? [] : [[name, String(value)]])),
  );
