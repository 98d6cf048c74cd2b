/**
 * Bad days of one installation with real processes: Temporal away, Temporal's file deleted, PostgreSQL killed, API,
 * worker and sandbox killed, runs lost. Operations that need nothing else continue, the rest answers 503, and after the outage all work is done.
 * @module
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { healthOf, type Installation, startInstallation } from '../support/installation.ts';
import { type Answer, type Call, callBy, untilAnswered } from '../support/plain-calls.ts';
import { eventually, type Owner } from '../support/world.ts';

/** How long a fact is waited for after an outage. */
const patienceMs = 90_000;

let site: Installation;
let owner: Owner;
let call: Call;
let sandbox: Call;
let box = '';

beforeAll(async () => {
  site = await startInstallation();
  owner = await site.owner();
  call = callBy(owner.send);
  sandbox = callBy(({ method, path, headers, body }) =>
    fetch(`${site.sandboxUrl}${path}`, { method, headers, ...(body === undefined ? {} : { body }) }),
  );
  box = owner.ownerId;
  await made('POST', '/fund', { amountEuros: 5_000 });
  await made('POST', '/webhooks', { url: `${site.sandboxUrl}/receiver/${box}`, events: ['*'] });
}, 300_000);
afterAll(async () => {
  await site?.stop();
});

const made = async (method: string, path: string, body?: unknown, key?: string) => {
  const answer = await call(method, path, body, key);
  if (answer.status >= 300 || answer.status === 0) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer.body;
};

/** An agent with a card that may spend as much as these tests need. */
async function anAgent(name: string): Promise<{ id: string; cardId: string }> {
  const agent = await made('POST', '/agents', { name });
  await made('PATCH', `/policies/agent/${agent.id}`, { dailyLimitEuros: 10_000, monthlyLimitEuros: 10_000 });
  return { id: agent.id, cardId: agent.cardId };
}

async function raiseLimit(name: string, limit: number): Promise<void> {
  const answer = await fetch(`${site.apiUrl}/limits/${name}`, {
    method: 'PUT',
    headers: {
      'X-Dashboard-Secret': site.ready.dashboardSecret,
      'X-Owner-Id': owner.ownerId,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ limit }),
  });
  expect(answer.status).toBe(200);
}

const declared = (agentId: string, expectedAmountEuros: number, more = {}) =>
  made('POST', '/intents', { agentId, purpose: 'a thing', expectedAmountEuros, ...more });

const order = (intentId: string, cents: number) => ({
  intentId,
  targetUrl: `${site.sandboxUrl}/shops/sandbox-shop?amountCents=${cents}`,
});

const swipe = (cardId: string, amountCents: number, more = {}) =>
  sandbox('POST', '/network/purchases', { cardId, amountCents, merchant: 'sandbox-shop', ...more });

const becomes = (path: string, status: string) =>
  eventually(
    async () => (await call('GET', path)).body,
    (record) => record?.status === status,
    patienceMs,
  );

/** Its workflow run has marked the row; readers get `expired` from the deadline on. */
const isMarkedExpired = (intentId: string, withinMs: number) =>
  eventually(
    () => site.sql<{ status: string }>('select status from intents where id = $1', [intentId]),
    ([row]) => row?.status === 'expired',
    withinMs,
  );

const heard = async (event: string, subject: string): Promise<boolean> => {
  const { deliveries } = (await sandbox('GET', `/receiver/${box}`)).body as {
    deliveries: { headers: Record<string, string>; body: string; answered: number }[];
  };
  return deliveries.some(
    ({ headers, body, answered }) => answered === 200 && headers['x-service-event'] === event && body.includes(subject),
  );
};

const isHeard = (event: string, subject: string) => eventually(() => heard(event, subject), Boolean, patienceMs);

async function temporalClient(): Promise<{ client: Client; close(): Promise<void> }> {
  const connection = await Connection.connect({ address: site.ready.temporalAddress });
  const client = new Client({ connection, namespace: site.ready.temporalNamespace });
  return { client, close: () => connection.close() };
}

/** What every 503 says: when to come back. It comes while the servers are away, when the API's own limit ends its wait. */
function expectAway(told: Answer): void {
  expect(told).toMatchObject({ status: 503, body: { error: expect.stringMatching(/repeat with the same/) } });
  expect(Number(told.retryAfter)).toBeGreaterThan(0);
}

/**
 * How long a call takes at most that waits for nothing which is away: four seconds, which is less than the API waits for
 * Temporal, and on a busy machine twenty times what the API takes at this moment to say its name.
 */
async function withoutWaitMs(): Promise<number> {
  const names = [await call('GET', '/'), await call('GET', '/'), await call('GET', '/')];
  for (const { status } of names) expect(status).toBe(200);
  return Math.max(4_000, ...names.map(({ tookMs }) => 20 * tookMs));
}

const syncedState = async (cardId: string) =>
  (await site.sql<{ synced_state: string }>('select synced_state from cards where id = $1', [cardId]))[0]?.synced_state;

async function bookIsRight(): Promise<void> {
  const book = await eventually(
    async () => (await call('GET', '/ledger/verify?full=true')).body,
    ({ unsealed }) => unsealed === 0,
  );
  expect(book).toMatchObject({ balanced: true, differences: [] });
}

describe('a run that is lost', () => {
  const terminated = async (workflowId: string) => {
    const { client, close } = await temporalClient();
    const handle = client.workflow.getHandle(workflowId);
    await eventually(
      () =>
        handle.describe().then(
          ({ status }) => status.name,
          () => 'NOT_THERE',
        ),
      (status) => status === 'RUNNING',
    );
    await handle.terminate('lost by a test');
    await close();
  };

  test('is started again by the next update', async () => {
    const buyer = await anAgent('buyer');
    const intent = await declared(buyer.id, 80);
    await terminated(`intent/${intent.id}`);
    expect(await call('POST', `/intents/${intent.id}/approve`)).toMatchObject({ status: 200 });
    await becomes(`/intents/${intent.id}`, 'approved');
  });

  test('is started again by the wake at its deadline', async () => {
    const buyer = await anAgent('buyer');
    const intent = await declared(buyer.id, 80, { ttlMinutes: 10 });
    await terminated(`intent/${intent.id}`);
    expect(await site.advance(11 * 60_000)).toBeGreaterThanOrEqual(1);
    await isMarkedExpired(intent.id, 45_000); // A rescue would come a minute later.
  });

  test('is rescued when it is overdue and no wake comes', async () => {
    const buyer = await anAgent('buyer');
    const intent = await declared(buyer.id, 80, { ttlMinutes: 10 });
    await terminated(`intent/${intent.id}`);
    // As if that time had passed: moving the clock through the API would also wake the runs.
    await site.sql('update clock set offset_ms = offset_ms + $1', [13 * 60_000]);
    await isMarkedExpired(intent.id, patienceMs);
  });

  test('of a card calls the processor after the next change', async () => {
    const agent = await anAgent('lost card');
    await terminated(`card/${agent.cardId}`);
    await made('POST', `/cards/${agent.cardId}/freeze`);
    await eventually(
      () => syncedState(agent.cardId),
      (state) => state === 'frozen',
    );
  });
});

test('API, worker and sandbox are killed between any two steps of a purchase: it ends right, once', async () => {
  const buyer = await anAgent('buyer');
  const before = (await made('GET', '/wallets')).data[0];
  const balance = async () => (await made('GET', `/wallets/${before.id}/balance`)).totalEuros;
  const from = await balance();
  await site.kill('api');
  const body = { agentId: buyer.id, purpose: 'killed along', expectedAmountEuros: 80 };
  const intent = await untilAnswered(() => call('POST', '/intents', body, 'killed-declare'));
  await site.kill('worker');
  await site.kill('api');
  const approval = () => call('POST', `/intents/${intent.body.id}/approve`, undefined, 'killed-approve');
  expect(await untilAnswered(approval)).toMatchObject({ status: 200, body: { status: 'approved' } });
  await site.kill('worker');
  await site.kill('sandbox');
  const execution = () => call('POST', '/checkout/execute', order(intent.body.id, 8_000), 'killed-execute');
  const first = execution();
  await new Promise((resolve) => setTimeout(resolve, 400));
  await site.kill('worker');
  const told = await first;
  const paid = [0, 409, 503].includes(told.status) ? await untilAnswered(execution) : told;
  expect(paid).toMatchObject({ status: 200, body: { success: true } });
  await site.kill('sandbox');
  await site.kill('api');
  await becomes(`/intents/${intent.body.id}`, 'completed');
  expect(Math.round((from - (await balance())) * 100)).toBe(8_000);
  expect(await untilAnswered(execution)).toMatchObject({ status: 200, body: paid.body });
  const kinds = await site.sql<{ kind: string }>('select kind from journals where reference_id = $1 order by kind', [
    paid.body.transactionId,
  ]);
  expect(kinds.map(({ kind }) => kind)).toEqual(['authorization', 'clearing']);
  await bookIsRight();
}, 240_000);

describe('PostgreSQL is killed', () => {
  test('under traffic: only 2xx and 503, and no acknowledged change is lost', async () => {
    const buyer = await anAgent('buyer');
    await raiseLimit('open_intents', 100_000); // A fast machine declares more than the usual limit of an agent.
    const answers: { key: string; told: Answer }[] = [];
    const over = new AbortController();
    const client = async (name: number) => {
      for (let count = 0; !over.signal.aborted; count += 1) {
        const key = `traffic-${name}-${count}`;
        const body = { agentId: buyer.id, purpose: key, expectedAmountEuros: 0.01 };
        answers.push({ key, told: await call('POST', '/intents', body, key) });
        // Each intent is a run that every later test of this file finds open: not as many as a fast machine could make.
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const clients = [0, 1, 2, 3].map(client);
    for (const pauseMs of [300, 1_200, 2_000]) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      await site.kill('postgres');
    }
    await site.isWell();
    await new Promise((resolve) => setTimeout(resolve, 500));
    over.abort();
    await Promise.all(clients);
    const statuses = Object.groupBy(answers, ({ told }) => String(told.status));
    expect(Object.keys(statuses).sort((a, b) => a.localeCompare(b))).toEqual(['201', '503']);
    const kept = await site.sql<{ id: string; purpose: string }>(
      'select id, purpose from intents where agent_id = $1',
      [buyer.id],
    );
    const byKey = new Map(kept.map(({ id, purpose }) => [purpose, id]));
    expect(byKey.size).toBe(kept.length);
    for (const { key, told } of answers) if (told.status === 201) expect(byKey.get(key)).toBe(told.body.id);
    // The same keys again: each names the intent that was made, or makes it now; none is made twice.
    for (const { key } of answers.filter(({ told }) => told.status === 503).slice(0, 40)) {
      const body = { agentId: buyer.id, purpose: key, expectedAmountEuros: 0.01 };
      const told = await untilAnswered(() => call('POST', '/intents', body, key));
      expect([told.status, told.body.error]).toEqual([201, undefined]);
      expect(told.body.id).toBe(byKey.get(key) ?? told.body.id);
    }
    const again = await site.sql('select purpose from intents where agent_id = $1 group by 1 having count(*) > 1', [
      buyer.id,
    ]);
    expect(again).toEqual([]);
  }, 240_000);

  test('kept down: everything answers 503, the network decides as a stand-in, and what it decided is booked after it', async () => {
    const buyer = await anAgent('buyer');
    const waiting = await declared(buyer.id, 80);
    await sandbox('PUT', '/network/stand-in', { perCardCents: 1_000 });
    const release = await site.holdDown('postgres');
    let [standIn, collected]: (Answer | undefined)[] = [];
    try {
      const asked = [
        () => call('GET', '/agents'),
        () => call('GET', `/intents/${waiting.id}`),
        () => call('POST', '/intents', { agentId: buyer.id, purpose: 'x', expectedAmountEuros: 5 }, 'while-down'),
        () => call('POST', `/intents/${waiting.id}/approve`),
        () => call('POST', `/agents/${buyer.id}/freeze`),
        () => call('POST', '/agents', { name: 'while-down' }, 'agent-while-down'),
        () => call('GET', '/ledger/verify'),
        () => callBy(site.as('at_test_nobody').send)('GET', '/intents'),
      ];
      for (const ask of asked) expectAway(await ask());
      expect((await healthOf(site.apiUrl)).httpStatus).toBe(503);
      collected = await swipe(buyer.cardId, 600);
      expect(collected.body).toMatchObject({ decision: 'approved', rule: 'stand_in' });
      // Together it would be more than the network lets through for a card.
      standIn = await swipe(buyer.cardId, 900);
      expect(standIn.body).toMatchObject({ decision: 'declined', rule: 'stand_in' });
    } finally {
      await release();
      await sandbox('PUT', '/network/stand-in', { perCardCents: 0 });
    }
    await site.isWell();
    const told = (authorizationId: string) =>
      eventually(
        async () => (await sandbox('GET', `/network/authorizations/${authorizationId}`)).body,
        ({ messages }) => messages.every(({ state }: { state: string }) => state === 'acknowledged'),
      );
    const reversal = await told(standIn?.body.authorizationId);
    expect(reversal.messages).toMatchObject([{ kind: 'reversals', lastStatus: 200 }]);
    const { authorizationId } = collected?.body ?? {};
    expect((await told(authorizationId)).messages).toMatchObject([
      { kind: 'advices', lastStatus: 200 },
      { kind: 'clearings', lastStatus: 200 },
    ]);
    const [paid] = await site.sql<{ id: string; status: string; cents: number }>(
      'select id, status, cleared_cents::int as cents from transactions where authorization_id = $1',
      [authorizationId],
    );
    expect(paid).toMatchObject({ status: 'completed', cents: 600 });
    await isHeard('risk.alert_created', paid?.id ?? '');
    expect(await untilAnswered(() => call('POST', `/intents/${waiting.id}/approve`))).toMatchObject({ status: 200 });
    const once = { agentId: buyer.id, purpose: 'x', expectedAmountEuros: 5 };
    expect(await untilAnswered(() => call('POST', '/intents', once, 'while-down'))).toMatchObject({ status: 201 });
    expect((await swipe(buyer.cardId, 900)).body).toMatchObject({ decision: 'approved' });
    await bookIsRight();
  }, 240_000);
});

describe.each([
  ['killed again and again', async () => site.holdDown('temporal')],
  [
    'frozen, so that it takes calls and answers none',
    async () => {
      await site.signal('temporal', 'SIGSTOP');
      return () => site.signal('temporal', 'SIGCONT');
    },
  ],
])('Temporal is %s', (_how, takeAway) => {
  test('reads, revoking commands, authorizations, first deliveries and creations go on; grants answer 503; all catches up', async () => {
    await site.isWell();
    const [buyer, frozen, closed] = [await anAgent('buyer'), await anAgent('to freeze'), await anAgent('to close')];
    const token = await made('POST', `/agents/${buyer.id}/tokens`, { label: 'one' });
    const denied = await declared(buyer.id, 80);
    const cancelled = await declared(buyer.id, 80);
    const waiting = await declared(buyer.id, 80);
    const approved = await declared(buyer.id, 5);
    await declared(buyer.id, 7);
    const newAgent = { name: `made while away ${_how}` };
    const keys = { agent: `agent-${_how.length}`, execute: `execute-${_how.length}` };
    const bringBack = await takeAway();
    try {
      const health = await eventually(
        () => healthOf(site.apiUrl),
        ({ checks }) => checks.temporal === 'down',
      );
      expect(health).toMatchObject({ httpStatus: 200, status: 'degraded', checks: { database: 'ok' } });

      for (const path of ['/agents', `/intents/${waiting.id}`, '/wallets', '/ledger', '/transactions', '/cards'])
        expect(await call('GET', path)).toMatchObject({ status: 200 });

      const brakes = [
        await call('POST', `/agents/${frozen.id}/freeze`),
        await call('POST', `/intents/${denied.id}/deny`, { reason: 'not today' }),
        await call('POST', `/intents/${cancelled.id}/cancel`),
        await call('POST', `/cards/${closed.cardId}/close`),
        await call('DELETE', `/agents/${buyer.id}/tokens/${token.id}`),
      ];
      for (const told of brakes) {
        expect(told.status).toBeGreaterThanOrEqual(200);
        expect(told.status).toBeLessThan(300);
        expect(told.tookMs).toBeLessThan(await withoutWaitMs());
      }
      expect((await swipe(frozen.cardId, 100)).body).toMatchObject({ decision: 'declined' });
      expect((await swipe(closed.cardId, 100)).body).toMatchObject({ decision: 'declined' });
      expect((await callBy(site.as(token.token).send)('GET', '/intents')).status).toBe(401);

      expect((await swipe(buyer.cardId, 700)).body).toMatchObject({ decision: 'approved', approvedCents: 700 });

      const created = await call('POST', '/intents', {
        agentId: buyer.id,
        purpose: 'declared while away',
        expectedAmountEuros: 70,
      });
      expect(created).toMatchObject({ status: 201, body: { status: 'pending_approval' } });
      expect(created.tookMs).toBeLessThan(await withoutWaitMs());
      await isHeard('intent.created', created.body.id);
      await isHeard('agent.frozen', frozen.id);
      await isHeard('intent.denied', denied.id);

      const grants = [
        call('POST', `/intents/${waiting.id}/approve`),
        call('POST', '/checkout/execute', order(approved.id, 500), keys.execute),
        call('POST', '/agents', newAgent, keys.agent),
      ];
      for (const told of await Promise.all(grants)) expectAway(told);
      expect((await call('GET', `/intents/${waiting.id}`)).body.status).toBe('pending_approval');

      await bringBack();
      await site.isWell();
      const startedOf = (id: string) =>
        site.sql<{ started_epoch: string | null }>('select started_epoch from workflow_runs where id = $1', [id]);
      await eventually(
        () => startedOf(`intent/${created.body.id}`),
        ([row]) => row?.started_epoch != null,
      );
      const { client, close } = await temporalClient();
      const { status } = await client.workflow.getHandle(`intent/${created.body.id}`).describe();
      expect(status.name).toBe('RUNNING');
      await close();

      expect(await untilAnswered(() => call('POST', `/intents/${waiting.id}/approve`))).toMatchObject({ status: 200 });
      const paid = await untilAnswered(() => call('POST', '/checkout/execute', order(approved.id, 500), keys.execute));
      expect(paid).toMatchObject({ status: 200, body: { success: true } });
      await becomes(`/intents/${approved.id}`, 'completed');
      const agent = await untilAnswered(() => call('POST', '/agents', newAgent, keys.agent));
      expect(agent).toMatchObject({ status: 201, body: { name: newAgent.name, status: 'active' } });
      expect(await site.sql('select 1 from agents where name = $1', [newAgent.name])).toHaveLength(1);
      await eventually(
        () => Promise.all([frozen, closed].map(({ cardId }) => syncedState(cardId))),
        ([first, second]) => first === 'frozen' && second === 'closed',
      );
      await bookIsRight();
    } finally {
      await bringBack();
    }
  }, 240_000);
});

test("Temporal's file is deleted with an approval, a deadline, a retry and a freeze open: all end right", async () => {
  const [buyer, frozen] = [await anAgent('buyer'), await anAgent('to freeze')];
  const waiting = await declared(buyer.id, 80);
  const late = await declared(buyer.id, 80, { ttlMinutes: 30 });
  await sandbox('PUT', `/receiver/${box}/failures`, { count: 1, status: 503, event: 'agent.updated' });
  await made('PATCH', `/agents/${buyer.id}`, { scope: 'heard at the second attempt' });
  const [retry] = await eventually(
    () =>
      site.sql<{ id: string; epoch: string }>(
        `select p.id, p.started_epoch as epoch from workflow_runs p join webhook_deliveries d on d.webhook_id = p.subject_id
         where d.event = 'agent.updated' and d.status = 'pending' and d.attempts_made > 0
           and p.is_open and p.started_epoch is not null`,
      ),
    (found) => found.length === 1,
  );
  const release = await site.holdDown('temporal');
  try {
    for (const end of ['', '-wal', '-shm']) await rm(join(site.dir, `temporal.db${end}`), { force: true });
    await made('POST', `/cards/${frozen.cardId}/freeze`);
    expect(await site.advance(31 * 60_000)).toBe(0);
  } finally {
    await release();
  }
  await isMarkedExpired(late.id, patienceMs);
  await isHeard('agent.updated', buyer.id);
  await eventually(
    () => syncedState(frozen.cardId),
    (state) => state === 'frozen',
  );
  expect(existsSync(join(site.dir, 'temporal.db'))).toBe(true);
  const left = await eventually(
    () =>
      site.sql<{ id: string; epoch: string | null }>(
        'select id, started_epoch as epoch from workflow_runs where is_open order by id',
      ),
    (open) => open.every(({ epoch }) => epoch !== null && epoch !== retry?.epoch),
  );
  expect(left.map(({ id }) => id)).toContain(`intent/${waiting.id}`);

  expect(await untilAnswered(() => call('POST', `/intents/${waiting.id}/approve`))).toMatchObject({ status: 200 });
  const paid = await untilAnswered(() => call('POST', '/checkout/execute', order(waiting.id, 8_000), 'after-the-loss'));
  expect(paid).toMatchObject({ status: 200, body: { success: true } });
  await becomes(`/intents/${waiting.id}`, 'completed');
}, 240_000);
