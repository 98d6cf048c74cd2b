/**
 * `bursar listen`: reads the feed of events and forwards each to an address of the user's machine, with the headers and
 * signatures of a delivery. It goes on where it ended, and stops at an event that the address does not take.
 * @module
 */
import { setTimeout as wait } from 'node:timers/promises';
import { bodyOf, deliveryHeaders, newWebhookSecret } from '../domains/delivery/webhooks/webhook.signature.ts';
import type { Command, Context } from './context.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import type { Feed, FeedEvent } from './records.ts';
import { readSettings, writeStored } from './settings.ts';

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
  const place = `${settings.apiUrl} ${given.forward ?? ''}`;
  let after = given.from ?? String(settings.stored.positions[place] ?? 'now');
  if (api.isPrinting) {
    await api.call('GET', `/events?after=${encodeURIComponent(after)}`);
    return exitCodes.done;
  }
  const secret = given.forward === undefined ? '' : await secretOf(context);
  out.note(`listening${given.forward === undefined ? '' : `, forwarding to ${given.forward}`}; Ctrl-C ends`);
  while (!ended.aborted) {
    const feed = await api
      .call<Feed>('GET', `/events?after=${encodeURIComponent(after)}`, { signal: ended })
      .catch((error: unknown) => {
        if (ended.aborted) return undefined;
        throw error;
      });
    if (feed === undefined) break;
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
      await remember(context, place, event.position);
      if (ended.aborted) return exitCodes.done;
    }
    after = String(feed.position);
    await remember(context, place, feed.position);
    if (feed.hasMore) continue;
    if (given.once === true) break;
    await wait(pauseMs, undefined, { signal: ended }).catch(() => undefined);
  }
  return exitCodes.done;
};

function show({ out }: Context, event: FeedEvent, status: number | undefined): void {
  const answered = status === undefined ? '' : status === 0 ? out.bad('no answer') : String(status);
  const line = `${out.dim(event.createdAt.slice(11, 19))}  ${event.event}  ${out.dim(event.subjectId)}  ${answered}`;
  out.item({ ...event, ...(status === undefined ? {} : { answered: status }) }, line.trimEnd());
}

/** The status of the last attempt; 0: no answer. */
async function forward({ ended }: Context, url: string, secret: string, event: FeedEvent): Promise<number> {
  const body = bodyOf({ event: event.event, createdAt: new Date(event.createdAt), data: event.data });
  for (let attempt = 1; ; attempt++) {
    const signed = {
      attemptId: `${event.id}.${attempt}`,
      deliveryId: event.id,
      unixSeconds: Math.floor(Date.now() / 1_000),
      body,
    };
    const headers = deliveryHeaders(secret, signed, { ...event, sequence: event.position });
    const signal = AbortSignal.any([ended, AbortSignal.timeout(timeoutMs)]);
    const status = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal }).then(
      async (answer) => {
        await answer.body?.cancel();
        return answer.status;
      },
      () => 0,
    );
    const pause = waitsMs[attempt - 1];
    if ((status >= 200 && status < 300) || pause === undefined || ended.aborted) return status;
    await wait(pause, undefined, { signal: ended }).catch(() => undefined);
  }
}

/** Of the environment, or made once and kept; shown when it is made. */
async function secretOf({ env, settings, out }: Context): Promise<string> {
  const given = env.BURSAR_WEBHOOK_SECRET ?? settings.stored.listenSecret;
  if (given !== undefined) return given;
  const secret = newWebhookSecret();
  await writeStored(settings.file, { ...settings.stored, listenSecret: secret });
  out.note(`webhook secret ${secret}`);
  out.note(`it is shown this once, and kept in ${settings.file}`);
  return secret;
}

/** Other commands may have written the file meanwhile. */
async function remember({ env, settings }: Context, place: string, position: number): Promise<void> {
  const { stored, file } = await readSettings(env, { api: settings.apiUrl });
  if (stored.positions[place] === position) return;
  await writeStored(file, { ...stored, positions: { ...stored.positions, [place]: position } });
}

const protocolOf = (url: string): string => (URL.canParse(url) ? new URL(url).protocol : '');
