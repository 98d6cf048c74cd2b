/** Plain calls whose answer is looked at whatever it is, as bad days need them: status, body, how long it took. @module */
import type { Send } from '../../src/client/client.ts';

export type Told = {
  /** 0 = no answer: the connection was refused or broke. */
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test names the fields that it expects
  readonly body: any;
  readonly retryAfter: string | null;
  readonly tookMs: number;
};

export type Tell = (method: string, path: string, body?: unknown, key?: string) => Promise<Told>;

export const tellingBy =
  (send: Send): Tell =>
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
        tookMs: performance.now() - from,
      };
    } catch (error) {
      return { status: 0, body: { error: String(error) }, retryAfter: null, tookMs: performance.now() - from };
    }
  };

/** As a careful client does: the same request with the same key until there is an answer that stands. */
export async function untilAnswered(ask: () => Promise<Told>, withinMs = 60_000): Promise<Told> {
  const until = Date.now() + withinMs;
  for (;;) {
    const told = await ask();
    if (![0, 409, 503].includes(told.status)) return told;
    if (Date.now() > until) throw new Error(`no answer within ${withinMs} ms; last: ${JSON.stringify(told)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
