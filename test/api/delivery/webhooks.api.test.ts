/** The webhooks operations over real HTTP: what is accepted, every refusal, and who sees what. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sendTo } from '../../../src/client/client.ts';
import { type DeliveryWorld, type Subscriber, startDeliveryWorld } from '../../support/delivery-world.ts';
import { refusalOf, statusOf } from '../../support/refusals.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterAll(() => bursar.close());

const url = 'https://hooks.example.com/bursar?tenant=1';
type Answer = { status: number; headers: Headers; text: string; body: unknown };

/** Reads every answer to its end: an answer that is not read keeps its connection open. */
const ask = async (
  method: string,
  path: string,
  options: { key?: string; body?: unknown; headers?: Record<string, string> },
): Promise<Answer> => {
  const answer = await sendTo(
    bursar.apiUrl,
    options.key,
  )({
    method,
    path,
    headers: { 'Content-Type': 'application/json', ...options.headers },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: text === '' ? undefined : JSON.parse(text) };
};
const post = ({ key }: Subscriber, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  ask('POST', '/webhooks', { key, body, headers });

describe('creating', () => {
  // spec: path:POST /webhooks
  // spec: does:Webhooks:webhook subscription management
  test('answers 201 with the record and the secret, which is never returned again', async () => {
    const owner = await bursar.subscriber();
    const answer = await post(owner, { url, events: ['intent.created', 'card.frozen'], description: 'main' });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('cache-control')).toContain('no-store');
    expect(answer.headers.get('x-data-residency')).toBe('EU');
    const made = answer.body as Record<string, unknown>;
    expect(made).toEqual({
      id: expect.stringMatching(/^wh_[0-9a-z]{26}$/),
      url,
      events: ['intent.created', 'card.frozen'],
      description: 'main',
      ordered: false,
      status: 'active',
      disabledReason: null,
      hint: `whsec_…${String(made.secret).slice(-4)}`,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const { secret, ...shown } = made;
    expect(await owner.webhooks.getWebhook({ params: { id: String(made.id) } })).toEqual(shown);
    expect((await owner.webhooks.listWebhooks()).data).toEqual([shown]);
    const dump = JSON.stringify(
      await bursar.world.sql(
        'select to_jsonb(w) as w from webhooks w union all select to_jsonb(e) from events e union all select to_jsonb(a) from audit a',
      ),
    );
    expect(dump).not.toContain(secret);
    expect(dump).toContain('webhook.created');
  });

  test('reserved names of the catalog may be named, and a name twice counts once', async () => {
    const owner = await bursar.subscriber();
    const made = await owner.webhooks.createWebhook({
      body: { url, events: ['card.shipped', 'card.shipped', 'intent.matched'] },
    });
    expect(made.events).toEqual(['card.shipped', 'intent.matched']);
  });

  test('an allowed origin may be named although it is private', async () => {
    const owner = await bursar.subscriber();
    const made = await owner.webhooks.createWebhook({ body: { url: bursar.receiver.urlOf('allowed'), events: ['*'] } });
    expect(made).toMatchObject({ url: bursar.receiver.urlOf('allowed'), events: ['*'], status: 'active' });
  });

  // spec: url-rule:1
  // spec: url-rule:2
  // spec: url-rule:3
  // spec: url-rule:4
  test.each<[unknown, RegExp]>([
    [{ events: ['*'] }, /body\.url/],
    [{ url }, /body\.events/],
    [{ url, events: [] }, /body\.events/],
    [{ url, events: 'card.frozen' }, /body\.events/],
    [{ url, events: [1] }, /body\.events/],
    [{ url, events: ['*', 'card.frozen'] }, /body\.events: "\*" already means every event/],
    [{ url, events: ['card.melted', 'card.frozen'] }, /body\.events: unknown event "card\.melted"/],
    [{ url, events: ['*'], description: 'x'.repeat(501) }, /body\.description/],
    [{ url, events: ['*'], status: 'paused' }, /body/],
    [{ url: 1, events: ['*'] }, /body\.url/],
    [{ url: '', events: ['*'] }, /body\.url/],
    [{ url: 'not a url', events: ['*'] }, /body\.url: the URL holds a space/],
    [{ url: 'hooks.example.com/x', events: ['*'] }, /body\.url: the URL cannot be read/],
    [{ url: 'ftp://hooks.example.com/x', events: ['*'] }, /body\.url: the URL's scheme is ftp; use https or http/],
    [{ url: 'http://localhost:3000/x', events: ['*'] }, /body\.url: localhost is this machine; use a public address/],
    [{ url: 'http://127.0.0.1/x', events: ['*'] }, /loopback/],
    [{ url: 'http://10.1.2.3/x', events: ['*'] }, /10\.1\.2\.3 is private/],
    [{ url: 'http://172.16.0.1/x', events: ['*'] }, /private/],
    [{ url: 'http://192.168.1.1/x', events: ['*'] }, /private/],
    [{ url: 'http://169.254.169.254/latest/meta-data', events: ['*'] }, /link-local/],
    [{ url: 'http://metadata.google.internal/', events: ['*'] }, /metadata/],
    [{ url: 'http://[::ffff:10.0.0.1]/', events: ['*'] }, /private/],
    [{ url: 'http://2130706433/', events: ['*'] }, /loopback/],
    [{ url: 'https://user:pass@hooks.example.com/', events: ['*'] }, /user name or password/],
    [{ url: 'https://hooks.example.com:25/', events: ['*'] }, /port 25/],
    [{ url: `https://hooks.example.com/${'x'.repeat(2_048)}`, events: ['*'] }, /at most 2048/],
    [{ url: `https://hooks.example.com/${'x'.repeat(9_000)}`, events: ['*'] }, /body\.url/],
    [[], /body/],
    ['text', /body/],
  ])('%j is a 400 that says what to change', async (body, why) => {
    const owner = await bursar.subscriber();
    const answer = await post(owner, body);
    expect(answer.status).toBe(400);
    const { error, ...rest } = answer.body as { error: string };
    expect(error).toMatch(why);
    expect(rest).toEqual({});
    expect((await owner.webhooks.listWebhooks()).data).toEqual([]);
  });

  test('twenty have a place however many ask at once, and a deleted one makes room', async () => {
    const owner = await bursar.subscriber();
    const answers = await Promise.all(Array.from({ length: 30 }, () => post(owner, { url, events: ['*'] })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    const refused = answers.filter(({ status }) => status === 400);
    expect(refused).toHaveLength(10);
    expect(refused[0]?.body).toEqual({
      error: 'you have 20 webhook subscriptions, and 20 is the limit; delete one first',
    });
    const [first] = (await owner.webhooks.listWebhooks()).data;
    await owner.webhooks.deleteWebhook({ params: { id: first!.id } });
    expect((await post(owner, { url, events: ['*'] })).status).toBe(201);
    expect((await post(await bursar.subscriber(), { url, events: ['*'] })).status).toBe(201);
  });

  test('the same Idempotency-Key makes one subscription with one secret', async () => {
    const owner = await bursar.subscriber();
    const headers = { 'Idempotency-Key': 'subscribe-1' };
    const first = await post(owner, { url, events: ['*'] }, headers);
    const again = await post(owner, { url, events: ['*'] }, headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    expect((await post(owner, { url, events: ['card.frozen'] }, headers)).status).toBe(409);
    expect((await owner.webhooks.listWebhooks()).data).toHaveLength(1);
  });

  test('a repeat gets the same answer when the first one was lost before it was stored', async () => {
    const owner = await bursar.subscriber();
    const headers = { 'Idempotency-Key': 'lost-answer' };
    const first = await post(owner, { url, events: ['*'] }, headers);
    // As after a crash between the commit and the storing of the answer.
    await bursar.world.sql(
      `update idempotency set status = null, body = null, body_is_sealed = false, lease_until = null where key = 'lost-answer'`,
    );
    const again = await post(owner, { url, events: ['*'] }, headers);
    expect(again.status).toBe(201);
    expect(again.body).toEqual(first.body);
    expect((await owner.webhooks.listWebhooks()).data).toHaveLength(1);
  });

  test('creating and deleting each record one event and one audit row', async () => {
    const owner = await bursar.subscriber();
    const { id } = await owner.webhooks.createWebhook({ body: { url, events: ['card.frozen'] } });
    await owner.webhooks.deleteWebhook({ params: { id } });
    const names = async (table: string, column: string) =>
      (
        await bursar.world.sql<{ name: string }>(
          `select ${column} as name from ${table} where subject_id = $1 order by 1`,
          [id],
        )
      ).map(({ name }) => name);
    expect(await names('events', 'name')).toEqual(['webhook.created', 'webhook.deleted']);
    expect(await names('audit', 'action')).toEqual(['webhook.created', 'webhook.deleted']);
  });
});

describe('reading and deleting', () => {
  test('lists come in pages, newest first', async () => {
    const owner = await bursar.subscriber();
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.unshift((await owner.webhooks.createWebhook({ body: { url, events: ['*'] } })).id);
    const first = await owner.webhooks.listWebhooks({ query: { limit: 3 } });
    expect(first.hasMore).toBe(true);
    const second = await owner.webhooks.listWebhooks({ query: { limit: 3, cursor: first.nextCursor ?? '' } });
    expect(second).toMatchObject({ hasMore: false, nextCursor: null });
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(made);
    expect(await refusalOf(owner.webhooks.listWebhooks({ query: { cursor: 'nonsense' } }))).toEqual([
      400,
      expect.stringMatching(/cursor/),
    ]);
    expect(await refusalOf(owner.webhooks.listWebhooks({ query: { limit: 101 } }))).toEqual([
      400,
      expect.stringMatching(/limit/),
    ]);
  });

  // spec: does:Webhooks:webhook subscription management
  test('a deleted subscription is 404 for every operation', async () => {
    const owner = await bursar.subscriber();
    const { id } = await owner.webhooks.createWebhook({ body: { url, events: ['*'] } });
    const deleted = await ask('DELETE', `/v1/webhooks/${id}`, { key: owner.key });
    expect(deleted.status).toBe(204);
    expect(deleted.text).toBe('');
    for (const call of [
      owner.webhooks.getWebhook,
      owner.webhooks.deleteWebhook,
      owner.webhooks.listWebhookDeliveries,
    ]) {
      expect(await refusalOf(call({ params: { id } }))).toEqual([404, `no webhook ${id}`]);
    }
    expect((await owner.webhooks.listWebhooks()).data).toEqual([]);
    const [row] = await bursar.world.sql<{ sealed_secret: string | null }>(
      'select sealed_secret from webhooks where id = $1',
      [id],
    );
    expect(row).toEqual({ sealed_secret: null });
  });

  test('of two concurrent deletions one succeeds and the other is 404', async () => {
    const owner = await bursar.subscriber();
    const { id } = await owner.webhooks.createWebhook({ body: { url, events: ['*'] } });
    const outcomes = await Promise.all([1, 2, 3].map(() => statusOf(owner.webhooks.deleteWebhook({ params: { id } }))));
    expect(outcomes.sort()).toEqual([200, 404, 404]);
  });

  test('malformed ids are 400, well-formed unknown ones 404', async () => {
    const { webhooks } = await bursar.subscriber();
    expect(await refusalOf(webhooks.getWebhook({ params: { id: 'wh_short' } }))).toEqual([
      400,
      expect.stringMatching(/path\.id/),
    ]);
    expect(await refusalOf(webhooks.getWebhook({ params: { id: 'wh_unknown00' } }))).toEqual([
      404,
      'no webhook wh_unknown00',
    ]);
    expect(await refusalOf(webhooks.getWebhookDelivery({ params: { deliveryId: 'nope' } }))).toEqual([
      400,
      expect.stringMatching(/deliveryId/),
    ]);
    expect(await refusalOf(webhooks.getWebhookDelivery({ params: { deliveryId: 'whd_unknown00' } }))).toEqual([
      404,
      'no delivery whd_unknown00',
    ]);
  });

  test("another owner's subscriptions and deliveries do not exist, and stay", async () => {
    const owner = await bursar.subscriber();
    const stranger = await bursar.subscriber();
    const { id } = await owner.webhooks.createWebhook({ body: { url: bursar.receiver.urlOf('mine'), events: ['*'] } });
    const [delivery] = (await owner.webhooks.listWebhookDeliveries({ params: { id } })).data;
    expect(await refusalOf(stranger.webhooks.getWebhook({ params: { id } }))).toEqual([404, `no webhook ${id}`]);
    expect(await refusalOf(stranger.webhooks.deleteWebhook({ params: { id } }))).toEqual([404, `no webhook ${id}`]);
    expect(await refusalOf(stranger.webhooks.listWebhookDeliveries({ params: { id } }))).toEqual([
      404,
      `no webhook ${id}`,
    ]);
    expect(await refusalOf(stranger.webhooks.getWebhookDelivery({ params: { deliveryId: delivery!.id } }))).toEqual([
      404,
      `no delivery ${delivery!.id}`,
    ]);
    expect((await stranger.webhooks.listWebhooks()).data).toEqual([]);
    expect(await owner.webhooks.getWebhook({ params: { id } })).toMatchObject({ id });
  });

  test('without a key, or with a wrong one, every operation is 401', async () => {
    const calls: [string, string][] = [
      ['POST', '/webhooks'],
      ['GET', '/webhooks'],
      ['GET', '/webhooks/wh_unknown00'],
      ['DELETE', '/webhooks/wh_unknown00'],
      ['GET', '/webhooks/wh_unknown00/deliveries'],
      ['GET', '/webhooks/deliveries/whd_unknown00'],
    ];
    for (const token of [undefined, 'sk_sandbox_wrong0000000000000000', 'at_test_wrong000000000000000000']) {
      for (const [method, path] of calls) {
        const answer = await ask(method, path, token === undefined ? {} : { key: token });
        expect([path, answer.status]).toEqual([path, 401]);
      }
    }
  });
});

describe('deliveries', () => {
  test('they are listed newest first in pages, by status, event and time, and read with their payload', async () => {
    const owner = await bursar.subscriber();
    const { id } = await owner.webhooks.createWebhook({
      body: { url: bursar.receiver.urlOf('listed'), events: ['*'] },
    });
    for (let i = 0; i < 3; i++) await bursar.emit(owner.ownerId, 4, i === 1 ? 'policy.updated' : 'policy.created');
    await bursar.relay();
    const list = (query: object = {}) => owner.webhooks.listWebhookDeliveries({ params: { id }, query });
    await eventually(
      () => list({ limit: 100 }),
      ({ data }) => data.length === 13 && data.every(({ status }) => status === 'succeeded'),
    );
    await bursar.stopRelays();

    const all = (await list({ limit: 100 })).data;
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await list({ limit: 4, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.data.map((one) => one.id));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(all.map((one) => one.id));
    expect(new Set(seen).size).toBe(13);
    expect((await list({ event: 'policy.updated' })).data).toHaveLength(4);
    expect((await list({ status: 'succeeded' })).data).toHaveLength(13);
    expect((await list({ status: 'dead' })).data).toEqual([]);
    const middle = all.find(({ event }) => event === 'policy.updated')!.createdAt;
    expect((await list({ from: middle, limit: 100 })).data).toHaveLength(8);
    expect((await list({ to: middle, limit: 100 })).data).toHaveLength(5);
    expect(await refusalOf(list({ status: 'lost' }))).toEqual([400, expect.stringMatching(/query\.status/)]);
    expect(await refusalOf(list({ from: 'yesterday' }))).toEqual([400, expect.stringMatching(/query\.from/)]);

    const whole = await owner.webhooks.getWebhookDelivery({ params: { deliveryId: all[0]!.id } });
    expect(whole).toMatchObject({ ...all[0], payload: { event: all[0]!.event, data: { id: 'po_00000003' } } });
    expect(whole.attempts).toHaveLength(1);
  });
});
