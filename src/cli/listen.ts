/**
 * `bursar listen`: reads the feed of events and forwards each to an address of the user's machine, with the headers and
 * signatures of a delivery. It goes on where it ended, and stops at an event that the address does not take.
 * @module
 */
import { setTimeout as wait } from 'node:timers/promises';
import { bodyOf, deliveryHeaders, newWebhookSecret } from '../domains/delivery/webhooks/webhook.signature.ts';
import { Refusal } from './api.ts';
import type { Command, Context } from './context.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import { keepPosition, readPosition } from './positions.ts';
import type { Feed, FeedEvent } from './records.ts';
import { keep } from './settings.ts';

type Given = {
  readonly forward?: string;
  readonly events?: string;
  readonly from?: string;
  readonly once?: boolean;
  readonly skipFailed?: boolean;
  readonly api?: string;
};

/** The API's limit allows 100 calls a minute. */
const pauseMs = 2_000;
const longestPauseMs = 15_000;
/** So long the service may wait for an event before it answers. */
const waitMs = 25_000;
const waitsMs = [1_000, 2_000, 4_000, 8_000];
const timeoutMs = 30_000;

export const listen: Command<Given> = async (context, given) => {
  const { api, out, settings, ended } = context;
  if (given.forward !== undefined && !/^https?:$/.test(protocolOf(given.forward))) {
    throw new CommandError(
      exitCodes.usage,
      `${given.forward} is no address: http://localhost:3000/webhooks, for example`,
    );
  }
  const wanted = given.events?.split(',').map((name) => name.trim());
  const address = given.forward ?? '';
  let after = given.from ?? String((await readPosition(settings, address)) ?? 'now');
  if (api.isPrinting) {
    await api.call('GET', `/events?after=${encodeURIComponent(after)}`);
    return exitCodes.done;
  }
  const secret = given.forward === undefined ? '' : await secretOf(context);
  out.note(`listening${given.forward === undefined ? '' : `, forwarding to ${given.forward}`}; Ctrl-C ends`);
  const waiting = given.once === true ? '' : `&waitMs=${waitMs}`;
  let unanswered = 0;
  let hasBegun = false;
  while (!ended.aborted) {
    const askedAt = performance.now();
    const feed = await api
      .call<Feed>('GET', `/events?after=${encodeURIComponent(after)}${waiting}`, { signal: ended })
      .catch((error: unknown) => {
        // A service that answered before is being restarted; one that never did is the wrong address.
        if (ended.aborted || (hasBegun && given.once !== true && isPassing(error))) return undefined;
        throw error;
      });
    if (feed === undefined) {
      if (unanswered === 0 && !ended.aborted) out.note(`${settings.apiUrl} does not answer: waiting for it`);
      unanswered += 1;
      await pause(context, Math.min(pauseMs * unanswered, longestPauseMs));
      continue;
    }
    if (unanswered > 0) out.note(`${settings.apiUrl} answers again`);
    unanswered = 0;
    hasBegun = true;
    for (const event of feed.data) {
      if (wanted === undefined || wanted.includes(event.event)) {
        const status = given.forward === undefined ? undefined : await forward(context, given.forward, secret, event);
        const isTaken = status === undefined || (status >= 200 && status < 300);
        if (ended.aborted && !isTaken) return exitCodes.done;
        show(context, event, status);
        if (!isTaken && given.skipFailed !== true) {
          throw new CommandError(
            exitCodes.refused,
            `${given.forward} did not take ${event.id}: listening again begins with it, or with --skip-failed behind it`,
          );
        }
      }
      after = String(event.position);
      await keepPosition(settings, address, event.position);
      if (ended.aborted) return exitCodes.done;
    }
    after = String(feed.position);
    await keepPosition(settings, address, feed.position);
    if (feed.hasMore) continue;
    if (given.once === true) break;
    // The service may answer at once, where too many wait.
    await pause(context, Math.max(0, pauseMs - (performance.now() - askedAt)));
  }
  return exitCodes.done;
};

const pause = ({ ended }: Context, ms: number): Promise<void> =>
  wait(ms, undefined, { signal: ended }).catch(() => undefined);

/** No answer, or one that says that a later one may be another. */
const isPassing = (error: unknown): boolean =>
  error instanceof Refusal
    ? [429, 502, 503, 504].includes(error.status)
    : error instanceof CommandError && error.exitCode === exitCodes.away;

function show({ out }: Context, event: FeedEvent, status: number | undefined): void {
  const answered = status === undefined ? '' : status === 0 ? out.bad('no answer') : String(status);
  const line = `${out.dim(event.createdAt.slice(11, 19))}  ${event.event}  ${out.dim(event.subjectId)}  ${answered}`;
  out.item({ ...event, ...(status === undefined ? {} : { answered: status }) }, line.trimEnd());
}

/** The status of the last attempt; 0: no answer. */
async function forward(context: Context, url: string, secret: string, event: FeedEvent): Promise<number> {
  const { ended } = context;
  const body = bodyOf({
    event: event.event,
    createdAt: new Date(event.createdAt),
    data: event.data,
    sequence: event.position,
  });
  for (let attempt = 1; ; attempt++) {
    const signed = {
      attemptId: `${event.id}.${attempt}`,
      deliveryId: event.id,
      unixSeconds: Math.floor(Date.now() / 1_000),
      body,
    };
    const headers = deliveryHeaders({ secret }, signed, { ...event, sequence: event.position });
    const signal = AbortSignal.any([ended, AbortSignal.timeout(timeoutMs)]);
    const status = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal }).then(
      async (answer) => {
        await answer.body?.cancel();
        return answer.status;
      },
      () => 0,
    );
    const untilNextMs = waitsMs[attempt - 1];
    if ((status >= 200 && status < 300) || untilNextMs === undefined || ended.aborted) return status;
    await pause(context, untilNextMs);
  }
}

/** Of the environment, or made once and kept; shown when it is made. */
async function secretOf({ env, settings, out }: Context): Promise<string> {
  const given = env.BURSAR_WEBHOOK_SECRET ?? settings.kept.listenSecret;
  if (given !== undefined) return given;
  const secret = newWebhookSecret();
  await keep(settings, { listenSecret: secret });
  out.note(`webhook secret ${secret}`);
  out.note(`it is shown this once, and kept in ${settings.file}`);
  return secret;
}

const protocolOf = (url: string): string => (URL.canParse(url) ? new URL(url).protocol : '');
