/**
 * Bursar as the sandbox sees it: verifies each signature by its own arithmetic, stores every network message, and
 * gives configured answers. A hold is open from its approval to its reversal.
 * @module
 */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type NetworkMessage = { kind: string; body: Record<string, unknown> & { id: string }; raw: string };
type Answer = { status: number; body?: unknown; afterMs?: number; hangUp?: boolean };
type Answering = (message: NetworkMessage) => Answer | undefined;

export const networkKey = 'test-network-key';
export const clockKey = 'test-clock-key';

export class FakeBursar {
  readonly messages: NetworkMessage[] = [];
  readonly badlySigned: string[] = [];
  /** Of the bank, as often as they came. */
  readonly bankFiles: string[] = [];
  bankFileStatus = 200;
  clockReads = 0;
  offsetMs = 0;
  clockStatus = 200;
  /** Undefined falls back to approving and acknowledging everything. */
  answering: Answering = () => undefined;
  #server: Server | undefined;
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  of(kind: 'authorizations' | 'increments' | 'clearings' | 'reversals' | 'advices' | 'refunds'): NetworkMessage[] {
    return this.messages.filter((message) => message.kind === kind);
  }

  /** Listens again on the same port after `stop`. */
  async start(): Promise<this> {
    const server = createServer((request, response) => {
      void this.#answer(request).then(async ({ status, body, afterMs = 0, hangUp = false }) => {
        if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs));
        if (hangUp) response.destroy();
        else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
      });
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const raw = await text(request);
    if (request.url === '/sandbox/clock') return this.#clock(request);
    if (request.url === '/network/sepa/files') return this.#bankFile(request, raw);
    const kind = /^\/network\/(\w+)$/.exec(request.url ?? '')?.[1];
    if (kind === undefined || request.method !== 'POST') return { status: 404 };
    if (!isSigned(request, raw)) {
      this.badlySigned.push(raw);
      return { status: 401, body: { error: 'signature' } };
    }
    const message = { kind, raw, body: JSON.parse(raw) as NetworkMessage['body'] };
    this.messages.push(message);
    return this.answering(message) ?? usual(message);
  }

  #bankFile(request: IncomingMessage, raw: string): Answer {
    if (!isSigned(request, raw)) return { status: 401, body: { error: 'signature' } };
    this.bankFiles.push(raw);
    return { status: this.bankFileStatus };
  }

  #clock(request: IncomingMessage): Answer {
    this.clockReads += 1;
    if (request.headers['x-clock-key'] !== clockKey) return { status: 401, body: { error: 'secret' } };
    const now = new Date(Date.now() + this.offsetMs).toISOString();
    return { status: this.clockStatus, body: { now, offsetMs: this.offsetMs } };
  }
}

/** The decision Bursar would send for this message. */
export const approves = ({ body }: NetworkMessage): Answer => ({
  status: 200,
  body: { decision: 'approved', approvedCents: body.amountCents, transactionId: `tx_${body.id.slice(5)}` },
});

const usual = (message: NetworkMessage): Answer =>
  message.kind === 'authorizations' || message.kind === 'increments'
    ? approves(message)
    : { status: 200, body: { transactionId: 'tx_1' } };

function isSigned({ method, url, headers }: IncomingMessage, raw: string): boolean {
  const parts = /^t=(\d+),(v[12])=([0-9a-f]{64})$/.exec(String(headers['x-network-signature']));
  const [, seconds = '', version, mac] = parts ?? [];
  const isRecent = Math.abs(Date.now() / 1000 - Number(seconds)) < 300;
  const digest = `sha-256=:${createHash('sha256').update(raw).digest('base64')}:`;
  const byBody = `${seconds}.${method} ${url}.${raw}`;
  const byDigest = `v2.${seconds}.${method} ${url}.${digest}`;
  const signed = version === 'v2' ? byDigest : byBody;
  const expected = createHmac('sha256', networkKey).update(signed).digest('hex');
  return isRecent && expected === mac && (version === 'v1' || headers['content-digest'] === digest);
}
