/**
 * A receiver of webhooks in its own process: answers 204, on `/slow` after five seconds, on `/fails` 500, and notes the
 * event, endpoint and time of each other delivery. Says every 50 ms how many came to the others, and hands out its notes when asked.
 * @module
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Receipt } from './receiver.ts';

const slowMs = 5_000;
let notes: Receipt[] = [];
let received = 0;

const server = createServer((request, response) => {
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
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  setInterval(() => process.send?.({ received }), 50);
});

process.on('message', () => {
  process.send?.({ notes });
  notes = [];
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
