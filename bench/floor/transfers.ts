/**
 * The floor of the transfers: a raw client that always has 64 postings waiting, and enters them by one bare statement. No
 * HTTP.
 * @module
 */
import pg from 'pg';
import { idOf } from '../support/seed.ts';
import { enterBare } from './bare-postings.ts';

const atOnce = 64;
const ownerId = process.env.OWNER_ID ?? '';
const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();

async function run({ among, seconds }: { among: number; seconds: number }): Promise<{ done: number; tookMs: number }> {
  const start = performance.now();
  let done = 0;
  while (performance.now() - start < seconds * 1_000) {
    const postings = Array.from({ length: atOnce }, (_, i) => {
      const from = 1 + (((done + i) * 7) % among);
      const to = 1 + ((from + (i % 2 === 0 ? 0 : among - 2)) % among);
      return { fromWalletId: idOf('wal', from), toWalletId: idOf('wal', to) };
    });
    await enterBare(client, ownerId, postings);
    done += atOnce;
  }
  return { done, tookMs: performance.now() - start };
}

process.on('message', async (job: { among: number; seconds: number }) => {
  process.send?.(await run(job));
});
process.on('SIGTERM', () => process.exit(0));
process.send?.({ ready: true });
