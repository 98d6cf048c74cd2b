/**
 * Calls as anybody's program makes them: plain HTTP with a token. A refusal is an error with the service's sentence;
 * the rate limit's `Retry-After` is obeyed.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';

export type Json = Record<string, unknown>;

export type Caller = <T = Json>(method: 'GET' | 'POST' | 'PUT' | 'PATCH', path: string, body?: Json) => Promise<T>;

export const callerOf =
  (baseUrl: string, headers: Record<string, string> = {}): Caller =>
  async <T>(method: string, path: string, body?: Json): Promise<T> => {
    const ask = () =>
      fetch(`${baseUrl}${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    let answer = await ask();
    if (answer.status === 429) {
      await sleep(1_000 * Number(answer.headers.get('retry-after') ?? 60));
      answer = await ask();
    }
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text.slice(0, 400)}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };

export const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

/** Asks until it is so; says what it was last when it never became so. */
export async function until<T>(ask: () => Promise<T>, isSo: (answer: T) => boolean, what: string): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    if (Date.now() > deadline)
      throw new Error(`waited ${patienceMs / 1000} s for ${what}; last seen: ${JSON.stringify(answer).slice(0, 400)}`);
    await sleep(100);
  }
}

const patienceMs = 30_000;

/** Fails the demo when what it tells would not be true. */
export function hold(condition: boolean, what: string): void {
  if (!condition) throw new Error(`not as it should be: ${what}`);
}
