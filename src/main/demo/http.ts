/** Calls as anybody's program makes them: plain HTTP with a token. A refusal is an error with the service's sentence. @module */
export type Json = Record<string, unknown>;

export type Caller = <T = Json>(method: 'GET' | 'POST' | 'PUT' | 'PATCH', path: string, body?: Json) => Promise<T>;

export const callerOf =
  (baseUrl: string, headers: Record<string, string> = {}): Caller =>
  async <T>(method: string, path: string, body?: Json): Promise<T> => {
    const answer = await unlimited(() =>
      fetch(`${baseUrl}${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text.slice(0, 400)}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };

/** Told to wait, it waits: the limit is per address, and the demo may not be the only caller on this machine. */
async function unlimited(send: () => Promise<Response>): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send();
    if (answer.status !== 429 || attempt === 3) return answer;
    await answer.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 1_000 * Number(answer.headers.get('retry-after') ?? 60)));
  }
}

export const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

/** Asks until it is so; says what it was last when it never became so. */
export async function until<T>(ask: () => Promise<T>, isSo: (answer: T) => boolean, what: string): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    if (Date.now() > deadline)
      throw new Error(`waited ${patienceMs / 1000} s for ${what}; last seen: ${JSON.stringify(answer).slice(0, 400)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const patienceMs = 30_000;

/** Fails the demo when what it tells would not be true. */
export function hold(condition: boolean, what: string): void {
  if (!condition) throw new Error(`not as it should be: ${what}`);
}
