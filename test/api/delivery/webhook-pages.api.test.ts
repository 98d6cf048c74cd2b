/**
 * Goal: the link of a subscription's page opens this page only, while the link is valid; the page counts every attempt and
 * shows no secret; and its buttons do what the owner could do. Method: the real API, relay, worker and Temporal, with
 * real receivers.
 * @module
 */
import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { webhookPagesArea } from '../../../src/domains/delivery/webhook-pages/webhook-page.contract.ts';
import { createPageLink, revokePageLink } from '../../../src/domains/delivery/webhook-pages/webhook-page.service.ts';
import { webhooksArea } from '../../../src/domains/delivery/webhooks/webhook.contract.ts';
import { customersArea } from '../../../src/domains/parties/customers/customer.contract.ts';
import type { ReachedId } from '../../../src/http/reaches.ts';
import { uuidv7 } from '../../../src/kernel/ids.ts';
import { hour } from '../../../src/kernel/instant.ts';
import type { Cause } from '../../../src/platform/cause.ts';
import { purgeDeliveries } from '../../../src/usecases/delivery/purge-deliveries.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { aPageLink } from '../../support/factories/webhook-pages.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import { hanging, inTurn, status } from '../../support/receiver.ts';
import { refusalOf } from '../../support/refusals.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let bursar: DeliveryWorld;
const lines: string[] = [];
let quiet: World;
beforeAll(async () => {
  bursar = await startDeliveryWorld({ retries: true });
  quiet = await startWorld({
    env: { LOG_LEVEL: 'trace', TEMPORAL_ADDRESS: '127.0.0.1:9' },
    onLogLine: (line) => lines.push(line),
  });
});
afterEach(() => bursar.stopRelays());
afterAll(async () => {
  await bursar.close();
  await quiet.close();
});

const pages = (world: World) => world.as('').client(webhookPagesArea);

/** A subscription at one of the test's receivers, and its page. */
async function watched(box: string, { path = '', events = ['policy.created'] } = {}) {
  const subscriber = await bursar.subscriber();
  const owner = { ...subscriber, client: bursar.world.as(subscriber.key).client };
  const url = `${bursar.receiver.urlOf(box)}${path}`;
  const webhook = await owner.webhooks.createWebhook({ body: { url, events } });
  const params = { token: (await aPageLink(owner, webhook.id)).token };
  const client = pages(bursar.world);
  return {
    ...owner,
    id: webhook.id,
    secret: webhook.secret,
    params,
    client,
    page: (period?: '24h' | '7d') => client.getWebhookPage({ params, ...(period && { query: { period } }) }),
    records: () =>
      bursar.world.sql<{ action: string; actor: string; details: object }>(
        'select action, actor, details from audit where subject_id = $1 order by created_at, id',
        [webhook.id],
      ),
    attemptsKept: async () =>
      (
        await bursar.world.sql<{ made: number }>(
          `select coalesce(sum(jsonb_array_length(attempts) + (success_status is not null)::int), 0)::int as made
           from webhook_deliveries where webhook_id = $1`,
          [webhook.id],
        )
      )[0]?.made,
  };
}

describe('the link', () => {
  const aQuietWebhook = async () => {
    const owner = await quiet.owner();
    const body = { url: 'https://hooks.example.com/in/s3cret?key=k3y', events: ['card.shipped'] };
    const webhooks = owner.client(webhooksArea);
    const { id } = await webhooks.createWebhook({ body });
    return { owner, webhooks, id };
  };

  test('it is stored as a hash, recorded without its token, and in no line of the log', async () => {
    const { owner, id } = await aQuietWebhook();
    const made = await aPageLink(owner, id, { expiresInHours: 2 });
    expect(made.url).toBe(`${quiet.config.publicUrl}/webhook-pages/${made.token}`);
    expect(made.token).toMatch(/^[0-9a-f]{32}$/);
    expect(Date.parse(made.expiresAt) - Date.now()).toBeLessThanOrEqual(2 * hour);
    expect(Date.parse(made.expiresAt) - Date.now()).toBeGreaterThan(hour);
    const [row] = await quiet.sql('select token_hash from webhook_page_links where webhook_id = $1', [id]);
    expect(row).toEqual({ token_hash: createHash('sha256').update(made.token).digest('hex') });
    const records = await quiet.sql<{ record: object }>(
      `select to_jsonb(e) as record from events e union all select to_jsonb(a) from audit a
       union all select to_jsonb(t) from transitions t`,
    );
    expect(records.map(({ record }) => record)).toContainEqual(
      expect.objectContaining({
        name: 'webhook_page_link.created',
        data: { id, ownerId: owner.ownerId, expiresAt: made.expiresAt },
      }),
    );
    expect(records.map(({ record }) => record)).toContainEqual(
      expect.objectContaining({ action: 'webhook_page_link.created', actor: expect.stringMatching(/^key:key_/) }),
    );
    expect(JSON.stringify(records)).not.toContain(made.token);

    const params = { token: made.token };
    await pages(quiet).getWebhookPage({ params });
    await pages(quiet).testByLink({ params, body: {} });
    expect(await refusalOf(pages(quiet).retryByLink({ params, body: {} }))).toEqual([
      400,
      'no delivery waits for another attempt',
    ]);
    await quiet.as('').send({ method: 'PUT', path: `/webhook-pages/${made.token}`, headers: {} });
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('\n')).not.toContain(made.token);
  });

  test('it names host and plan, never the path of the receiver, its secret or the owner', async () => {
    const { owner, id } = await aQuietWebhook();
    const { token, url } = await aPageLink(owner, id);
    const answer = await pages(quiet).getWebhookPage({ params: { token } });
    expect(answer).toMatchObject({
      webhookId: id,
      host: 'hooks.example.com',
      status: 'active',
      plan: 'enterprise',
      maxAttempts: 5,
      failing: null,
      period: '24h',
      whole: { attempts: 0, failures: 0, meanMs: null, slowestMs: null },
      queue: { unsent: 0, retrying: 0, underWay: 0, oldestAt: null, nextAttemptAt: null },
      deadLetters: { letters: 0, hasMore: false, newest: [] },
    });
    const html = await fetch(url.replace(quiet.config.publicUrl, quiet.apiUrl), { headers: { Accept: 'text/html' } });
    const said = `${JSON.stringify(answer)}${await html.text()}`;
    for (const secret of ['s3cret', 'k3y', 'whsec_', owner.ownerId, owner.key, token]) {
      expect(said).not.toContain(secret);
    }
    expect(Object.fromEntries(html.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'content-security-policy': expect.stringContaining("script-src 'self'"),
    });
  });

  test('unknown, replaced, revoked and expired links, and links of deleted subscriptions, get the same 404 from every operation', async () => {
    const { owner, webhooks, id } = await aQuietWebhook();
    const link = async () => ({ token: (await aPageLink(owner, id)).token });
    const client = pages(quiet);
    const refusals = (params: { token: string }) =>
      Promise.all(
        [
          client.getWebhookPage({ params }),
          client.testByLink({ params, body: {} }),
          client.retryByLink({ params, body: {} }),
          client.abandonByLink({ params, body: {} }),
          client.redeliverByLink({ params, body: {} }),
        ].map(refusalOf),
      );
    const same = Array.from({ length: 5 }, () => [404, 'no subscription has this link, or its time is over']);
    expect(await refusals({ token: 'f'.repeat(32) })).toEqual(same);
    expect(await refusals({ token: id })).toEqual(same);
    const replaced = await link();
    const revoked = await link();
    expect(await refusals(replaced)).toEqual(same);
    expect(await client.getWebhookPage({ params: revoked })).toMatchObject({ webhookId: id });
    const area = owner.client(webhookPagesArea);
    await area.revokeWebhookPageLink({ params: { id } });
    await area.revokeWebhookPageLink({ params: { id } });
    expect(await refusals(revoked)).toEqual(same);
    const expired = await link();
    await quiet.sql('update webhook_page_links set expires_at = now() where webhook_id = $1', [id]);
    expect(await refusals(expired)).toEqual(same);
    const deleted = await link();
    await webhooks.deleteWebhook({ params: { id } });
    expect(await refusals(deleted)).toEqual(same);
    expect(await refusalOf(area.createWebhookPageLink({ params: { id }, body: {} }))).toEqual([
      404,
      expect.stringContaining(id),
    ]);
    const recorded = await quiet.sql<{ name: string }>(
      `select name from events where owner_id = $1 and name like 'webhook_page_link.%' order by seq`,
      [owner.ownerId],
    );
    const [created, ended] = ['webhook_page_link.created', 'webhook_page_link.revoked'];
    expect(recorded.map(({ name }) => name)).toEqual([created, created, ended, created, created]);
  });

  test('a repeat of the request that made it makes another token, and none once it was revoked or replaced', async () => {
    const subscriber = await bursar.subscriber();
    const body = { url: bursar.receiver.urlOf('repeated-link'), events: ['policy.created' as const] };
    const webhook = await subscriber.webhooks.createWebhook({ body });
    const name = { id: webhook.id as ReachedId<'webhook'>, ownerId: subscriber.ownerId };
    const { database, clock } = bursar.infrastructure;
    const causeOf = async (): Promise<Cause> => ({
      causeId: uuidv7(),
      requestId: uuidv7(),
      actor: { kind: 'system' },
      at: await clock.now(),
    });
    const make = (cause: Cause) => database.write((tx) => createPageLink(tx, name, { expiresInHours: 1 }, cause));
    const shows = async (token: string) =>
      (await pages(bursar.world).getWebhookPage({ params: { token } })).webhookId === webhook.id;
    const [first, second] = [await causeOf(), await causeOf()];
    const made = await make(first);
    const again = await make(first);
    expect((await refusalOf(shows(made.token)))[0]).toBe(404);
    expect(await shows(again.token)).toBe(true);
    const replacement = await make(second);
    await expect(make(first)).rejects.toThrow('the link of this request was revoked or replaced');
    expect(await shows(replacement.token)).toBe(true);
    await bursar.world
      .as(subscriber.key)
      .client(webhookPagesArea)
      .revokeWebhookPageLink({ params: { id: webhook.id } });
    await expect(make(second)).rejects.toThrow('the link of this request was revoked or replaced');
    const left = await bursar.world.sql('select 1 from webhook_page_links where webhook_id = $1', [webhook.id]);
    expect(left).toEqual([]);

    const links = bursar.world.as(subscriber.key).client(webhookPagesArea);
    const params = { id: webhook.id };
    const keyed = () => links.createWebhookPageLink({ params, body: {}, headers: { 'Idempotency-Key': 'link-once' } });
    await keyed();
    await links.revokeWebhookPageLink({ params });
    await bursar.world.sql(
      `update idempotency set status = null, body = null, body_is_sealed = false, lease_until = null
       where key = 'link-once'`,
    );
    expect(await refusalOf(keyed())).toEqual([400, 'the link of this request was revoked or replaced']);
  });

  test('a call that waits while the link is revoked does nothing', async () => {
    const one = await watched('revoked-meanwhile');
    bursar.receiver.answers('revoked-meanwhile', status(500, { headers: { 'retry-after': '3600' } }));
    await bursar.emit(one.ownerId);
    await eventually(one.page, ({ queue }) => queue.retrying === 1);
    const { client, params } = one;
    const { database, clock } = bursar.infrastructure;
    const actor = { kind: 'system' } as const;
    const cause: Cause = { causeId: uuidv7(), requestId: uuidv7(), actor, at: await clock.now() };
    let asked: Promise<unknown>[] = [];
    await database.write(async (tx) => {
      await revokePageLink(tx, { id: one.id as ReachedId<'webhook'>, ownerId: one.ownerId }, cause);
      asked = [
        client.testByLink({ params, body: {} }),
        client.retryByLink({ params, body: {} }),
        client.abandonByLink({ params, body: {} }),
        client.redeliverByLink({ params, body: {} }),
      ].map(refusalOf);
      await someoneWaits(bursar.world, {
        count: asked.length,
        statement: 'select from webhooks where id = % for no key update',
      });
    });
    for (const refusal of asked) {
      expect(await refusal).toEqual([404, 'no subscription has this link, or its time is over']);
    }
    expect((await one.records()).filter(({ actor: by }) => by.startsWith('webhook-page:'))).toEqual([]);
    const kept = await bursar.world.sql('select status from webhook_deliveries where webhook_id = $1', [one.id]);
    expect(kept).toEqual([{ status: 'pending' }]);
  });

  test('another owner neither makes nor revokes it', async () => {
    const { owner, id } = await aQuietWebhook();
    const { token } = await aPageLink(owner, id);
    const stranger = (await quiet.owner()).client(webhookPagesArea);
    expect((await refusalOf(stranger.createWebhookPageLink({ params: { id }, body: {} })))[0]).toBe(404);
    expect((await refusalOf(stranger.revokeWebhookPageLink({ params: { id } })))[0]).toBe(404);
    expect(await pages(quiet).getWebhookPage({ params: { token } })).toMatchObject({ webhookId: id });
  });

  test('without Temporal, retrying and giving up are 503: nothing is changed, and who asked is recorded', async () => {
    const { owner, id } = await aQuietWebhook();
    const { token } = await aPageLink(owner, id);
    const params = { token };
    const { deliveryId } = await pages(quiet).testByLink({ params, body: {} });
    await quiet.sql(
      `update webhook_deliveries set attempts_made = 1, claims = 1, next_attempt_at = now() + interval '1 hour' where id = $1`,
      [deliveryId],
    );
    await quiet.sql(
      `insert into workflow_runs (id, workflow, subject_id, owner_id, stage, created_at)
       values ('webhook-endpoint/' || $1, 'webhookEndpoint', $1, $2, 'retrying', now())`,
      [id, owner.ownerId],
    );
    const before = await quiet.sql('select * from webhook_deliveries where id = $1', [deliveryId]);
    expect((await refusalOf(pages(quiet).retryByLink({ params, body: {} })))[0]).toBe(503);
    expect((await refusalOf(pages(quiet).abandonByLink({ params, body: {} })))[0]).toBe(503);
    expect(await quiet.sql('select * from webhook_deliveries where id = $1', [deliveryId])).toEqual(before);
    const asked = ['webhook_delivery.retry_requested', 'webhook_delivery.abandon_requested'];
    const events = await quiet.sql<{ name: string; data: object }>(
      `select name, data from events where subject_id = $1 and name = any($2::text[]) order by seq`,
      [id, asked],
    );
    expect(events).toEqual(asked.map((name) => ({ name, data: { id, ownerId: owner.ownerId, deliveries: 1 } })));
    const actors = await quiet.sql(
      'select action, actor from audit where subject_id = $1 and action = any($2::text[]) order by id',
      [id, asked],
    );
    expect(actors).toEqual(asked.map((action) => ({ action, actor: `webhook-page:${id}` })));
  });
});

describe('what the page counts', () => {
  test('each attempt once, by its outcome, and nothing of what the receiver answered', async () => {
    const one = await watched('counted', { path: '' });
    const s3cret = { body: 'the receiver says s3cret words' };
    bursar.receiver.answers('counted', inTurn(status(200), status(500, s3cret), status(200)));
    for (let attempts = 1; attempts <= 3; attempts++) {
      await bursar.emit(one.ownerId);
      await eventually(one.page, ({ whole }) => whole.attempts >= attempts);
    }
    const shown = await eventually(one.page, ({ queue }) => queue.retrying === 1);
    expect(shown.whole).toMatchObject({ attempts: 3, failures: 1, meanMs: expect.any(Number) });
    expect(await one.attemptsKept()).toBe(3);
    expect(shown.parts).toHaveLength(24);
    expect(shown.parts.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(3);
    expect(shown.queue).toMatchObject({ unsent: 0, retrying: 1, nextAttemptAt: expect.any(String) });
    const week = await one.page('7d');
    expect([week.parts.length, week.whole]).toEqual([28, shown.whole]);
    expect(JSON.stringify([shown, week])).not.toContain('s3cret');
  });

  test('an attempt without an answer has no time, and old hours are removed', async () => {
    const one = await watched('silent');
    bursar.receiver.answers('silent', (response) => void response.destroy());
    await bursar.emit(one.ownerId);
    const shown = await eventually(one.page, ({ whole, failing }) => whole.attempts === 1 && failing !== null);
    expect(shown.whole).toEqual({ attempts: 1, failures: 1, meanMs: null, slowestMs: null });
    expect(shown.failing).toMatchObject({ failures: 1, lastStatus: null, isProbed: false });
    const { database, clock } = bursar.infrastructure;
    await bursar.world.sql(
      `insert into webhook_hours select webhook_id, hour - interval '9 days', 1, 0, 0, 0, 0 from webhook_hours where webhook_id = $1`,
      [one.id],
    );
    const hours = () => bursar.world.sql('select 1 from webhook_hours where webhook_id = $1', [one.id]);
    expect(await hours()).toHaveLength(2);
    await purgeDeliveries({ database })({ deliveries: 90, events: 400 }, await clock.now());
    expect(await hours()).toHaveLength(1);
  });
});

describe('the buttons', () => {
  test('retry now attempts what waits; event and audit row name the page', async () => {
    const one = await watched('retried');
    bursar.receiver.answers('retried', inTurn(status(503), status(200)));
    await bursar.emit(one.ownerId);
    await eventually(one.page, ({ queue }) => queue.retrying === 1);
    expect(await one.client.retryByLink({ params: one.params, body: {} })).toEqual({ deliveries: 1 });
    await eventually(one.page, ({ queue, whole }) => queue.retrying === 0 && whole.attempts === 2);
    expect(bursar.receiver.received('retried')).toHaveLength(2);
    expect(await one.page()).toMatchObject({ failing: null, whole: { attempts: 2, failures: 1 } });
    expect(await one.records()).toContainEqual(
      expect.objectContaining({ action: 'webhook_delivery.retry_requested', actor: `webhook-page:${one.id}` }),
    );
    for (const asked of [one.client.retryByLink, one.client.abandonByLink]) {
      expect(await refusalOf(asked({ params: one.params, body: {} }))).toEqual([
        400,
        'no delivery waits for another attempt',
      ]);
    }
  });

  test('giving up makes dead letters; one and then all are delivered again, and no other subscription’s', async () => {
    const one = await watched('given-up');
    const other = await watched('not-given-up');
    for (const box of ['given-up', 'not-given-up']) bursar.receiver.answers(box, status(500));
    for (const { ownerId, page } of [one, other]) {
      await bursar.emit(ownerId, 3);
      await eventually(page, ({ queue }) => queue.retrying === 3);
    }
    for (const { client, params } of [one, other]) {
      expect(await client.abandonByLink({ params, body: {} })).toEqual({ deliveries: 3 });
    }
    const { deadLetters } = await one.page();
    expect(deadLetters).toMatchObject({ letters: 3, hasMore: false });
    expect(deadLetters?.newest[0]).toMatchObject({
      event: 'policy.created',
      attempts: 1,
      lastStatus: 500,
      lostReason: 'given up by an operator',
    });
    expect(await one.records()).toContainEqual(
      expect.objectContaining({ action: 'webhook_delivery.abandon_requested', actor: `webhook-page:${one.id}` }),
    );

    bursar.receiver.answers('given-up', status(200));
    const { params } = one;
    const foreign = (await other.page()).deadLetters?.newest.map(({ id }) => id) ?? [];
    expect(await one.client.redeliverByLink({ params, body: { ids: foreign } })).toEqual({ queued: 0, hasMore: false });
    expect((await other.page()).deadLetters?.letters).toBe(3);
    const own = deadLetters?.newest[0]?.id ?? '';
    expect(await one.client.redeliverByLink({ params, body: { ids: [own] } })).toMatchObject({ queued: 1 });
    expect((await one.page()).deadLetters?.letters).toBe(2);
    expect(await one.client.redeliverByLink({ params, body: {} })).toEqual({ queued: 2, hasMore: false });
    expect((await one.page()).deadLetters?.letters).toBe(0);
    await eventually(one.page, ({ failing, queue }) => failing === null && queue.unsent + queue.underWay === 0);
    expect(await one.attemptsKept()).toBe(6);
    expect((await one.page()).whole).toMatchObject({ attempts: 6, failures: 3 });
  });

  test('a test event arrives with the mark of a test', async () => {
    const one = await watched('tested');
    const { deliveryId } = await one.client.testByLink({ params: one.params, body: {} });
    const [received] = await eventually(
      async () => bursar.receiver.received('tested'),
      (all) => all.length > 0,
    );
    expect(received?.headers['webhook-id']).toBe(deliveryId);
    expect(JSON.parse(received?.body ?? '')).toMatchObject({ event: 'transaction.completed', data: { test: true } });
    expect(await one.records()).toContainEqual(
      expect.objectContaining({ action: 'webhook_delivery.requested', actor: `webhook-page:${one.id}` }),
    );
  });

  test('while the subscription is paused, the page says so and sends nothing; giving up works', async () => {
    const one = await watched('paused-page');
    bursar.receiver.answers('paused-page', status(500));
    await bursar.emit(one.ownerId);
    await eventually(one.page, ({ queue }) => queue.retrying === 1);
    await one.webhooks.updateWebhook({ params: { id: one.id }, body: { status: 'paused' } });
    expect(await one.page()).toMatchObject({ status: 'paused', queue: { retrying: 1 } });
    const { params } = one;
    expect(await refusalOf(one.client.retryByLink({ params, body: {} }))).toEqual([
      400,
      'the subscription is paused, and nothing is sent',
    ]);
    expect((await refusalOf(one.client.testByLink({ params, body: {} })))[0]).toBe(400);
    expect(await one.client.abandonByLink({ params, body: {} })).toEqual({ deliveries: 1 });
    expect((await refusalOf(one.client.redeliverByLink({ params, body: {} })))[0]).toBe(400);
    expect((await one.page()).deadLetters?.letters).toBe(1);
  });

  test('a receiver that answers 410: the page says why the subscription is disabled, and lists the dead letters', async () => {
    const one = await watched('gone-page');
    bursar.receiver.answers('gone-page', status(410));
    await bursar.emit(one.ownerId);
    expect(await eventually(one.page, ({ status: now }) => now === 'disabled')).toMatchObject({
      disabledReason: 'the receiver answered 410 Gone',
      deadLetters: { letters: 1, newest: [{ lastStatus: 410, lostReason: null }] },
    });
  });

  test('on a plan without dead letters there are none, and redelivering is refused', async () => {
    const one = await watched('planned');
    await bursar.world.as(one.key).client(customersArea).getOwnCustomer();
    await bursar.world.sql(`update customers set plan = 'business' where owner_id = $1`, [one.ownerId]);
    const shown = await one.page();
    expect([shown.plan, shown.deadLetters]).toEqual(['business', null]);
    expect((await refusalOf(one.client.redeliverByLink({ params: one.params, body: {} })))[0]).toBe(403);
  });
});

test('attempts that hang are shown as under way until they end', async () => {
  const one = await watched('hanging-page');
  bursar.receiver.answers('hanging-page', hanging);
  await bursar.emit(one.ownerId);
  const shown = await eventually(one.page, ({ queue }) => queue.underWay === 1);
  expect(shown).toMatchObject({ whole: { attempts: 0 }, queue: { unsent: 0, retrying: 0 } });
});
