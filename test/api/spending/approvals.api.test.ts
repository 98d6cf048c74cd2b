/**
 * Goal: an approver's link shows, denies and, with a passkey, approves its one intent and nothing else, and is known
 * only to the owner and the operator. Method: real HTTP, real signatures by software passkeys, the real worker.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Refused } from '../../../src/client/client.ts';
import { type ApprovalWire, approvalsArea } from '../../../src/domains/identity/approvals/approval.contract.ts';
import { passkeysArea } from '../../../src/domains/identity/passkeys/passkey.contract.ts';
import { customersArea } from '../../../src/domains/parties/customers/customer.contract.ts';
import { day, hour } from '../../../src/kernel/instant.ts';
import { cents, eurosFromCents } from '../../../src/kernel/money.ts';
import { eventNamesOf } from '../../support/events.ts';
import { anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { aPasskey, type EnrolledPasskey } from '../../support/factories/passkeys.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { openTemporal } from '../../support/operator-view.ts';
import { refusalOf } from '../../support/refusals.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
let api: ReturnType<typeof clientsOf>;
let agentId: string;
let agentToken: string;
let passkey: EnrolledPasskey;

beforeAll(async () => {
  world = await startWorld({ worker: true });
  ({ owner, api, agentId, agentToken } = await someone('Shopping agent'));
  passkey = await aPasskey(world, owner);
});
afterAll(async () => {
  await world.close();
});

/** An owner with an agent that may spend 100.00 at once, and up to 50.00 without asking. */
async function someone(name: string) {
  const made = await world.owner();
  const clients = clientsOf(made);
  await clients.fund.fundWallet({ body: { amountEuros: 500 } });
  const agent = await clients.agents.createAgent({ body: { name } });
  await clients.policies.updateAgentPolicy({
    params: { agentId: agent.id },
    body: { dailyLimitEuros: 10_000, monthlyLimitEuros: 10_000 },
  });
  const { token } = await clients.tokens.createAgentToken({ params: { id: agent.id }, body: {} });
  return { owner: made, api: clients, agentId: agent.id, agentToken: token };
}

const asked = { purpose: 'a reference book', expectedAmountEuros: 80, expectedMerchant: 'Example Shop' };
const declare = (more: object = {}) => api.intents.declareIntent({ body: { agentId, ...asked, ...more } });
const tokenOf = (approvalUrl: string | null): string => approvalUrl?.split('/').at(-1) ?? '';

/** Calls without a credential; the link's token is in the path. */
const approver = () => world.as('').client(approvalsArea);
const anybody = (path: string, init: RequestInit = {}) => fetch(`${world.apiUrl}${path}`, init);
const waiting = async (more: object = {}) => {
  const intent = await declare(more);
  return { intent, token: tokenOf(intent.approvalUrl) };
};
const approve = async (token: string, by = passkey) => {
  const challenge = await approver().createApprovalChallenge({ params: { token }, body: {} });
  return approver().approveByLink({ params: { token }, body: { webauthnAssertion: by.answer(challenge) } });
};
const auditsOf = (id: string) =>
  world.sql<{ action: string; actor: string }>(
    'select action, actor from audit where subject_id = $1 order by created_at, id',
    [id],
  );

describe('the link', () => {
  test('is the owner’s to read while the intent waits, the same each time, and no agent’s', async () => {
    const { intent, token } = await waiting();
    expect(intent.approvalUrl).toBe(`${world.config.publicUrl}/approve/${token}`);
    expect(token).toMatch(/^[0-9a-f]{32}$/);
    expect((await api.intents.getIntent({ params: { id: intent.id } })).approvalUrl).toBe(intent.approvalUrl);
    const listed = await api.intents.listIntents({ query: { status: 'pending_approval' } });
    expect(listed.data.find(({ id }) => id === intent.id)?.approvalUrl).toBe(intent.approvalUrl);

    const asAgent = clientsOf(world.as(agentToken));
    expect((await asAgent.intents.declareIntent({ body: asked })).approvalUrl).toBeNull();
    expect((await asAgent.intents.getIntent({ params: { id: intent.id } })).approvalUrl).toBeNull();
    const own = await asAgent.intents.listIntents({ query: {} });
    expect(own.data.map(({ approvalUrl }) => approvalUrl).filter((url) => url !== null)).toEqual([]);

    const other = await waiting();
    expect(other.token).not.toBe(token);
    await api.intents.denyIntent({ params: { id: intent.id as never }, body: {} });
    expect((await api.intents.getIntent({ params: { id: intent.id } })).approvalUrl).toBeNull();
    expect((await declare({ expectedAmountEuros: 5 })).approvalUrl).toBeNull();
  });

  test('is stored nowhere in clear text, also not in stored answers, events and deliveries', async () => {
    const headers = {
      Authorization: `Bearer ${owner.key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID(),
    };
    const body = JSON.stringify({ agentId, ...asked });
    const first = await (await anybody('/intents', { method: 'POST', headers, body })).text();
    const token = tokenOf((JSON.parse(first) as { approvalUrl: string }).approvalUrl);
    expect(token).toHaveLength(32);
    const again = await anybody('/intents', { method: 'POST', headers, body });
    expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', first]);
    await anybody(`/approve/${token}/deny`, { method: 'POST', body: '{}' });
    await anybody(`/approve/${token}/nothing-here`, { method: 'PUT' });
    const tables = await world.sql<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const hits = await world.sql(`select 1 from ${name} t where t::text like $1`, [`%${token}%`]);
      if (hits.length > 0) found.push(name);
    }
    expect(found).toEqual([]);
    expect(tables.length).toBeGreaterThan(25);
  });

  test('is in the run’s current details, also after the run was lost, and is removed when the intent is decided', async () => {
    const { intent } = await waiting();
    const temporal = await openTemporal();
    const detailsOf = () => temporal.viewOf(`intent/${intent.id}`).then(({ details }) => details);
    const told = (details: string) => details.includes(intent.approvalUrl ?? 'nothing');
    await temporal.started(`intent/${intent.id}`);
    await eventually(detailsOf, told);
    await temporal.client.workflow.getHandle(`intent/${intent.id}`).terminate('lost');
    await world.sql('update workflow_runs set wanted_wake = true, started_epoch = null where subject_id = $1', [
      intent.id,
    ]);
    await eventually(
      () => temporal.viewOf(`intent/${intent.id}`),
      ({ status, details }) => status === 'RUNNING' && told(details),
    );
    await api.intents.denyIntent({ params: { id: intent.id as never }, body: {} });
    expect(await eventually(detailsOf, (details) => details.endsWith('Done: denied.'))).not.toContain('/approve/');
    await temporal.close();
  });
});

/** What the link still shows of `asked`. */
const decidedBook = {
  agentName: 'Shopping agent',
  amountEuros: eurosFromCents(cents(8_000)),
  maxChargeEuros: eurosFromCents(cents(8_000)),
  cadence: null,
  lastChargeOn: null,
  facts: [{ name: 'merchant', label: 'Where', text: 'Example Shop', isQuoted: true }],
};

describe('the content of the page', () => {
  test('names the owner’s business, and of a request that recurs each charge and the last day of one', async () => {
    const other = await someone('Subscriber');
    const customers = other.owner.client(customersArea);
    const { id } = await customers.getOwnCustomer();
    await customers.updateCustomer({ params: { id }, body: { companyName: 'Müller & Söhne <GmbH>' } });
    const intent = await other.api.intents.declareIntent({
      body: { agentId: other.agentId, ...asked, ttlMinutes: 100 * 24 * 60, recurring: { cadence: 'monthly' } },
    });
    const token = tokenOf(intent.approvalUrl);
    const { businessName, request } = await approver().getApproval({ params: { token } });
    expect(businessName).toBe('Müller & Söhne <GmbH>');
    const last = request?.lastChargeOn ?? '';
    const [first, end] = [new Date(intent.createdAt), new Date(intent.expiresAt)];
    expect(Date.parse(last)).toBeGreaterThan(end.getTime() - 31 * day);
    expect(Date.parse(last)).toBeLessThanOrEqual(end.getTime());
    expect(Date.parse(last)).toBeGreaterThan(first.getTime());
    const page = await (await anybody(`/approve/${token}`, { headers: { Accept: 'text/html' } })).text();
    const [year = '', month = '', date = ''] = last.split('-');
    const spelled = new Date(last).toLocaleDateString('en-GB', { month: 'long', timeZone: 'UTC' });
    expect(page).toContain('Müller &amp; Söhne &lt;GmbH&gt;');
    expect(page).toMatch(/up to \d+\.\d\d EUR each/);
    expect([page, month]).toEqual([expect.stringContaining(`${Number(date)} ${spelled} ${year}`), month]);
    await approver().denyByLink({ params: { token }, body: {} });
    expect((await approver().getApproval({ params: { token } })).decided).toMatchObject({ cadence: 'monthly' });
  });

  test('everything a person decides by, as JSON and as a page', async () => {
    const { intent, token } = await waiting();
    expect(await approver().getApproval({ params: { token } })).toEqual({
      kind: 'intent',
      id: intent.id,
      status: 'pending_approval',
      businessName: null,
      request: {
        title: 'Approve a payment',
        agentName: 'Shopping agent',
        asks: 'asks to spend',
        purpose: 'a reference book',
        amountEuros: eurosFromCents(cents(8_000)),
        maxChargeEuros: eurosFromCents(cents(8_000)),
        cadence: null,
        lastChargeOn: null,
        facts: [{ name: 'merchant', label: 'Where', text: 'Example Shop', isQuoted: true }],
        changes: [],
        rule: 'this agent may spend up to 50.00 EUR without asking: a person has to approve 80.00 EUR',
        demandsPasskey: false,
        denies: 'Deny the payment',
        decideBy: intent.expiresAt,
      },
      decided: null,
      passkey: { state: 'ready', blockedUntil: null, origin: new URL(world.config.publicUrl).origin },
      outcome: null,
      businessTime: null,
    } satisfies ApprovalWire);

    const page = await anybody(`/approve/${token}`, { headers: { Accept: 'text/html,*/*;q=0.8' } });
    const text = await page.text();
    for (const word of ['Shopping agent', '80.00 EUR', 'a reference book', 'Example Shop', 'Approve with a passkey']) {
      expect(text).toContain(word);
    }
    expect((await anybody(`/v1/approve/${token}`)).status).toBe(200);
  });

  test('with headers that keep a page to itself', async () => {
    const { token } = await waiting();
    for (const path of [`/approve/${token}`, '/approve/unknown', '/docs/passkeys']) {
      const { headers } = await anybody(path, { headers: { Accept: 'text/html' } });
      const policy = headers.get('content-security-policy') ?? '';
      expect([path, policy]).toEqual([path, expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/)]);
      expect(policy).not.toMatch(/unsafe|https:|data:|\*/);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': expect.stringMatching(/^text\/html; charset=utf-8/i),
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'x-data-residency': 'EU',
        'x-request-id': expect.any(String),
      });
    }
    expect((await anybody(`/approve/${token}`)).headers.get('vary')).toMatch(/accept/i);
  });

  test('nothing for an invalid link, for every operation, and does not repeat it', async () => {
    const { token } = await waiting();
    const wrong = [token.replace(/.$/, (last) => (last === '0' ? '1' : '0')), token.toUpperCase(), 'x', '%00', 'int_1'];
    for (const text of wrong.filter((one) => one !== token)) {
      for (const [method, path] of [
        ['GET', ''],
        ['POST', '/challenge'],
        ['POST', '/deny'],
      ] as const) {
        for (const Accept of ['application/json', 'text/html']) {
          const answer = await anybody(`/approve/${text}${path}`, { method, headers: { Accept } });
          expect([method, path, answer.status]).toEqual([method, path, text === '%00' ? 400 : 404]);
          const said = await answer.text();
          if (text.length > 6) expect(said.toLowerCase()).not.toContain(text.toLowerCase());
        }
      }
    }
    const page = await anybody('/approve/x', { headers: { Accept: 'text/html' } });
    expect(await page.text()).toContain('<h1>No such link</h1>');
    const webauthnAssertion = passkey.answer(await approver().createApprovalChallenge({ params: { token }, body: {} }));
    const elsewhere = approver().approveByLink({ params: { token: wrong[0] as string }, body: { webauthnAssertion } });
    expect((await refusalOf(elsewhere))[0]).toBe(404);
  });

  test('what people wrote as text, never as HTML', async () => {
    const purpose = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`;
    const { token } = await waiting({ purpose, expectedMerchant: '</dd><script>x</script>' });
    const text = await (await anybody(`/approve/${token}`, { headers: { Accept: 'text/html' } })).text();
    expect(text.match(/<script/g)).toHaveLength(1);
    expect(text).not.toMatch(/<img|onerror="|<\/dd><script/);
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;');
  });
});

describe('approving', () => {
  test('needs a passkey of the owner, records it as the approver, and happens once', async () => {
    const { intent, token } = await waiting();
    const done = await approve(token);
    expect(done).toEqual({
      kind: 'intent',
      id: intent.id,
      status: 'approved',
      businessName: null,
      request: null,
      decided: decidedBook,
      passkey: null,
      outcome: {
        at: expect.any(String),
        approvedWith: 'passkey',
        approverName: 'a passkey',
        title: 'Approved',
        verb: 'Approved',
        meaning: 'The agent may now pay.',
        tone: 'good',
      },
      businessTime: null,
    });
    const record = await api.intents.getIntent({ params: { id: intent.id } });
    expect(record).toMatchObject({ status: 'approved', approvedBy: `passkey:${passkey.id}` });
    expect(record.attestedAt).not.toBeNull();
    const events = await eventNamesOf(world, intent.id);
    expect(events.toSorted()).toEqual(['intent.approved', 'intent.attested', 'intent.created']);
    expect(await auditsOf(intent.id)).toContainEqual({ action: 'intent.approved', actor: `passkey:${passkey.id}` });

    const used = {
      webauthnAssertion: passkey.answer({ challengeId: 'chl_aaaaaaaaaaaa', options: { challenge: 'x' } }),
    };
    expect(await approver().approveByLink({ params: { token }, body: used })).toEqual(done);
    expect(await eventNamesOf(world, intent.id)).toEqual(events);
    expect(await refusalOf(approver().createApprovalChallenge({ params: { token }, body: {} }))).toEqual([
      400,
      'there is nothing left to decide: the request is approved',
    ]);
    expect((await refusalOf(approver().denyByLink({ params: { token }, body: {} })))[0]).toBe(400);
  });

  test('at the same time by two people happens once', async () => {
    const { intent, token } = await waiting();
    const answers = await Promise.all([approve(token), approve(token)].map((one) => one.catch(() => undefined)));
    expect(answers.filter((answer) => answer?.status === 'approved').length).toBeGreaterThan(0);
    expect((await eventNamesOf(world, intent.id)).filter((name) => name === 'intent.approved')).toHaveLength(1);
  });

  test.each([
    ['for another origin', { origin: 'http://evil.example' }, /another origin/],
    ['for another relying party', { rpId: 'evil.example' }, /relying party/],
    ['for another challenge', { challenge: 'AAAA' }, /another challenge/],
    ['without its holder', { userVerified: false }, /did not verify/],
    ['with a broken signature', { signature: 'AAAA' }, /signature/],
  ])('is refused with an assertion made %s', async (_what, wrong, why) => {
    const { intent, token } = await waiting();
    const challenge = await approver().createApprovalChallenge({ params: { token }, body: {} });
    const webauthnAssertion = passkey.answer(challenge, wrong);
    expect(await refusalOf(approver().approveByLink({ params: { token }, body: { webauthnAssertion } }))).toEqual([
      400,
      expect.stringMatching(why),
    ]);
    expect((await api.intents.getIntent({ params: { id: intent.id } })).status).toBe('pending_approval');
    await approve(token); // The challenge is gone, the next one is good.
  });

  test('is refused with a stranger’s passkey, and with a challenge of another intent', async () => {
    const stranger = await someone('stranger');
    const theirs = await aPasskey(world, stranger.owner);
    const { token } = await waiting();
    expect(await refusalOf(approve(token, theirs))).toEqual([400, expect.stringMatching(/not enrolled here/)]);
    const other = await waiting();
    const challenge = await approver().createApprovalChallenge({ params: { token: other.token }, body: {} });
    const webauthnAssertion = passkey.answer(challenge);
    expect(await refusalOf(approver().approveByLink({ params: { token }, body: { webauthnAssertion } }))).toEqual([
      400,
      expect.stringMatching(/was made for int_/),
    ]);
    expect((await approver().getApproval({ params: { token } })).status).toBe('pending_approval');
  });

  test('without a body, or with nonsense in it, is 400', async () => {
    const { token } = await waiting();
    for (const body of ['', '{}', '[]', '{"webauthnAssertion":{}}', '{"approve":true}', '{']) {
      expect((await anybody(`/approve/${token}`, { method: 'POST', body })).status).toBe(400);
    }
  });

  test('satisfies a policy that demands a passkey, and is refused when its hard rules forbid the payment meanwhile', async () => {
    const strict = await someone('careful');
    const holder = await aPasskey(world, strict.owner);
    const params = { agentId: strict.agentId };
    await strict.api.policies.updateAgentPolicy({ params, body: { requireAttestation: true } });
    const intent = await strict.api.intents.declareIntent({ body: { agentId: strict.agentId, ...asked } });
    const token = tokenOf(intent.approvalUrl);
    expect((await approver().getApproval({ params: { token } })).request?.demandsPasskey).toBe(true);
    await strict.api.policies.updateAgentPolicy({ params, body: { maxTransactionEuros: 10 } });
    expect(await refusalOf(approve(token, holder))).toEqual([403, expect.stringMatching(/cannot approve: .*10\.00/)]);
    await strict.api.policies.updateAgentPolicy({ params, body: { maxTransactionEuros: 100 } });
    expect((await approve(token, holder)).status).toBe('approved');
  });
});

describe('denying', () => {
  test('needs only the link, stores the reason, and happens once', async () => {
    const { intent, token } = await waiting();
    const done = await approver().denyByLink({ params: { token }, body: { reason: 'not today' } });
    expect(done).toMatchObject({ status: 'denied', request: null, decided: { ...decidedBook, maxChargeEuros: null } });
    expect(done.outcome).toEqual({
      at: expect.any(String),
      approvedWith: null,
      approverName: null,
      title: 'Denied',
      verb: 'Denied',
      meaning: 'Nothing is paid.',
      tone: 'bad',
    });
    expect(await approver().denyByLink({ params: { token }, body: { reason: 'again' } })).toEqual(done);
    expect(await api.intents.getIntent({ params: { id: intent.id } })).toMatchObject({
      status: 'denied',
      deniedReason: 'not today',
    });
    expect(await eventNamesOf(world, intent.id)).toEqual(['intent.created', 'intent.denied']);
    expect(await auditsOf(intent.id)).toContainEqual({ action: 'intent.denied', actor: 'approval-link' });
    expect(await refusalOf(approver().createApprovalChallenge({ params: { token }, body: {} }))).toEqual([
      400,
      'there is nothing left to decide: the request is denied',
    ]);
    const page = await (await anybody(`/approve/${token}`, { headers: { Accept: 'text/html' } })).text();
    expect(page).toContain('<h1>Denied</h1>');
    for (const word of ['80.00 EUR', 'Example Shop', 'Shopping agent']) expect(page).toContain(word);
    for (const word of ['reference book', 'not today']) expect(page).not.toContain(word);
  });

  test.each([
    ['too long', 'a'.repeat(501)],
    ['in two lines', 'two\nlines'],
    ['a number', 7],
  ])('refuses a reason that is %s', async (_what, reason) => {
    const { token } = await waiting();
    const body = JSON.stringify({ reason });
    expect((await anybody(`/approve/${token}/deny`, { method: 'POST', body })).status).toBe(400);
  });
});

test('from the deadline on no decision is taken, whether or not the run has marked it', async () => {
  const { intent, token } = await waiting({ ttlMinutes: 30 });
  const before = await approver().createApprovalChallenge({ params: { token }, body: {} });
  await world.advance(hour);
  const expired = await approver().getApproval({ params: { token } });
  const outcome = {
    at: intent.expiresAt,
    approvedWith: null,
    approverName: null,
    title: 'Expired',
    verb: 'Expired',
    meaning: 'The deadline passed without a decision. Nothing is paid.',
    tone: 'calm',
  };
  expect(expired).toMatchObject({ status: 'expired', request: null });
  expect(expired.outcome).toEqual(outcome);
  const webauthnAssertion = passkey.answer(before);
  for (const attempt of [
    () => approver().createApprovalChallenge({ params: { token }, body: {} }),
    () => approver().approveByLink({ params: { token }, body: { webauthnAssertion } }),
    () => approver().denyByLink({ params: { token }, body: {} }),
  ]) {
    expect(await refusalOf(attempt())).toEqual([400, 'there is nothing left to decide: the request is expired']);
  }
  await eventually(
    () => api.intents.getIntent({ params: { id: intent.id } }),
    ({ status }) => status === 'expired',
  );
  expect((await approver().getApproval({ params: { token } })).outcome).toEqual(outcome);
});

test('an approved intent that is not paid in time is `expired` at its deadline, like the intent itself', async () => {
  const { intent, token } = await waiting({ ttlMinutes: 30 });
  await approve(token);
  await world.advance(hour);
  const expired = await approver().getApproval({ params: { token } });
  expect(expired).toMatchObject({ status: 'expired', request: null });
  expect(expired.outcome).toEqual({
    at: intent.expiresAt,
    approvedWith: 'passkey',
    approverName: 'a passkey',
    title: 'Expired',
    verb: 'Expired',
    meaning: 'It was approved, but not paid in time.',
    tone: 'calm',
  });
  expect((await api.intents.getIntent({ params: { id: intent.id } })).status).toBe('expired');
  const page = await (await anybody(`/approve/${token}`, { headers: { Accept: 'text/html' } })).text();
  expect(page).toContain('It was approved, but not paid in time.');
  expect(page).not.toContain('The agent may now pay.');
});

test('without a passkey it offers deny; after the last one’s removal it names the end of the waiting time', async () => {
  const other = await someone('newcomer');
  const intent = await other.api.intents.declareIntent({
    body: { agentId: other.agentId, ...asked, ttlMinutes: 10_000 },
  });
  const token = tokenOf(intent.approvalUrl);
  const passkeyTold = async () => (await approver().getApproval({ params: { token } })).passkey;
  expect(await passkeyTold()).toMatchObject({ state: 'none', blockedUntil: null });
  expect(await refusalOf(approver().createApprovalChallenge({ params: { token }, body: {} }))).toEqual([
    400,
    expect.stringMatching(/no passkey is enrolled/),
  ]);
  const page = await (await anybody(`/approve/${token}`, { headers: { Accept: 'text/html' } })).text();
  expect(page).toMatch(/This owner has no passkey.*\/docs\/passkeys/s);
  expect(page).not.toContain('id="approve"');

  const first = await aPasskey(world, other.owner);
  expect(await passkeyTold()).toMatchObject({ state: 'ready' });
  await other.owner.client(passkeysArea).revokePasskey({ params: { id: first.id }, body: {} });
  const gone = await passkeyTold();
  expect(gone?.state).toBe('none');
  const until = new Date(gone?.blockedUntil ?? 0).getTime();
  expect(until - Date.now()).toBeGreaterThan(23 * hour);

  const second = await aPasskey(world, other.owner);
  expect(await passkeyTold()).toMatchObject({ state: 'blocked', blockedUntil: gone?.blockedUntil });
  const blocked = await (await anybody(`/approve/${token}`, { headers: { Accept: 'text/html' } })).text();
  expect(blocked).toContain(gone?.blockedUntil ?? 'nothing');
  expect((await refusalOf(approver().createApprovalChallenge({ params: { token }, body: {} })))[0]).toBe(400);
  await world.advance(day);
  expect(await passkeyTold()).toMatchObject({ state: 'ready', blockedUntil: null });
  expect((await approve(token, second)).status).toBe('approved');
});

test('with Temporal away an approval waits for it, and a denial does not', async () => {
  const alone = await startWorld({ env: { TEMPORAL_ADDRESS: '127.0.0.1:9' } });
  const made = await alone.owner();
  const { agentId: id } = await anAgentWithCard(alone, made);
  await alone.sql('update policies set auto_approve_limit_cents = 1000 where agent_id = $1', [id]);
  const holder = await aPasskey(alone, made);
  const intent = await clientsOf(made).intents.declareIntent({ body: { agentId: id, ...asked } });
  const params = { token: tokenOf(intent.approvalUrl) };
  const there = alone.as('').client(approvalsArea);
  const challenge = await there.createApprovalChallenge({ params, body: {} });
  const body = { webauthnAssertion: holder.answer(challenge) };
  const refused = (await there.approveByLink({ params, body }).catch((error: unknown) => error)) as Refused;
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true]);
  expect((await there.getApproval({ params })).status).toBe('pending_approval');
  expect((await there.denyByLink({ params, body: {} })).status).toBe('denied');
  await alone.close();
});

test('a caller above the rate limit gets a page with the error', async () => {
  const busy = await startWorld({ env: { BURSAR_RATE_LIMIT_PER_MINUTE: '3' } });
  const ask = () => fetch(`${busy.apiUrl}/approve/x`, { headers: { Accept: 'text/html' } });
  for (let i = 0; i < 3; i++) expect((await ask()).status).toBe(404);
  const limited = await ask();
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, expect.any(String)]);
  expect(await limited.text()).toContain('<h1>Too many requests</h1>');
  await busy.close();
});
