/**
 * A receiver of webhooks in its own process, at as many origins as receivers have: answers 204, on `/slow` after five
 * seconds, on `/fails` 500, and notes the event, endpoint and time of each other delivery. Says every 50 ms how many of
 * these came, and hands out its notes when asked.
 * @module
 */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Receipt } from './receiver.ts';

const slowMs = 5_000;
let notes: Receipt[] = [];
let received = 0;

const answer: RequestListener = (request, response) => {
  request.resume();
  request.on('end', () => {
    const path = request.url ?? '';
    if (path === '/slow') {
      setTimeout(() => response.writeHead(204).end(), slowMs);
      return;
    }
    if (path === '/fails') {
      response.writeHead(500).end();
      return;
    }
    received += 1;
    const sequence = Number(request.headers['x-service-sequence']);
    notes.push([sequence, path, performance.timeOrigin + performance.now()]);
    response.writeHead(204).end();
  });
};

async function listening(): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  server.keepAliveTimeout = 60_000;
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const origins = await Promise.all(Array.from({ length: Number(process.env.ORIGINS) }, listening));
process.on('message', (asked: 'origins' | 'notes') => {
  if (asked === 'origins') {
    process.send?.({ origins });
    return;
  }
  process.send?.({ notes });
  notes = [];
});
setInterval(() => process.send?.({ received }), 50);
process.send?.({ ready: true });

process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
