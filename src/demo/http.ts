/**
 * Calls the API as any client does: HTTP with a token. A refusal becomes an error with the service's sentence. After a
 * 429 the call waits for `Retry-After` and is repeated once.
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

/** Repeats `ask` until `isSo` accepts the answer. After 30 s it throws an error with the last answer. */
export async function until<T>(ask: () => Promise<T>, isSo: (answer: T) => boolean, what: string): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    if (Date.now() > deadline)
      throw new Error(`waited ${timeoutMs / 1000} s for ${what}; last seen: ${JSON.stringify(answer).slice(0, 400)}`);
    await sleep(100);
  }
}

const timeoutMs = 60_000;

/** Ends the demo with an error where a fact that the demo prints is false. */
export function check(condition: boolean, what: string): void {
  if (!condition) throw new Error(`this should be true and is not: ${what}`);
}
