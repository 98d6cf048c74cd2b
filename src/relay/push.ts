/**
 * Sends push messages: claims due ones, sends them with bounded concurrency, records each result. Runs in the worker
 * process without Temporal; several may run at once.
 * @module
 */
import type { Database } from '../db/database.ts';
import type { PushAnswer, PushService } from '../domains/delivery/push-subscriptions/push.port.ts';
import { notificationOf, pushOutcome } from '../domains/delivery/push-subscriptions/push.rules.ts';
import { pushKeyContext } from '../domains/delivery/push-subscriptions/push-key.service.ts';
import {
  type ClaimedMessage,
  claimPushMessages,
  purgePushMessages,
  recordPushResult,
} from '../domains/delivery/push-subscriptions/push-message.service.ts';
import { deviceContext } from '../domains/delivery/push-subscriptions/push-subscription.service.ts';
import type { ApprovalLinks } from '../domains/identity/approvals/index.ts';
import { second } from '../kernel/instant.ts';
import type { Cause } from '../platform/cause.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { doneWithin, stopTimes } from '../platform/stop-times.ts';
import type { Vault } from '../vault/vault.ts';
import { type Loop, startLoop } from './loop.ts';

type Options = {
  readonly database: Database;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly links: Pick<ApprovalLinks, 'urlsOf'>;
  readonly push: PushService;
  readonly log: Logger;
};

/** Messages under way in this process. */
const mostUnderWay = 20;
/** Of one owner, over all processes. */
const perOwner = mostUnderWay / 4;

export function startPushLoop({ database, clock, vault, links, push, log }: Options): Loop {
  const deliver = async (message: ClaimedMessage, link: string | undefined): Promise<void> => {
    const answer = await send(message, link);
    const outcome = pushOutcome(answer, message, new Date());
    const { subscriptionId, id, attempts } = message;
    if (outcome.kind !== 'delivered') {
      log.warn(
        { subscriptionId, status: answer.status, outcome: outcome.kind, why: answer.why },
        'push message not taken',
      );
    }
    const causeId = `push/${id}/${attempts}`;
    const cause: Cause = { causeId, requestId: causeId, actor: { kind: 'system' }, at: await clock.now() };
    await database.write((tx) => recordPushResult(tx, message, outcome, cause));
  };

  const send = async (message: ClaimedMessage, link: string | undefined): Promise<PushAnswer> => {
    const { subscriptionId, endpoint, publicKey, expiresAt, kind } = message;
    const ttlSeconds = Math.floor((expiresAt.getTime() - Date.now()) / second);
    if (ttlSeconds <= 0) return { status: null, retryAfter: null, why: 'its time is over' };
    const keys = JSON.parse(await vault.open(message.sealedKeys, deviceContext(subscriptionId)));
    const privateKey = await vault.open(message.sealedPrivateKey, pushKeyContext(publicKey));
    const payload = JSON.stringify(notificationOf(message, link));
    const sender = { publicKey, privateKey };
    return push.send({ endpoint, keys, sender, payload, ttlSeconds, isUrgent: kind !== 'test' });
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
      const waiting = claimed.filter(({ kind }) => kind === 'approval').map(({ subjectId }) => subjectId);
      const urls = await links.urlsOf(database.read(), [...new Set(waiting)]);
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
