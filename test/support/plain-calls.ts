/** Calls that return every answer, also refusals and broken connections: status, body and duration. @module */
import type { Send } from '../../src/client/client.ts';

export type Answer = {
  /** 0 = no answer: the connection was refused or broke. */
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test names the fields that it expects
  readonly body: any;
  readonly retryAfter: string | null;
  /** What an earlier call with this key was answered. */
  readonly isReplayed: boolean;
  readonly tookMs: number;
};

export type Call = (method: string, path: string, body?: unknown, key?: string) => Promise<Answer>;

export const callBy =
  (send: Send): Call =>
  async (method, path, body, key) => {
    const from = performance.now();
    const headers = {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    };
    try {
      const answer = await send({
        method,
        path,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return {
        status: answer.status,
        body: text === '' ? undefined : JSON.parse(text),
        retryAfter: answer.headers.get('retry-after'),
        isReplayed: answer.headers.get('idempotent-replayed') === 'true',
        tookMs: performance.now() - from,
      };
    } catch (error) {
      return {
        status: 0,
        body: { error: String(error) },
        retryAfter: null,
        isReplayed: false,
        tookMs: performance.now() - from,
      };
    }
  };

/** As a careful client does: the same request with the same key until there is an answer that stands. */
export async function untilAnswered(ask: () => Promise<Answer>, withinMs = 60_000): Promise<Answer> {
  const until = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (![0, 409, 503].includes(answer.status)) return answer;
    if (Date.now() > until) throw new Error(`no answer within ${withinMs} ms; last: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
