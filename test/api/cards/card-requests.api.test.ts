/**
 * Goal: an agent's card request is decided once, by the owner alone, by every way there is, and grants exactly what was
 * approved. Method: real HTTP, PostgreSQL, Temporal and worker; the sandbox clock; software passkeys.
 * @module
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { cardRequestsArea } from '../../../src/domains/cards/card-requests/card-request.contract.ts';
import { cardsArea } from '../../../src/domains/cards/cards/card.contract.ts';
import { approvalsArea } from '../../../src/domains/identity/approvals/approval.contract.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { policiesArea } from '../../../src/domains/spending/policies/policy.contract.ts';
import { hour } from '../../../src/kernel/instant.ts';
import { eventNamesOf, eventsSince, lastEvent } from '../../support/events.ts';
import { type AgentWithCard, anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { aPasskey } from '../../support/factories/passkeys.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { refusalOf } from '../../support/refusals.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let temporal: OpenTemporal;
let owner: Owner;
let agent: AgentWithCard;

beforeAll(async () => {
  world = await startWorld({ worker: true });
  temporal = await openTemporal();
});
afterAll(async () => {
  await temporal.close();
  await world.close();
});
beforeEach(async () => {
  owner = await world.owner();
  agent = await anAgentWithCard(world, owner);
});

const requests = (as: Owner | ReturnType<World['as']> = owner) => as.client(cardRequestsArea);
const asAgent = () => requests(world.as(agent.token));
const card = (cardId: string) => owner.client(cardsArea).getCard({ params: { cardId } });
const find = (id: string) => requests().getCardRequest({ params: { id } });

const newCard = { type: 'new_card', usage: 'multi', purpose: 'cloud hosting', dailyLimitEuros: 100 } as const;
const askForCard = (more: object = {}) => asAgent().createCardRequest({ body: { ...newCard, ...more } });
const limitsOf = (cardId: string) => ({ type: 'limit_change', cardId, maxTransactionEuros: 40 }) as const;
const askForLimits = (more: object = {}) =>
  asAgent().createCardRequest({
    body: { ...limitsOf(agent.cardId), ...more },
  });

describe('a request', () => {
  test('waits for 72 hours, and only the owner gets the link', async () => {
    const made = await askForCard({ reason: 'The old plan ends.' });
    expect(made).toMatchObject({
      type: 'new_card',
      agentId: agent.agentId,
      cardId: null,
      status: 'pending',
      reason: 'The old plan ends.',
      requested: { usage: 'multi', purpose: 'cloud hosting', dailyLimitEuros: 100, monthlyLimitEuros: null },
      granted: null,
      decidedBy: null,
      approvalUrl: null,
    });
    expect(Date.parse(made.expiresAt) - Date.parse(made.createdAt)).toBe(72 * hour);
    expect((await find(made.id)).approvalUrl).toMatch(/\/approve\/[0-9a-f]{32}$/);
    expect(await eventNamesOf(world, made.id)).toEqual(['card_request.created']);
    const change = await askForLimits();
    expect((await eventNamesOf(world, change.id)).toSorted()).toEqual([
      'card_limit_request.updated',
      'card_request.created',
    ]);
  });

  test('names its agent, a card of that agent, and a limit', async () => {
    const bodies: [object, string][] = [
      [{ type: 'new_card', usage: 'multi', purpose: 'x' }, 'agentId'],
      [
        { type: 'limit_change', agentId: agent.agentId, cardId: agent.cardId },
        'give maxTransactionEuros, dailyLimitEuros or monthlyLimitEuros',
      ],
      [{ type: 'new_card', agentId: agent.agentId, purpose: 'x' }, 'usage'],
    ];
    for (const [body, word] of bodies) {
      expect(await refusalOf(requests().createCardRequest({ body: body as never }))).toEqual([
        400,
        expect.stringContaining(word),
      ]);
    }
    const sibling = await anAgentWithCard(world, owner);
    expect((await refusalOf(askForLimits({ cardId: sibling.cardId })))[0]).toBe(404);
  });

  test('is listed for its owner and its agent, by state, type and page', async () => {
    const first = await askForCard();
    const second = await askForLimits();
    await requests().denyCardRequest({ params: { id: second.id as never }, body: {} });
    const idsOf = async (query: object, by = requests()) =>
      (await by.listCardRequests({ query: query as never })).data.map(({ id }) => id);
    expect(await idsOf({})).toEqual([second.id, first.id]);
    expect(await idsOf({ status: 'pending' }, asAgent())).toEqual([first.id]);
    expect(await idsOf({ type: 'limit_change' })).toEqual([second.id]);
    const page = await requests().listCardRequests({ query: { limit: 1 } as never });
    expect(page.data.map(({ id }) => id)).toEqual([second.id]);
    expect(await idsOf({ limit: 1, cursor: page.nextCursor })).toEqual([first.id]);
  });

  test('that was denied cannot be cancelled, and a card above the ceiling of the plan is not approved', async () => {
    const { id: denied } = await askForLimits();
    await requests().denyCardRequest({ params: { id: denied as never }, body: {} });
    await expect(asAgent().cancelCardRequest({ params: { id: denied as never }, body: {} })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/cannot cancel a card request that is denied/),
    });
    const { id } = await askForCard();
    await world.sql(`update customers set plan = 'free' where owner_id = $1`, [owner.ownerId]);
    const approval = requests().approveCardRequest({ params: { id: id as never }, body: {} });
    await expect(approval).rejects.toMatchObject({ status: 403, message: expect.stringMatching(/card/) });
    expect((await find(id)).status).toBe('pending');
  });

  test('is out of reach of a sibling agent, of another owner and of that owner’s agent', async () => {
    const { id } = await askForLimits();
    const params = { id: id as never };
    const before = await eventNamesOf(world, id);
    const sibling = await anAgentWithCard(world, owner);
    const stranger = await world.owner();
    const strangersAgent = await anAgentWithCard(world, stranger);
    const attempts = (by: ReturnType<typeof requests>) => [
      by.getCardRequest({ params }),
      by.cancelCardRequest({ params, body: {} }),
      by.approveCardRequest({ params, body: {} }),
      by.denyCardRequest({ params, body: {} }),
      by.createCardRequest({ body: { ...newCard, agentId: agent.agentId } }),
      by.createCardRequest({
        body: { type: 'limit_change', agentId: agent.agentId, cardId: agent.cardId, dailyLimitEuros: 5 },
      }),
    ];
    const statuses = (by: ReturnType<typeof requests>) =>
      Promise.all(attempts(by).map(async (attempt) => (await refusalOf(attempt))[0]));
    const seen = async (by: ReturnType<typeof requests>) => (await by.listCardRequests({})).data;
    const siblings = requests(world.as(sibling.token));
    expect(await statuses(siblings)).toEqual([403, 403, 403, 403, 403, 403]);
    expect(await seen(siblings)).toEqual([]);
    const filtered = siblings.listCardRequests({ query: { agentId: agent.agentId } as never });
    expect((await refusalOf(filtered))[0]).toBe(403);
    expect(await statuses(requests(stranger))).toEqual([404, 404, 404, 404, 404, 404]);
    expect(await seen(requests(stranger))).toEqual([]);
    // An agent token approves and denies nothing, whichever request it names.
    expect(await statuses(requests(world.as(strangersAgent.token)))).toEqual([404, 404, 403, 403, 404, 404]);
    expect(await seen(requests(world.as(strangersAgent.token)))).toEqual([]);
    const strangersCard = { ...limitsOf(strangersAgent.cardId), agentId: agent.agentId } as const;
    for (const by of [requests(), asAgent()])
      expect((await refusalOf(by.createCardRequest({ body: strangersCard })))[0]).toBe(404);
    expect((await find(id)).status).toBe('pending');
    expect(await eventNamesOf(world, id)).toEqual(before);
    expect(await seen(requests())).toHaveLength(1);
  });

  test('is one of at most 20 that are pending', async () => {
    for (let made = 0; made < 20; made++) await askForCard();
    expect(await refusalOf(askForCard())).toEqual([400, expect.stringContaining('20 pending card requests')]);
  });
});

describe('an approval', () => {
  test('issues the card with the limits that the owner set instead', async () => {
    const { id } = await askForCard();
    const approved = await requests().approveCardRequest({
      params: { id: id as never },
      body: { dailyLimitEuros: 60 },
    });
    expect(approved).toMatchObject({
      status: 'approved',
      granted: { dailyLimitEuros: 60, maxTransactionEuros: null },
      decidedBy: expect.stringMatching(/^key:key_/),
    });
    expect(await card(approved.cardId ?? '')).toMatchObject({
      agentId: agent.agentId,
      status: 'active',
      purpose: 'cloud hosting',
      dailyLimitEuros: 60,
    });
    expect(await eventNamesOf(world, approved.cardId ?? '')).toEqual(expect.arrayContaining(['card.issued']));
    const again = await requests().approveCardRequest({ params: { id: id as never }, body: { dailyLimitEuros: 99 } });
    expect(again).toEqual(approved);
    expect(await refusalOf(requests().denyCardRequest({ params: { id: id as never }, body: {} }))).toEqual([
      400,
      'cannot deny a card request that is approved',
    ]);
  });

  // spec: does:Card Requests:approval workflows for new cards and card limit changes
  // spec: event:card_limit_request.updated
  test('changes the limits that were requested and leaves the others', async () => {
    const { cardId } = agent;
    await owner.client(cardsArea).updateCardLimits({ params: { cardId }, body: { monthlyLimitEuros: 900 } });
    const { id } = await askForLimits();
    const approved = await requests().approveCardRequest({ params: { id: id as never }, body: {} });
    expect(approved).toMatchObject({ status: 'approved', cardId, granted: { maxTransactionEuros: 40 } });
    expect(await card(cardId)).toMatchObject({
      maxTransactionEuros: 40,
      dailyLimitEuros: null,
      monthlyLimitEuros: 900,
    });
    expect((await eventNamesOf(world, id)).toSorted()).toEqual([
      'card_limit_request.updated',
      'card_limit_request.updated',
      'card_request.created',
      'card_request.decided',
    ]);
  });

  test('is the owner’s: an agent token cannot', async () => {
    const { id } = await askForCard();
    expect((await refusalOf(asAgent().approveCardRequest({ params: { id: id as never }, body: {} })))[0]).toBe(403);
    expect((await refusalOf(asAgent().denyCardRequest({ params: { id: id as never }, body: {} })))[0]).toBe(403);
    expect((await find(id)).status).toBe('pending');
  });

  test('of a frozen agent’s request is refused, and the request still waits', async () => {
    const { id } = await askForCard();
    await world.sql(`update agents set status = 'frozen' where id = $1`, [agent.agentId]);
    expect(await refusalOf(requests().approveCardRequest({ params: { id: id as never }, body: {} }))).toEqual([
      400,
      expect.stringContaining('is frozen'),
    ]);
    expect((await find(id)).status).toBe('pending');
  });

  test('by two callers at once issues one card', async () => {
    const { id } = await askForCard();
    const approve = () => requests().approveCardRequest({ params: { id: id as never }, body: {} });
    const [one, other] = await Promise.all([approve(), approve()]);
    expect(one.cardId).toBe(other.cardId);
    const cards = await owner.client(cardsArea).listAgentCards({ params: { agentId: agent.agentId } });
    expect(cards).toHaveLength(2);
  });
});

describe('each move of a request fires the events that its operation declares', () => {
  const { createCardRequest, approveCardRequest, denyCardRequest, cancelCardRequest } = cardRequestsArea.operations;
  const declared = [createCardRequest, approveCardRequest, denyCardRequest, cancelCardRequest].flatMap(
    ({ fires }) => fires as readonly string[],
  );
  const created = ['card_request.created'];
  const limits = ['card_limit_request.updated'];
  const decided = ['card_request.decided'];

  /** The events of the owner from `change` on, in order of the name. */
  async function firedBy(change: () => Promise<unknown>): Promise<string[]> {
    const seq = await lastEvent(world, owner);
    await change();
    return (await eventsSince(world, owner, seq)).toSorted();
  }

  test('by creation, approval, denial and withdrawal, of a card and of limits', async () => {
    const seen = new Set<string>();
    const expectFired = async (change: () => Promise<unknown>, names: readonly string[]) => {
      const fired = await firedBy(change);
      expect(fired).toEqual(names.toSorted());
      for (const name of fired) seen.add(name);
    };
    const kinds = [
      { ask: askForCard, more: [], approval: ['card.issued', 'card.activated'] },
      { ask: askForLimits, more: limits, approval: ['card.limits_changed'] },
    ];
    for (const { ask, more, approval } of kinds) {
      const params = { id: '' as never };
      const asks = async () => {
        params.id = (await ask()).id as never;
      };
      await expectFired(asks, [...created, ...more]);
      await expectFired(() => requests().approveCardRequest({ params, body: {} }), [...decided, ...more, ...approval]);
      await asks();
      await expectFired(() => requests().denyCardRequest({ params, body: {} }), [...decided, ...more]);
      await expectFired(() => requests().denyCardRequest({ params, body: {} }), []);
      await asks();
      await expectFired(() => asAgent().cancelCardRequest({ params, body: {} }), [...decided, ...more]);
      await expectFired(() => asAgent().cancelCardRequest({ params, body: {} }), []);
    }
    // An agent that is frozen while its card is issued gets a frozen card: frozen-while-issued.api.test.ts.
    expect([...seen, 'card.frozen'].sort()).toEqual([...new Set(declared)].sort());
  });
});

describe('a signal', () => {
  const workflowOf = (id: string) => `card-request/${id}`;

  test('approves with changes, and is recorded with its name', async () => {
    const { id } = await askForLimits();
    await temporal.started(workflowOf(id));
    await temporal.signal(workflowOf(id), 'decide', {
      decision: 'approve',
      by: 'anna',
      changes: { dailyLimitEuros: 12.5 },
    });
    const done = await eventually(
      () => find(id),
      ({ status }) => status === 'approved',
    );
    expect(done).toMatchObject({
      decidedBy: 'signal:anna',
      granted: { maxTransactionEuros: 40, dailyLimitEuros: 12.5 },
    });
    expect(await card(agent.cardId)).toMatchObject({ maxTransactionEuros: 40, dailyLimitEuros: 12.5 });
  });

  test('with any other input is ignored or refused, with a note in the current details', async () => {
    const { id } = await askForLimits();
    await temporal.started(workflowOf(id));
    const strange = [
      'maybe',
      { decision: 'approve', changes: { dailyLimitEuros: 'much' } },
      { decision: 'approve', by: 'eve', changes: { amountEuros: 1 } },
    ];
    for (const typed of strange) await temporal.signal(workflowOf(id), 'decide', typed);
    const { details } = await eventually(
      () => temporal.viewOf(workflowOf(id)),
      ({ details: text }) => text.includes('and nothing else'),
    );
    expect(details).toContain('was ignored');
    expect((await find(id)).status).toBe('pending');
    await owner.client(policiesArea).updateAgentPolicy({
      params: { agentId: agent.agentId },
      body: { requireAttestation: true } as never,
    });
    await temporal.signal(workflowOf(id), 'decide', 'approve');
    await eventually(
      () => temporal.viewOf(workflowOf(id)),
      ({ details: text }) => text.includes('demands a passkey'),
    );
    expect((await find(id)).status).toBe('pending');
  });
});

describe('the approver’s page', () => {
  const tokenOf = async (id: string) => (await find(id)).approvalUrl?.split('/').at(-1) ?? '';
  const approver = () => world.as('').client(approvalsArea);

  test('shows the request and approves it with a passkey and the approver’s changes', async () => {
    const passkey = await aPasskey(world, owner);
    const { cardId } = agent;
    await owner.client(cardsArea).updateCardLimits({ params: { cardId }, body: { monthlyLimitEuros: 900 } });
    const { id } = await askForLimits({ reason: 'Prices went up.' });
    const token = await tokenOf(id);
    const shown = await approver().getApproval({ params: { token } });
    expect(shown).toMatchObject({ kind: 'card_request', id, status: 'pending', passkey: { state: 'ready' } });
    expect(shown.request).toMatchObject({
      title: 'Approve card limits',
      purpose: 'Prices went up.',
      rule: 'an agent cannot give itself cards or limits: its owner decides',
      changes: [{ name: 'maxTransactionEuros', requestedEuros: 40 }, {}, {}],
    });
    expect(shown.request?.facts.map(({ label, text }) => [label, text])).toEqual([
      ['Card', expect.stringMatching(/, ending in \d{4}$/)],
      ['Most for one payment', '40.00 EUR instead of no limit'],
      ['Daily limit', 'no limit, unchanged'],
      ['Monthly limit', '900.00 EUR, unchanged'],
    ]);
    const changes = { maxTransactionEuros: 30 } as never;
    const challenge = await approver().createApprovalChallenge({ params: { token }, body: { changes } });
    const webauthnAssertion = passkey.answer(challenge);
    expect(await refusalOf(approver().approveByLink({ params: { token }, body: { webauthnAssertion } }))).toEqual([
      400,
      expect.stringContaining('was made for other amounts'),
    ]);
    const done = await approver().approveByLink({ params: { token }, body: { webauthnAssertion, changes } });
    expect(done).toMatchObject({ status: 'approved', outcome: { approvedWith: 'passkey' }, request: null });
    expect(await find(id)).toMatchObject({ decidedBy: `passkey:${passkey.id}`, granted: { maxTransactionEuros: 30 } });
    expect(await card(cardId)).toMatchObject({
      maxTransactionEuros: 30,
      dailyLimitEuros: null,
      monthlyLimitEuros: 900,
    });
  });

  test('shows the requested limits and denies without a passkey', async () => {
    const { id } = await askForCard({ displayName: 'Hosting', reason: 'The old plan ends.' });
    const token = await tokenOf(id);
    const shown = await approver().getApproval({ params: { token } });
    expect(shown.request?.facts.map(({ label, text }) => [label, text])).toEqual([
      ['Use', 'for many payments'],
      ['Name of the card', 'Hosting'],
      ['Its reason', 'The old plan ends.'],
      ['Most for one payment', 'no limit'],
      ['Daily limit', '100.00 EUR'],
      ['Monthly limit', 'no limit'],
    ]);
    const page = await fetch(`${world.apiUrl}/approve/${token}`, { headers: { Accept: 'text/html' } });
    expect(await page.text()).toMatch(/<dt>Daily limit<\/dt><dd>100\.00 EUR<\/dd>/);
    const denied = await approver().denyByLink({ params: { token }, body: { reason: 'not now' } });
    expect(denied).toMatchObject({ status: 'denied', outcome: { title: 'Denied', approvedWith: null } });
    expect(await find(id)).toMatchObject({ status: 'denied', decisionReason: 'not now', decidedBy: 'approval-link' });
  });
});

describe('under the link', () => {
  const approver = () => world.as('').client(approvalsArea);
  const paramsOf = async (id: string) => ({ token: (await find(id)).approvalUrl?.split('/').at(-1) ?? '' });

  test('an approval with a passkey issues the new card', async () => {
    const passkey = await aPasskey(world, owner);
    const { id } = await askForCard();
    const params = await paramsOf(id);
    const challenge = await approver().createApprovalChallenge({ params, body: {} });
    const before = await lastEvent(world, owner);
    await approver().approveByLink({ params, body: { webauthnAssertion: passkey.answer(challenge) } });
    const { cardId } = await find(id);
    expect(await card(cardId ?? '')).toMatchObject({ status: 'active', dailyLimitEuros: 100 });
    const fired = await eventsSince(world, owner, before);
    expect(fired.toSorted()).toEqual(['card.activated', 'card.issued', 'card_request.decided']);
  });

  test('a denial of other limits leaves the card as it was and fires both events', async () => {
    const { id } = await askForLimits();
    const params = await paramsOf(id);
    const before = await lastEvent(world, owner);
    await approver().denyByLink({ params, body: {} });
    expect((await card(agent.cardId)).maxTransactionEuros).toBeNull();
    const fired = await eventsSince(world, owner, before);
    expect(fired.toSorted()).toEqual(['card_limit_request.updated', 'card_request.decided']);
  });
});

test('the owner is reminded once at half time, and the request expires at its deadline', async () => {
  const { id } = await askForLimits();
  await temporal.started(`card-request/${id}`);
  await world.advance(36 * hour);
  await eventually(
    () => find(id),
    ({ remindedAt }) => remindedAt !== null,
  );
  expect(await eventNamesOf(world, id)).toContain('card_request.reminded');
  await world.advance(36 * hour);
  expect((await find(id)).status).toBe('expired');
  expect(await refusalOf(requests().approveCardRequest({ params: { id: id as never }, body: {} }))).toEqual([
    400,
    expect.stringContaining('expired'),
  ]);
  await eventually(
    () => eventNamesOf(world, id),
    (names) => names.includes('card_request.expired'),
  );
  expect((await eventNamesOf(world, id)).filter((name) => name === 'card_request.reminded')).toHaveLength(1);
  expect((await eventNamesOf(world, id)).filter((name) => name === 'card_limit_request.updated')).toHaveLength(2);
  expect(await find(id)).toMatchObject({ status: 'expired', decidedBy: 'deadline' });
});

const agents = () => owner.client(agentsArea);
test.each([
  ['deletion', () => agents().closeAgent({ params: { id: agent.agentId } })],
  ['a change of its status', () => agents().updateAgent({ params: { id: agent.agentId }, body: { status: 'closed' } })],
])('closing the agent by %s cancels what is pending, and what was decided before stays', async (_way, close) => {
  const denied = await askForCard();
  await requests().denyCardRequest({ params: { id: denied.id as never }, body: {} });
  const pending = [await askForCard(), await askForLimits()];
  for (const { id } of pending) await temporal.started(`card-request/${id}`);
  const seq = await lastEvent(world, owner);

  await close();

  const { decidedBy } = await find(denied.id);
  for (const { id } of pending)
    expect(await find(id)).toMatchObject({ status: 'cancelled', decidedBy, approvalUrl: null });
  expect((await find(denied.id)).status).toBe('denied');
  const fired = (await eventsSince(world, owner, seq)).filter((name) => name.startsWith('card_'));
  expect(fired.toSorted()).toEqual(['card_limit_request.updated', 'card_request.decided', 'card_request.decided']);
  for (const { id } of pending) {
    expect(
      await world.sql(
        `select from_status, to_status from transitions where row_id = $1 order by from_status nulls first`,
        [id],
      ),
    ).toEqual([
      { from_status: null, to_status: 'pending' },
      { from_status: 'pending', to_status: 'cancelled' },
    ]);
    expect(
      await world.sql(`select count(*)::int as rows from audit where subject_id = $1 and action = $2`, [
        id,
        'card_request.decided',
      ]),
    ).toEqual([{ rows: 1 }]);
    await eventually(
      async () => (await temporal.client.workflow.getHandle(`card-request/${id}`).describe()).status.name,
      (status) => status === 'COMPLETED',
    );
  }
  expect(
    await refusalOf(requests().approveCardRequest({ params: { id: (pending[0]?.id ?? '') as never }, body: {} })),
  ).toEqual([400, expect.stringContaining('cancelled')]);
});

test('an agent that is closed while its request is approved has neither an open card nor a pending request', async () => {
  const { id } = await askForCard();
  await temporal.started(`card-request/${id}`);
  await Promise.allSettled([
    requests().approveCardRequest({ params: { id: id as never }, body: {} }),
    owner.client(agentsArea).closeAgent({ params: { id: agent.agentId as never } }),
  ]);
  const { status } = await find(id);
  expect(['approved', 'cancelled']).toContain(status);
  expect(await world.sql(`select id from cards where agent_id = $1 and status <> 'closed'`, [agent.agentId])).toEqual(
    [],
  );
});

test('a run that was lost continues from the row', async () => {
  const { id } = await askForLimits();
  await temporal.started(`card-request/${id}`);
  await temporal.client.workflow.getHandle(`card-request/${id}`).terminate('lost');
  const approved = await requests().approveCardRequest({ params: { id: id as never }, body: {} });
  expect(approved.status).toBe('approved');
});
