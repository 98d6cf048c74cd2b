/** Sends secrets where they do not belong, as people and programs do by mistake, and keeps what is answered. @module */
import type { Installation } from '../support/installation.ts';
import type { Owner } from '../support/world.ts';

type Mistake = (secret: string) => {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
};

/** The bodies of all refusals; one that is not refused fails. */
export async function secretInWrongPlaces(
  { apiUrl }: Installation,
  { key }: Owner,
  secrets: readonly string[],
): Promise<string[]> {
  const bodies: string[] = [];
  for (const secret of secrets) {
    for (const mistake of mistakes(key)) {
      const { path, body, headers, method = body === undefined ? 'GET' : 'POST' } = mistake(secret);
      const answer = await fetch(`${apiUrl}${path}`, {
        method,
        headers: { 'Content-Type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body }),
      });
      const text = await answer.text();
      if (answer.status < 400) throw new Error(`${method} ${path.slice(0, 30)} was not refused: ${answer.status}`);
      bodies.push(`${text}\n${[...answer.headers].map((header) => header.join(': ')).join('\n')}`);
    }
  }
  return bodies;
}

function mistakes(key: string): Mistake[] {
  const Authorization = `Bearer ${key}`;
  const signedIn = { Authorization };
  return [
    (secret) => ({ path: `/${encodeURIComponent(secret)}` }),
    (secret) => ({ path: `/intents/${encodeURIComponent(secret)}`, headers: signedIn }),
    (secret) => ({ path: `/intents?cursor=${encodeURIComponent(secret)}`, headers: signedIn }),
    (secret) => ({ path: `/intents?${encodeURIComponent(secret)}=1`, headers: signedIn }),
    (secret) => ({ path: '/agents', headers: signedIn, body: JSON.stringify({ name: 7, [secret]: secret }) }),
    (secret) => ({ path: '/agents', headers: signedIn, body: `{"name": ${secret}` }),
    (secret) => ({ path: '/webhooks', headers: signedIn, body: JSON.stringify({ url: secret, events: ['*'] }) }),
    (secret) => ({
      path: '/webhooks',
      headers: signedIn,
      body: JSON.stringify({ url: `https://user:${secret}@127.0.0.1/`, events: [secret] }),
    }),
    (secret) => ({
      path: '/intents',
      headers: signedIn,
      body: JSON.stringify({
        agentId: 'ag_aaaaaaaaaaaa',
        purpose: 'x',
        expectedAmountEuros: 1,
        cardName: secret.slice(0, 60),
      }),
    }),
    (secret) => ({ path: '/intents', headers: { Authorization: `Basic ${secret}` } }),
    (secret) => ({ path: '/intents', headers: { Authorization: `Bearer ${secret}x` } }),
    (secret) => ({ path: '/keys', headers: { 'X-Dashboard-Secret': secret } }),
    (secret) => ({
      path: '/network/authorizations',
      headers: { 'X-Network-Signature': `t=1,v1=${secret}` },
      body: JSON.stringify({ token: secret }),
    }),
    (secret) => ({ path: '/checkout/confirm', headers: signedIn, body: JSON.stringify({ intentId: secret }) }),
    (secret) => ({
      method: 'PATCH',
      path: `/keys/${encodeURIComponent(secret)}/revoke`,
      headers: signedIn,
      body: '{}',
    }),
  ];
}
