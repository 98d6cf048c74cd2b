/**
 * The floor of webhook deliveries: the same requests, prepared, sent by a bare undici client to the same receiver. No
 * database, no signature.
 * @module
 */
import { Agent, request } from 'undici';

type Job = {
  readonly urls: readonly string[];
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly openPerUrl: number;
  readonly seconds: number;
};

async function run({ urls, headers, body, openPerUrl, seconds }: Job): Promise<{ done: number; tookMs: number }> {
  const dispatcher = new Agent({ connections: urls.length * openPerUrl, pipelining: 1 });
  const start = performance.now();
  let done = 0;
  const one = async (url: string): Promise<void> => {
    while (performance.now() - start < seconds * 1_000) {
      const answer = await request(url, { method: 'POST', dispatcher, headers, body });
      await answer.body.dump();
      done += 1;
    }
  };
  await Promise.all(urls.flatMap((url) => Array.from({ length: openPerUrl }, () => one(url))));
  const tookMs = performance.now() - start;
  await dispatcher.close();
  return { done, tookMs };
}

process.on('message', async (job: Job) => {
  process.send?.(await run(job));
});
process.on('SIGTERM', () => process.exit(0));
process.send?.({ ready: true });
