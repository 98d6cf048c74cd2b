/**
 * Sends push messages: claims due ones, sends them with bounded concurrency, records each result. Runs in the worker
 * process without Temporal; several may run at once.
 * @module
 */
import type { Database } from '../db/database.ts';
import type { PushAnswer, PushService } from '../domains/delivery/push-subscriptions/push.port.ts';
import {
  notificationOf,
  type PushOutcome,
  pushOutcome,
  topicOf,
} from '../domains/delivery/push-subscriptions/push.rules.ts';
import { pushKeyContext } from '../domains/delivery/push-subscriptions/push-key.service.ts';
import {
  type ClaimedMessage,
  claimPushMessages,
  purgePushMessages,
  recordPushResult,
} from '../domains/delivery/push-subscriptions/push-message.service.ts';
import { deviceContext } from '../domains/delivery/push-subscriptions/push-subscription.service.ts';
import { findWebhook } from '../domains/delivery/webhooks/webhook.queries.ts';
import { type ApprovalSubjects, subjectOfId } from '../domains/identity/approvals/approval-subject.ts';
import type { ApprovalLinks } from '../domains/identity/approvals/index.ts';
import { isId } from '../kernel/ids.ts';
import { second } from '../kernel/instant.ts';
import type { Cause } from '../platform/cause.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { type Loop, startLoop } from '../platform/loop.ts';
import { doneWithin, stopTimes } from '../platform/stop-times.ts';
import type { Vault } from '../vault/vault.ts';

type Options = {
  readonly database: Database;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly links: Pick<ApprovalLinks, 'urlsOf'>;
  readonly approvals: ApprovalSubjects;
  readonly push: PushService;
  readonly log: Logger;
};

/** Messages under way in this process. */
const mostUnderWay = 20;
/** Of one owner, over all processes. */
const perOwner = mostUnderWay / 4;

export function startPushLoop({ database, clock, vault, links, approvals, push, log }: Options): Loop {
  const deliver = async (message: ClaimedMessage, link: string | undefined): Promise<void> => {
    const { id, attempts } = message;
    const outcome = await outcomeOf(message, link);
    const causeId = `push/${id}/${attempts}`;
    const cause: Cause = { causeId, requestId: causeId, actor: { kind: 'system' }, at: await clock.now() };
    await database.write((tx) => recordPushResult(tx, message, outcome, cause));
  };

  const outcomeOf = async (message: ClaimedMessage, link: string | undefined): Promise<PushOutcome> => {
    const { subscriptionId, expiresAt } = message;
    const leftMs = Math.min(expiresAt.getTime() - Date.now(), await actWithinMs(message));
    if (leftMs === 0) return { kind: 'obsolete' };
    const answer = await send(message, link, leftMs);
    const outcome = pushOutcome(answer, message, new Date());
    if (outcome.kind !== 'delivered') {
      const { status, why } = answer;
      log.warn({ subscriptionId, status, outcome: outcome.kind, why }, 'push message not taken');
    }
    return outcome;
  };

  /** 0 where nobody has to act any more. */
  const actWithinMs = async ({ kind, subjectId }: ClaimedMessage): Promise<number> => {
    if (kind === 'approval') return decideWithinMs(subjectId);
    if (kind !== 'webhook') return Number.POSITIVE_INFINITY;
    const webhook = isId('webhook', subjectId) ? await findWebhook(database.read(), subjectId) : null;
    return webhook?.status === 'disabled' ? Number.POSITIVE_INFINITY : 0;
  };

  /** In the clock's time, which a sandbox moves. */
  const decideWithinMs = async (subjectId: string): Promise<number> => {
    const [tx, at] = [database.read(), await clock.now()];
    const found = await subjectOfId(approvals, subjectId)?.find(tx, subjectId);
    if (found?.standing(at).isWaiting !== true) return 0;
    const leftMs = Date.parse((await found.show(tx, at)).decideBy) - at.getTime();
    // Of a request without a deadline, or of which a part is over, it lies in the past.
    return leftMs > 0 ? leftMs : Number.POSITIVE_INFINITY;
  };

  const send = async (message: ClaimedMessage, link: string | undefined, leftMs: number): Promise<PushAnswer> => {
    const { subscriptionId, subjectId, endpoint, publicKey, kind } = message;
    const ttlSeconds = Math.floor(leftMs / second);
    if (ttlSeconds <= 0) return { status: null, retryAfter: null, why: 'its time is over' };
    const keys = JSON.parse(await vault.open(message.sealedKeys, deviceContext(subscriptionId)));
    const privateKey = await vault.open(message.sealedPrivateKey, pushKeyContext(publicKey));
    const payload = JSON.stringify(notificationOf(message, link));
    const topic = topicOf(kind, subjectId);
    const sender = { publicKey, privateKey };
    return push.send({ endpoint, keys, sender, payload, ttlSeconds, isUrgent: kind !== 'test', topic });
  };

  const underWay = new Set<Promise<void>>();
  const carry = (message: ClaimedMessage, link: string | undefined): void => {
    const sending = deliver(message, link)
      // A fault of ours: the lease runs out and the message is claimed again.
      .catch((error: unknown) => log.error({ err: error, messageId: message.id }, 'push message not sent'))
      .finally(() => {
        underWay.delete(sending);
        loop.wake();
      });
    underWay.add(sending);
  };

  const loop = startLoop({
    name: 'push',
    everyMs: second,
    log,
    pass: async () => {
      const free = mostUnderWay - underWay.size;
      if (free === 0) return;
      const claimed = await database.write((tx) => claimPushMessages(tx, free, perOwner));
      if (claimed.length === 0) return;
      const shown = claimed.filter(({ kind }) => kind !== 'test').map(({ subjectId }) => subjectId);
      const urls = await links.urlsOf(database.read(), [...new Set(shown)]);
      for (const one of claimed) carry(one, urls.get(one.subjectId));
      await database.write(purgePushMessages);
    },
  });
  return {
    ...loop,
    stop: async () => {
      await loop.stop();
      await doneWithin(stopTimes.drainMs, Promise.all(underWay));
    },
  };
}
