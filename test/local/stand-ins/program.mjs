/**
 * Stands in for API, worker, sandbox and migrate: says that it is ready, tells when it stops, and answers
 * `GET /customers` and `GET /env`.
 * @module
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename } from 'node:path';

const name = basename(process.argv[1], '.mjs');
const journal = (what) => appendFileSync(`${process.env.BURSAR_DATA_DIR}/journal`, `${name} ${what}\n`);
const port = { api: process.env.PORT, sandbox: process.env.SANDBOX_PORT }[name];

// It opens no port: a test reads its arguments here.
if (name === 'worker')
  writeFileSync(`${process.env.BURSAR_DATA_DIR}/worker.env`, JSON.stringify(process.env), { mode: 0o600 });

const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  const key = request.headers.authorization?.slice('Bearer '.length);
  if (request.url === '/customers')
    response.end(JSON.stringify({ id: 'cus_1', ownerId: `owner-of-${key?.slice(-4)}` }));
  else response.end(JSON.stringify(process.env));
});
server.listen(Number(port ?? 0), '127.0.0.1', () => {
  journal('up');
  process.send?.({ ready: true });
});
process.on('SIGTERM', () => {
  if (process.env.STUBBORN === name) return;
  journal('down');
  process.exit(0);
});
