/**
 * The floor of the decision: Express with raw `pg` that keeps the message in one durable insert and answers. No
 * signature, no facts, no rules, no money.
 * @module
 */
import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
await pool.query('create table bench_floor (id text primary key, message jsonb not null)');
const app = express();
app.use(express.json());
app.post('/network/authorizations', async (request, response) => {
  const { id } = request.body as { id: string };
  const text = 'insert into bench_floor values ($1, $2)';
  await pool.query({ name: 'keep', text, values: [id, JSON.stringify(request.body)] });
  response.json({ decision: 'approved' });
});
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ ready: true, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
server.keepAliveTimeout = 65_000; // As the product's: a connection that is not needed for some seconds stays.
process.on('SIGTERM', () => process.exit(0));
