/**
 * Goal: every published operation keeps what all operations promise. Method: one installation; the sample call of each
 * operation is sent by callers who may not make it, then by its owner, and then again after its answer was lost.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Connection, isGrpcServiceError } from '@temporalio/client';
import { eventCatalog } from '../../src/events/catalog.ts';
import { scopes } from '../../src/http/scopes.ts';
import { publishedAreas } from '../../src/main/modules/index.ts';
import { secretForms } from '../../src/platform/secret-forms.ts';
import { registeredMerchant } from '../support/factories/merchants.ts';
import { theRecords } from '../support/factories/records.ts';
import { refusedByTool } from '../support/mcp.ts';
import {
  askedOf,
  discoverSamples,
  eventsOf,
  type OperationsWorld,
  type PublishedOperation,
  publishedOperations,
  samplesOfOperations,
  send,
  startOperationsWorld,
  suiteLimitMs,
} from '../support/published-operations.ts';
import type { Asked, Sampler } from '../support/samples.ts';
import { toolCallsOf } from '../support/tool-calls.ts';
import type { Owner } from '../support/world.ts';

const areas = await discoverSamples();
const samples = samplesOfOperations(areas);
const exceptions = (list: (samples: (typeof areas)[number]) => readonly string[]) => new Set(areas.flatMap(list));
const actsTwice = exceptions((samples) => Object.keys(samples.actsTwice));
const sharedBySiblings = exceptions((samples) => samples.sharedBySiblings);

let all: OperationsWorld;
let temporal: Connection;
let stranger: Owner;
let siblingToken: string;
let strangersToken: string;
let scopelessToken: string;

beforeAll(async () => {
  all = await startOperationsWorld();
  temporal = await Connection.connect({ address: all.world.config.TEMPORAL_ADDRESS });
  stranger = await all.world.owner();
  await all.sampler.the(theRecords);
  [siblingToken, strangersToken, scopelessToken] = await Promise.all([
    tokenOfNewAgent(all.owner, 'sibling'),
    tokenOfNewAgent(stranger, 'stranger'),
    tokenOfNewAgent(all.owner, 'without scopes', ['disputes.read']),
  ]);
}, suiteLimitMs);
afterAll(async () => {
  await temporal?.close();
  await all?.close();
});

async function tokenOfNewAgent(owner: Owner, name: string, wanted: readonly string[] = scopes): Promise<string> {
  const post = async (path: string, body: object): Promise<{ id: string; token: string }> => {
    const answer = await fetch(`${all.world.apiUrl}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${owner.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { id: string; token: string };
  };
  const { id } = await post('/agents', { name });
  return (await post(`/agents/${id}/tokens`, { scopes: wanted })).token;
}

const anotherMerchant = (one: Sampler) => registeredMerchant(one.owner);
const strangersMerchant = () => registeredMerchant(stranger);
const merchantKey = (secret: string) => ({ 'X-Merchant-Key': secret });
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const isForBearers = ({ operation: { auth } }: PublishedOperation) => auth.includes('key') || auth.includes('agent');

/** Every id in a text, except the ids of requests. */
const idsIn = (text: string): string[] => text.match(/\b[a-z]{2,4}_[0-9a-z]{26}\b/g) ?? [];

/** True when the call names a record: in its path, in its query or in its body. */
const namesRecord = (asked: Asked): boolean =>
  idsIn(JSON.stringify([asked.path, asked.query, asked.body ?? {}])).length > 0;

/** Events and audit rows that requests left, without the rows that record a refusal. */
const leftBy = (requestIds: readonly (string | null)[]) =>
  all.world.sql(
    `select name as what, request_id from events where request_id = any($1)
     union all select action, request_id from audit where request_id = any($1) and outcome is distinct from 'refused'`,
    [requestIds],
  );

test('each sample call belongs to a published operation', () => {
  expect(Object.keys(all.calls).sort()).toEqual(samples.map(({ sampleName }) => sampleName).sort());
});

describe.each(samples.map(({ sampleName, one }) => [sampleName, one] as const))('%s', (sampleName, one) => {
  const { name, operation } = one;
  let prepared: Promise<Asked> | undefined;
  const prepare = () => {
    prepared ??= askedOf(all, sampleName);
    return prepared;
  };
  const key = randomUUID();
  const repeatable = { 'Idempotency-Key': key };

  if (isForBearers(one)) {
    // spec: auth:bearer token
    // spec: token-use:Agent token:scoped to one agent, for autonomous operation
    test('is refused for another owner, its agent, a sibling agent, and without a credential', async () => {
      const asked = await prepare();
      const requestIds: (string | null)[] = [];
      const statusFor = async (token: string | undefined): Promise<number> => {
        const call: Asked = { ...asked, as: 'nobody' };
        const credential = token === undefined ? {} : bearer(token);
        const answer = await send(all, one, call, { ...repeatable, ...credential });
        await answer.arrayBuffer();
        requestIds.push(answer.headers.get('X-Request-Id'));
        return answer.status;
      };
      expect(await statusFor(undefined)).toBe(401);
      expect(await statusFor(scopelessToken)).toBe(403);
      // A merchant is no caller of an owner's operations, neither of this owner nor of another one.
      for (const register of [anotherMerchant, strangersMerchant]) {
        const { merchant_secret_key: secret } = await all.sampler.the(register);
        for (const credential of [merchantKey(secret), bearer(secret)]) {
          const answer = await send(all, one, { ...asked, as: 'nobody' }, { ...repeatable, ...credential });
          await answer.arrayBuffer();
          requestIds.push(answer.headers.get('X-Request-Id'));
          expect([name, 'merchant', answer.status]).toEqual([name, 'merchant', 401]);
        }
      }
      if (!namesRecord(asked)) return;
      const forAgents = operation.auth.includes('agent');
      // A challenge is not a record: an unknown one is an invalid answer to it.
      const unknown = idsIn(JSON.stringify(asked)).every((id) => id.startsWith('chl_')) ? 400 : 404;
      expect([name, 'stranger', await statusFor(stranger.key)]).toEqual([name, 'stranger', unknown]);
      expect([name, 'stranger’s agent', await statusFor(strangersToken)]).toEqual([
        name,
        'stranger’s agent',
        forAgents ? 404 : 403,
      ]);
      if (!sharedBySiblings.has(name))
        expect([name, 'sibling', await statusFor(siblingToken)]).toEqual([name, 'sibling', 403]);
      const refusedAs = (kind: 'key' | 'agent', tool: string, code: string): string => {
        if (kind === 'key' || forAgents) return code;
        return tool === 'operations_call' ? 'not_found' : 'forbidden';
      };
      for (const [caller, kind, token, code] of [
        ['stranger', 'key', stranger.key, unknown === 404 ? 'not_found' : 'invalid_request'],
        ['stranger’s agent', 'agent', strangersToken, 'not_found'],
        ...(sharedBySiblings.has(name) ? [] : [['sibling', 'agent', siblingToken, 'E_AGENT_ISOLATION'] as const]),
      ] as const)
        for (const { tool, args } of toolCallsOf(name, asked, kind)) {
          if (idsIn(JSON.stringify(args)).length === 0) continue; // Then it is about the caller's own agent.
          const { code: refused, requestId } = await refusedByTool(all.world.apiUrl, token, tool, args);
          requestIds.push(requestId);
          expect([tool, caller, refused]).toEqual([tool, caller, refusedAs(kind, tool, code)]);
        }
      expect(await leftBy(requestIds)).toEqual([]);
    });
  }

  if (operation.auth.includes('merchant')) {
    test('is refused for another merchant, a stranger’s one, an owner, its agent, and without a credential', async () => {
      const { headers: _own, ...asked } = await prepare();
      const requestIds: (string | null)[] = [];
      const statusFor = async (headers: Record<string, string>): Promise<number> => {
        const answer = await send(all, one, asked, { ...repeatable, ...headers });
        await answer.arrayBuffer();
        requestIds.push(answer.headers.get('X-Request-Id'));
        return answer.status;
      };
      expect(await statusFor({})).toBe(401);
      for (const token of [all.owner.key, siblingToken, stranger.key, strangersToken])
        expect(await statusFor(bearer(token))).toBe(401);
      for (const register of [anotherMerchant, strangersMerchant]) {
        const { merchant_secret_key: secret } = await all.sampler.the(register);
        expect([name, await statusFor(merchantKey(secret))]).toEqual([name, 404]);
        expect(await statusFor(bearer(secret))).toBe(401);
      }
      expect(await leftBy(requestIds)).toEqual([]);
    });
  }

  // spec: events:each change fires one
  // spec: token-use:API key:full access, dashboard and admin use
  test('succeeds, and a change has its event and its audit row under the id of the request', async () => {
    const asked = await prepare();
    const [last] = await all.world.sql<{ seq: string | null }>('select max(seq) as seq from events');
    const before = last?.seq ?? 0;
    const answer = await send(all, one, asked, { ...repeatable, ...asked.headers });
    const text = await answer.text();
    expect([answer.status, answer.ok ? '' : text]).toEqual([operation.success.status, '']);
    const requestId = answer.headers.get('X-Request-Id');
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    // A GET fires only on the first call of a new owner.
    const declared: readonly string[] = eventsOf(operation);
    if (declared.length === 0 || operation.method === 'get') return;
    type Recorded = { readonly name: string; readonly subject_id: string; readonly request_id: string };
    const events = await all.world.sql<Recorded>('select name, subject_id, request_id from events where seq > $1', [
      before,
    ]);
    // The network's messages continue a payment: their changes carry the request id of the call that began it.
    const ownEvents = events.filter((event) => operation.auth.includes('network') || event.request_id === requestId);
    const fired = ownEvents.filter((event) => declared.includes(event.name));
    expect([events, fired.length > 0]).toEqual([expect.anything(), true]);
    const audited = await all.world.sql<Recorded>(
      `select action as name, subject_id, request_id from audit
       where request_id = any($1) and outcome is distinct from 'refused'`,
      [fired.map((event) => event.request_id)],
    );
    // One change has exactly one audit row, also when it has two events.
    const matching = audited.filter((row) => fired.some((event) => isDeepStrictEqual(event, row)));
    expect([fired, audited, matching.length > 0]).toEqual([expect.anything(), expect.anything(), true]);
    expect(new Set(matching.map((row) => `${row.name} ${row.subject_id}`)).size).toBe(matching.length);
  });

  if (operation.method === 'post' && !actsTwice.has(name)) {
    // spec: header:POST /agents/*:Idempotency-Key
    // spec: header:POST /intents/*:Idempotency-Key
    // spec: header:POST /checkout/*:Idempotency-Key
    // spec: header:POST /cards/*:Idempotency-Key
    test('acts once when it is repeated after its answer was lost', async () => {
      prepared = undefined;
      const asked = await prepare();
      const lostKey = asked.headers?.['Idempotency-Key'] ?? randomUUID();
      const ask = async () => {
        const answer = await send(all, one, asked, { 'Idempotency-Key': lostKey });
        const body = await answer.text();
        return { status: answer.status, ids: answeredIds(body), body };
      };
      const first = await ask();
      expect([first.status, first.body]).toEqual([operation.success.status, expect.anything()]);
      if (operation.pure !== true) expect(first.ids).not.toEqual([]);
      const once = await standstill();
      await holdsNoSecret(name, lostKey);
      // An atomic operation keeps its answer in the statement of its effect, so that neither is there without the other.
      if (operation.idempotency !== 'atomic') await loseAnswer(lostKey);
      const second = await ask();
      expect([second.status, second.ids]).toEqual([first.status, first.ids]);
      expect(await standstill()).toEqual(once);
      if (operation.auth.includes('merchant')) await otherMerchantsDoNotMeet(one, asked, lostKey);
      if (!isForBearers(one)) return;
      const other = { ...asked, body: { ...asked.body, anotherRequest: true } };
      expect((await send(all, one, other, { 'Idempotency-Key': lostKey })).status).toBe(409);
      await othersDoNotMeet(one, asked, lostKey, second);
    });
  }
});

/** The owner's key answers a repeat; agents, strangers and the dashboard with the same key are other callers. */
async function othersDoNotMeet(
  one: PublishedOperation,
  asked: Asked,
  key: string,
  kept: { readonly ids: readonly string[] },
): Promise<void> {
  const made = kept.ids.filter((id) => !JSON.stringify(asked).includes(id) && !ownersPublicIds.has(id.slice(0, 3)));
  const credentials: readonly (readonly [string, Record<string, string>])[] = [
    ['stranger', bearer(stranger.key)],
    ['stranger’s agent', bearer(strangersToken)],
    ['sibling', bearer(siblingToken)],
    ['scopeless agent', bearer(scopelessToken)],
    ...(one.operation.auth.includes('dashboard')
      ? [['dashboard', { 'X-Dashboard-Secret': all.world.dashboardSecret, 'X-Owner-Id': all.owner.ownerId }] as const]
      : []),
  ];
  for (const [who, credential] of credentials) {
    const answer = await send(all, one, { ...asked, as: 'nobody' }, { ...credential, 'Idempotency-Key': key });
    const text = await answer.text();
    const leaked = answer.ok ? made.filter((id) => text.includes(id)) : [];
    expect([one.name, who, leaked]).toEqual([one.name, who, []]);
    // 409 says that the caller used this key before, which only the owner's key did.
    if (answer.status === 409)
      expect([one.name, who, text]).toEqual([one.name, who, expect.not.stringMatching(/Idempotency-Key/)]);
  }
}

/** A merchant's repeat is its own: another one with the same key finds neither the answer nor that there was one. */
async function otherMerchantsDoNotMeet(one: PublishedOperation, asked: Asked, key: string): Promise<void> {
  for (const register of [anotherMerchant, strangersMerchant]) {
    const { merchant_secret_key: secret } = await all.sampler.the(register);
    const call = { ...asked, headers: { ...asked.headers, ...merchantKey(secret) } };
    const answer = await send(all, one, call, { 'Idempotency-Key': key, ...merchantKey(secret) });
    expect([one.name, answer.status, await answer.text()]).toEqual([
      one.name,
      404,
      expect.not.stringMatching(/Idempotency-Key/),
    ]);
  }
}

/** Prefixes of ids that answers to several callers of one owner contain. */
const ownersPublicIds = new Set(['own', 'wal', 'cus']);

const answeredIds = (body: string): string[] =>
  body.match(/"[a-z]{2,4}_[0-9a-z]{26}"/g)?.map((id) => id.slice(1, -1)) ?? [];

/** What is kept for a repeat. An answer with a secret is sealed, because its contract says `secret`, or is not kept. */
async function holdsNoSecret(name: string, key: string): Promise<void> {
  const kept = await all.world.sql<{ body: string | null }>(
    'select body from idempotency where key = $1 and not body_is_sealed',
    [key],
  );
  const shown = kept.flatMap(({ body }) => secretForms.filter(([form]) => (body ?? '').search(form) !== -1));
  const links = kept.filter(({ body }) => body?.includes('/approve/'));
  expect([name, shown, links]).toEqual([name, [], []]);
}

/** As if the process had died before it stored the answer. A network message carries its own id and has no row here. */
const loseAnswer = (key: string) =>
  all.world.sql(
    `update idempotency set status = null, body = null, body_is_sealed = false, reveal_until = null, lease_until = null
     where key = $1`,
    [key],
  );

/** What is recorded and booked, as soon as nothing moves it: read again after nothing was found under way. */
async function standstill(): Promise<unknown> {
  const until = Date.now() + 60_000;
  for (;;) {
    const before = await recorded();
    const moving = await underWay();
    if (moving === undefined && isDeepStrictEqual(await recorded(), before)) return before;
    if (Date.now() > until) throw new Error(`no standstill: ${moving ?? 'what is recorded changes'}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

async function recorded(): Promise<unknown> {
  const [now] = await all.world.sql(
    `select (select count(*) from journals) as journals, (select count(*) from audit) as audits,
       (select count(*) from transactions) as transactions, (select count(*) from intents) as intents,
       (select count(*) from cards) as cards, (select count(*) from agents) as agents,
       (select jsonb_object_agg(name, n) from (select name, count(*) as n from events group by name) e) as events`,
  );
  return now;
}

/**
 * A message of the network, a wake or a run that will change something. A message with a date waits for the clock. Asked
 * twice, because one causes another: what was on its way between two of the questions is found by the second round.
 */
async function underWay(): Promise<string | undefined> {
  const round = async () => (await messageUnderWay()) ?? (await wakeUnderWay()) ?? (await runUnderWay());
  return (await round()) ?? (await round());
}

async function messageUnderWay(): Promise<string | undefined> {
  const answer = await fetch(`${all.world.sandboxUrl}/network/messages?state=queued`);
  const { messages } = (await answer.json()) as { messages: { dueAt?: string }[] };
  const found = messages.find(({ dueAt }) => dueAt === undefined);
  return found && JSON.stringify(found);
}

async function wakeUnderWay(): Promise<string | undefined> {
  const [found] = await all.world.sql<{ what: string }>(
    `select 'the wake of ' || id as what from workflow_runs where wanted_wake or waking_until is not null
     union all select 'transfer ' || id from transfers where stage in ('requested', 'approved') limit 1`,
  );
  return found?.what;
}

/** By id of a run: the version of its row when it was at rest. A start and a wake write the row, and nothing else moves it. */
const atRest = new Map<string, string>();

async function runUnderWay(): Promise<string | undefined> {
  type Row = { readonly id: string; readonly version: string; readonly is_open: boolean };
  const rows = await all.world.sql<Row>('select id, xmin::text as version, is_open from workflow_runs');
  for (const { id, version, is_open } of rows) {
    if (atRest.get(id) === version) continue;
    if (await isAtWork(id, is_open)) return id;
    atRest.set(id, version);
  }
  return undefined;
}

/** The code with which Temporal answers for an unknown run. */
const notFound = 5;

/** A row without a run is of one that has to start, unless it is closed. */
async function isAtWork(workflowId: string, isOpen: boolean): Promise<boolean> {
  const namespace = all.world.config.TEMPORAL_NAMESPACE;
  try {
    const run = await temporal.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
    return Boolean(run.pendingWorkflowTask) || run.pendingActivities.length > 0;
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === notFound) return isOpen;
    throw error;
  }
}

test('each exception names a published operation, and an operation that acts twice is a POST', () => {
  const posts = publishedOperations.filter(({ operation }) => operation.method === 'post').map(({ name }) => name);
  expect(posts).toEqual(expect.arrayContaining([...actsTwice]));
});

test('every event that was sent is in the catalog and complete', async () => {
  const sent = await all.world.sql<{ name: keyof typeof eventCatalog; data: Record<string, unknown> }>(
    'select name, data from events',
  );
  expect(new Set(sent.map(({ name }) => name)).size).toBeGreaterThan(30);
  for (const { name, data } of sent)
    expect([name, eventCatalog[name].data.safeParse(data).success]).toEqual([name, true]);
});

// spec: alias:/accounts
test('every alias is served, with and without /v1: an unknown path below it is 404', async () => {
  const bases = publishedAreas.flatMap((area) => [area.base, ...area.aliases]).filter((base) => base !== '');
  for (const base of bases) {
    for (const prefix of ['', '/v1']) {
      const path = `${prefix}${base.replace(/^\/v1/, '')}/nothing-here/nothing-here/nothing-here/nothing-here`;
      expect([path, (await fetch(`${all.world.apiUrl}${path}`)).status]).toEqual([path, 404]);
    }
  }
});
