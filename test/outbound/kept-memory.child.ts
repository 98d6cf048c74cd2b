/**
 * Sends many requests over the guarded client and answers how many bytes of each came into the old generation, where they
 * stay until a large collection.
 * @module
 */
import { getHeapSpaceStatistics } from 'node:v8';
import { createOutbound } from '../../src/outbound/outbound.ts';

const inOldGeneration = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? Number.NaN;

process.once('message', async ({ origin }: { readonly origin: string }) => {
  const outbound = createOutbound({ allowedOrigins: [origin] });
  const body = JSON.stringify({ text: 'x'.repeat(300) });
  const options = { method: 'POST', body, timeoutMs: 60_000, maxBytes: 1_024, isRepeatable: true } as const;
  const send = async (requests: number, underWay = 300): Promise<void> => {
    let left = requests;
    const lane = async (): Promise<void> => {
      while (left-- > 0) await outbound.request(origin, options);
    };
    await Promise.all(Array.from({ length: underWay }, lane));
  };
  // V8 decides where it allocates by what outlived the first collections: here, as after a start with a backlog, nearly all.
  await send(20_000, 4_000);
  let [kept, last] = [0, inOldGeneration()];
  const measured = 20_000;
  for (let sent = 0; sent < measured; sent += 1_000) {
    await send(1_000);
    const now = inOldGeneration();
    kept += Math.max(0, now - last); // Less after a large collection.
    last = now;
  }
  await outbound.close();
  process.send?.({ bytesOfEach: kept / measured });
  process.disconnect();
});
