/**
 * A shop that takes the payment and reports it only on request: for the one journey that the sandbox's shops
 * do not make. Speaks the checkout protocol (docs/checkout.md), and to the network's side of Bursar with its key.
 * @module
 */
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ScriptedShop = {
  readonly origin: string;
  offerUrl(amountCents: number): string;
  /** How often it has been asked to take a payment. */
  asked(): number;
  /** Its next payment is made with this card at this Bursar, and answered. `before` runs before the network is asked. */
  recover(bursar: { apiUrl: string; networkKey: string; cardRef: string; before?: () => Promise<unknown> }): void;
  close(): Promise<void>;
};

const merchant = { id: 'm_scripted_shop', name: 'Scripted Shop', mcc: '5734', country: 'DE' };
const checkoutMediaType = 'application/vnd.bursar.checkout+json';

export async function startScriptedShop(): Promise<ScriptedShop> {
  let asked = 0;
  let bursar: Parameters<ScriptedShop['recover']>[0] | undefined;
  const orders = new Map<string, number>();

  const pay = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    asked += 1;
    const { orderId, paymentToken } = JSON.parse(await textOf(request)) as { orderId: string; paymentToken: string };
    if (bursar === undefined) return answer(response, 500, { error: 'the shop is out of order' });
    const known = bursar;
    bursar = undefined;
    await known.before?.();
    const { decision } = await authorize(known, { token: paymentToken, amountCents: orders.get(orderId) ?? 0 });
    return answer(response, 200, { orderId, status: decision === 'approved' ? 'paid' : 'declined' });
  };
  const offer = (request: IncomingMessage, response: ServerResponse): void => {
    const { origin, searchParams } = new URL(request.url ?? '/', `http://${request.headers.host}`);
    const [orderId, amountCents] = [`ord_${randomUUID()}`, Number(searchParams.get('amountCents'))];
    orders.set(orderId, amountCents);
    answer(response, 200, { orderId, amountCents, currency: 'EUR', merchant, payUrl: `${origin}/pay` });
  };
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return offer(request, response);
    pay(request, response).catch(() => answer(response, 500, { error: 'the shop broke' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    offerUrl: (amountCents) => `${origin}/offer?amountCents=${amountCents}`,
    asked: () => asked,
    recover: (known) => {
      bursar = known;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': status === 200 ? checkoutMediaType : 'application/json' });
  response.end(JSON.stringify(body));
}

type Charge = { token: string; amountCents: number };

/** An authorization as the card network sends it: signed, with a new id, and cleared at once. */
async function authorize(
  { apiUrl, networkKey, cardRef }: Parameters<ScriptedShop['recover']>[0],
  { token, amountCents }: Charge,
): Promise<{ decision: string }> {
  const tell = async <Answer>(kind: string, message: object): Promise<Answer> => {
    const body = JSON.stringify(message);
    const at = Math.floor(Date.now() / 1_000);
    const path = `/network/${kind}`;
    const signature = createHmac('sha256', networkKey).update(`${at}.POST ${path}.${body}`).digest('hex');
    const headers = { 'Content-Type': 'application/json', 'X-Network-Signature': `t=${at},v1=${signature}` };
    const answered = await fetch(`${apiUrl}${path}`, { method: 'POST', headers, body });
    if (!answered.ok) throw new Error(`/network/${kind} answered ${answered.status}: ${await answered.text()}`);
    return (await answered.json()) as Answer;
  };
  const authorizationId = `auth_${randomUUID()}`;
  const decided = await tell<{ decision: string }>('authorizations', {
    id: authorizationId,
    cardRef,
    token,
    amountCents,
    currency: 'EUR',
    merchant,
  });
  if (decided.decision === 'approved') {
    await tell('clearings', {
      id: `clr_${randomUUID()}`,
      authorizationId,
      cardRef,
      amountCents,
      final: true,
      merchant,
    });
  }
  return decided;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
