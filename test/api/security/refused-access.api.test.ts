/**
 * Refused access over real HTTP leaves security lines in the API's log and, where an owner's or a person's right was
 * asked for, audit rows; audit rows carry the source address and the outcome.
 * @module
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { keysArea } from '../../../src/domains/identity/keys/key.contract.ts';
import { softPasskey } from '../../support/authenticator.ts';
import { aPasskey, intentChallengeOf } from '../../support/factories/passkeys.ts';
import { anIntent, aPayer, signed } from '../../support/payments-world.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

type Line = {
  event?: string;
  client?: string;
  credential?: string | null;
  operation?: string;
  status?: number;
  code?: string;
  requestId?: string;
  omitted?: number;
};

let world: World;
let lines: Line[] = [];
let raw = '';
beforeAll(async () => {
  world = await startWorld({
    env: { BURSAR_TRUSTED_PROXIES: '127.0.0.1' },
    onLogLine: (line) => {
      raw += line;
      lines.push(JSON.parse(line) as Line);
    },
  });
});
beforeEach(() => {
  lines = [];
  raw = '';
});
afterAll(() => world.close());

let addresses = 0;
/** Each test uses a separate client address, in the header of a trusted proxy. */
const newClient = (): string => `198.51.100.${++addresses}`;

const ask = (client: string, path: string, headers: Record<string, string> = {}, method = 'GET', body?: string) =>
  fetch(`${world.apiUrl}${path}`, {
    method,
    headers: { 'X-Forwarded-For': client, 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
  });
const refusedLines = () => lines.filter(({ event }) => event === 'access.refused');
const auditOf = (client: string) =>
  world.sql<Record<string, unknown>>(
    `select owner_id, agent_id, actor, action, details, request_id, outcome from audit where source_address = $1`,
    [client],
  );

test('a 401 is one line with address, hint, operation, code and request id, and without the token', async () => {
  const client = newClient();
  const secret = `sk_sandbox_${'Q'.repeat(28)}x7Qz`;
  const answer = await ask(client, '/intents', { Authorization: `Bearer ${secret}` });
  expect(answer.status).toBe(401);
  expect(lines).toMatchObject([
    {
      event: 'access.refused',
      client,
      credential: 'sk_sandbox_…x7Qz',
      operation: 'listIntents',
      status: 401,
      code: 'unauthenticated',
      requestId: answer.headers.get('x-request-id'),
    },
  ]);
  expect(raw).not.toContain('QQQQ');
});

test('300 requests without a credential leave 20 lines', async () => {
  const client = newClient();
  for (let i = 0; i < 300; i += 50) await Promise.all(Array.from({ length: 50 }, () => ask(client, '/agents')));
  expect(refusedLines()).toHaveLength(20);
});

test('a bad network signature leaves a line, a good one none', async () => {
  const client = newClient();
  const body = '{}';
  const path = '/network/clearings';
  const bad = { 'X-Network-Signature': signed('another key', { path, rawBody: body }) };
  expect((await ask(client, path, bad, 'POST', body)).status).toBe(401);
  expect(lines).toMatchObject([
    { client, operation: 'clearCardPayment', credential: 'network signature', status: 401 },
  ]);
  const good = { 'X-Network-Signature': signed(world.networkKey, { path, rawBody: body }) };
  expect((await ask(client, path, good, 'POST', body)).status).toBe(400);
  expect(refusedLines()).toHaveLength(1);
});

test("an agent's token is 403 at an owner's operation, with a log line and an audit row", async () => {
  const client = newClient();
  const payer = await aPayer(world);
  const answer = await ask(client, '/keys/create', { Authorization: `Bearer ${payer.token}` }, 'POST', '{}');
  expect(answer.status).toBe(403);
  const [line] = refusedLines();
  expect(line).toMatchObject({ client, operation: 'createKey', status: 403, code: 'forbidden' });
  expect(line?.credential).toMatch(/^tok_|^at_/);
  expect(
    await eventually(
      () => auditOf(client),
      (found) => found.length > 0,
    ),
  ).toEqual([
    {
      owner_id: payer.owner.ownerId,
      agent_id: payer.agentId,
      actor: `agent:${payer.agentId}`,
      action: 'access.refused',
      details: { operation: 'createKey', code: 'forbidden' },
      request_id: answer.headers.get('x-request-id'),
      outcome: 'refused',
    },
  ]);
});

test('wrong dashboard secrets are lines, 401 and then 429, and the 401s are audited', async () => {
  const client = newClient();
  const secret = 'wrong-secret-'.repeat(4);
  const { ownerId } = await world.owner();
  for (let i = 0; i < 30; i++) await ask(client, '/keys', { 'X-Dashboard-Secret': secret, 'X-Owner-Id': ownerId });
  const audited = await eventually(
    () => auditOf(client),
    (found) => found.length >= 10,
  );
  expect(audited[0]).toMatchObject({ owner_id: 'deployment', actor: 'unknown', action: 'access.refused' });
  expect(refusedLines().map(({ status }) => status)).toEqual([...Array(10).fill(401), ...Array(10).fill(429)]);
  expect(raw).not.toContain('wrong-secret');
});

test('a passkey’s proof that does not hold is a line and an audit row of the owner', async () => {
  const client = newClient();
  const payer = await aPayer(world);
  const intentId = await anIntent(world, payer);
  await aPasskey(world, payer.owner);
  const challenge = await intentChallengeOf(payer.owner, intentId);
  const webauthnAssertion = softPasskey(world.config.publicUrl).answer(challenge);
  const headers = { Authorization: `Bearer ${payer.owner.key}` };
  const body = JSON.stringify({ webauthnAssertion });
  const answer = await ask(client, `/intents/${intentId}/attest`, headers, 'POST', body);
  expect([answer.status, await answer.json()]).toEqual([400, { error: expect.stringContaining('does not hold') }]);
  expect(refusedLines()).toMatchObject([{ client, operation: 'attestIntent', status: 400 }]);
  const [row] = await eventually(
    () => auditOf(client),
    (found) => found.length > 0,
  );
  expect(row).toMatchObject({
    owner_id: payer.owner.ownerId,
    actor: expect.stringMatching(/^key:key_/),
    action: 'access.refused',
    outcome: 'refused',
  });
});

test('a change is audited with its source address and the outcome done; the dashboard’s use as admitted', async () => {
  const client = newClient();
  const { key, ownerId } = await world.owner();
  expect((await ask(client, '/keys/create', { Authorization: `Bearer ${key}` }, 'POST', '{}')).status).toBe(201);
  const headers = { 'X-Dashboard-Secret': world.dashboardSecret, 'X-Owner-Id': ownerId };
  expect((await ask(client, '/keys', headers)).status).toBe(200);
  expect((await auditOf(client)).map(({ action, outcome }) => [action, outcome])).toEqual([
    ['api_key.created', 'done'],
    ['dashboard.used', 'admitted'],
  ]);
  expect(refusedLines()).toEqual([]);
});

test('an audit row loses its address after 90 days, and changes in no other way', async () => {
  const { key } = await world.owner();
  const client = newClient();
  await ask(client, '/keys/create', { Authorization: `Bearer ${key}` }, 'POST', '{}');
  const purge = (days: number) =>
    world.sql(`select purge_audit_addresses(now() - make_interval(days => $1), 10000) as purged`, [days]);
  await purge(90);
  expect(await auditOf(client)).toHaveLength(1);
  await purge(-1); // The function knows the 90 days itself.
  expect(await auditOf(client)).toHaveLength(1);
  const days91 = 91 * 86_400_000;
  await world.sql('update clock set offset_ms = offset_ms + $1', [days91]);
  await purge(-1);
  await world.sql('update clock set offset_ms = offset_ms - $1', [days91]);
  expect(await auditOf(client)).toEqual([]);
  for (const change of [`actor = 'x'`, `source_address = '1.2.3.4'`, `outcome = null, source_address = null`]) {
    await expect(world.sql(`update audit set ${change}`)).rejects.toThrow(/append-only/);
  }
  await expect(world.sql('delete from audit')).rejects.toThrow(/append-only/);
  expect(await world.owner().then((owner) => owner.client(keysArea).listKeys())).toBeDefined();
});
