/**
 * Goal: while Temporal or PostgreSQL is away every published operation answers as documented.
 * Method: all published operations on an API whose Temporal is nowhere, and on one whose database is cut off.
 * @module
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type RunningApi, startApi } from '../../../src/main/api-server.ts';
import {
  askedOf,
  type OperationsWorld,
  publishedOperations,
  send,
  startOperationsWorld,
  suiteLimitMs,
} from '../../support/published-operations.ts';
import type { AreaSamples } from '../../support/samples.ts';
import { eventually } from '../../support/world.ts';

let all: OperationsWorld;
beforeAll(async () => {
  all = await startOperationsWorld();
}, suiteLimitMs);
afterAll(() => all.close());

type Answered = { readonly name: string; readonly status: number; readonly retryAfter: string | null };

/** Prepared on the world that works, asked at `apiUrl`. */
async function askAll(apiUrl: string, prepare = all.calls): Promise<Answered[]> {
  const answers: Answered[] = [];
  for (const one of publishedOperations) {
    const asked = await askedOf({ calls: prepare }, one.name);
    const answer = await send({ ...all, world: { ...all.world, apiUrl } }, one, asked);
    const text = await answer.text();
    const isHealth = one.name === 'getHealth'; // Its answer says what is wrong.
    if (answer.status >= 400 && !isHealth)
      expect(JSON.parse(text)).toEqual({
        error: expect.stringMatching(/\w+ \w+/),
        ...(one.operation.problems === true && { type: expect.any(String), title: expect.any(String) }),
        ...(one.operation.problems === true && { status: answer.status, detail: expect.any(String) }),
      });
    answers.push({ name: one.name, status: answer.status, retryAfter: answer.headers.get('retry-after') });
  }
  return answers;
}

/** What the areas declare in their samples. */
const named = (list: (samples: AreaSamples) => readonly string[]) => new Set(all.areas.flatMap(list));

const successOf = new Map(publishedOperations.map(({ name, operation }) => [name, operation.success.status]));

describe('with Temporal away', () => {
  let cutOff: RunningApi;
  beforeAll(async () => {
    cutOff = await startApi({ ...all.world.config, PORT: 0, TEMPORAL_ADDRESS: '127.0.0.1:9' });
  });
  afterAll(() => cutOff.stop());

  test(
    'grants and outbound calls answer 503 with Retry-After; everything else works',
    async () => {
      const asked = await askAll(cutOff.url);
      const mayOutlive = named(({ mayOutliveTemporal }) => mayOutliveTemporal);
      const unsure = asked.filter(({ name, status }) => mayOutlive.has(name) && status !== 503);
      expect(unsure.filter(({ name, status }) => status !== successOf.get(name))).toEqual([]);
      const answers = asked.filter(({ name }) => !mayOutlive.has(name));
      const waiting = answers.filter(({ status }) => status === 503);
      expect(waiting.map(({ name }) => name).sort()).toEqual([...named(({ needsTemporal }) => needsTemporal)].sort());
      expect(waiting.filter(({ retryAfter }) => !(Number(retryAfter) > 0))).toEqual([]);
      const others = answers.filter(({ name, status }) => status !== 503 && status !== successOf.get(name));
      expect(others).toEqual([]);
    },
    suiteLimitMs,
  );
});

describe('with PostgreSQL away', () => {
  let line: Awaited<ReturnType<typeof cuttable>>;
  let api: RunningApi;
  beforeAll(async () => {
    const database = new URL(all.world.config.DATABASE_URL);
    line = await cuttable(database.hostname, Number(database.port));
    database.port = String(line.port);
    database.hostname = '127.0.0.1';
    api = await startApi({ ...all.world.config, PORT: 0, DATABASE_URL: database.href });
  });
  afterAll(async () => {
    await api.stop();
    await line.close();
  });

  test(
    'everything that reads or writes answers 503 with Retry-After, and works again afterwards',
    async () => {
      // One after the other: all together take longer than a call waits for its answer.
      const prepared: Record<string, () => Awaited<ReturnType<typeof askedOf>>> = {};
      for (const { name } of publishedOperations) {
        const asked = await askedOf(all, name);
        prepared[name] = () => asked;
      }
      line.cut();
      const answers = await askAll(api.url, prepared);
      const needNothing = named(({ needsNothing }) => needsNothing);
      const served = answers.filter(({ status }) => status !== 503);
      expect(served.filter(({ name }) => !needNothing.has(name))).toEqual([]);
      const silent = answers.filter(({ status, retryAfter }) => status === 503 && !(Number(retryAfter) > 0));
      expect(silent.map(({ name }) => name)).toEqual(['getHealth']);

      line.mend();
      // An answer of health is kept for a second.
      await eventually(
        async () => (await fetch(`${api.url}/health`)).status,
        (status) => status < 500,
      );
      const again = (await askAll(api.url, prepared)).filter(({ status }) => status >= 500);
      expect(again).toEqual([]);
    },
    suiteLimitMs,
  );
});

/** A way to a server that can be cut and mended. */
async function cuttable(host: string, port: number) {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return near.destroy();
    const far = connect(port, host);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true;
      for (const socket of open) socket.destroy();
    },
    mend: () => {
      isCut = false;
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
