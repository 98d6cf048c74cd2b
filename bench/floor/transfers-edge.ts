/**
 * The floor of the transfers behind HTTP: Express with its own body parser and a bearer token that is compared, one batch
 * at a time of what came meanwhile, entered by one bare statement, and an answer as long as the product's. It says what
 * HTTP leaves of a machine, whatever stands behind it.
 * @module
 */
import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';
import { type BarePosting, enterBare } from './bare-postings.ts';

const { OWNER_ID: ownerId = '', API_KEY: apiKey = '', DATABASE_URL: connectionString } = process.env;
/** As long as the product's other headers. */
const header = 'x'.repeat(770);
const client = new pg.Client({ connectionString });
await client.connect();

type Waiting = { readonly posting: BarePosting; readonly done: () => void; readonly failed: (error: unknown) => void };
let waiting: Waiting[] = [];
let isWriting = false;

async function write(): Promise<void> {
  isWriting = true;
  while (waiting.length > 0) {
    const batch = waiting;
    waiting = [];
    try {
      await enterBare(
        client,
        ownerId,
        batch.map(({ posting }) => posting),
      );
      for (const { done } of batch) done();
    } catch (error) {
      for (const { failed } of batch) failed(error);
    }
  }
  isWriting = false;
}

const enter = (posting: BarePosting): Promise<void> =>
  new Promise((done, failed) => {
    waiting.push({ posting, done, failed });
    if (!isWriting) void write();
  });

const app = express();
app.disable('x-powered-by');
app.set('etag', false);
app.use(express.json());
app.post('/wallets/:id/fund', async (request, response) => {
  if (request.headers.authorization !== `Bearer ${apiKey}`) return void response.sendStatus(401);
  const { amountEuros, fromWalletId } = request.body as { amountEuros: number; fromWalletId: string };
  const { id } = request.params;
  await enter({ fromWalletId, toWalletId: id });
  response.setHeader('X-As-The-Product', header);
  const fundingId = `fnd_${'0'.repeat(26)}`;
  response.json({
    walletId: id,
    amountEuros,
    balanceEuros: 1_000_000.01,
    status: 'completed',
    simulated: false,
    fundingId,
  });
});
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('SIGTERM', () => process.exit(0));
