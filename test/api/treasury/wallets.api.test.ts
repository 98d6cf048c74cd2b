/** Wallets over HTTP: created with the owner, read, changed, closed, and refused to other owners. @module */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { hasRightCheckDigits } from '../../../src/kernel/iban.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { eventsSince, lastEvent } from '../../support/events.ts';
import { anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { refusal } from '../../support/refusals.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  owner = await world.owner();
});
afterAll(() => world.close());

const wallets = (of: Pick<Owner, 'client'> = owner) => of.client(walletsArea);
const fund = (amountEuros: number, walletId?: string) =>
  owner.client(fundArea).fundWallet({ body: { amountEuros, ...(walletId !== undefined && { walletId }) } });

describe('opening', () => {
  // spec: does:Wallets:create
  // spec: event:wallet.created
  test('the first wallet brings the customer and the default wallet Main with it', async () => {
    const cards = await wallets().createWallet({ body: { name: 'Cards', purpose: 'for the agents' } });
    expect(cards).toEqual({
      id: expect.stringMatching(/^wal_/),
      ownerId: owner.ownerId,
      name: 'Cards',
      purpose: 'for the agents',
      currency: 'EUR',
      balanceEuros: 0,
      iban: expect.stringMatching(/^DE\d{2}99999999\d{10}$/),
      bic: 'BURSDEF0XXX',
      parentWalletId: null,
      isDefault: false,
      status: 'active',
      metadata: {},
      createdAt: expect.any(String),
      updatedAt: cards.createdAt,
      closedAt: null,
    });
    const { data } = await wallets().listWallets();
    expect(data.map(({ name, isDefault }) => [name, isDefault]).sort()).toEqual([
      ['Cards', false],
      ['Main', true],
    ]);
    const ibans = data.map(({ iban }) => iban ?? '');
    expect(new Set(ibans).size).toBe(2);
    expect(ibans.every(hasRightCheckDigits)).toBe(true);
    expect(await eventsSince(world, owner, 0)).toEqual(
      expect.arrayContaining(['customer.created', 'wallet.created', 'wallet.created']),
    );
  });

  test('of ten first calls at once exactly one opens Main', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, n) => wallets().createWallet({ body: { name: `Wallet ${n}` } })));
    const { data } = await wallets().listWallets();
    expect(data).toHaveLength(11);
    expect(data.filter(({ isDefault }) => isDefault)).toHaveLength(1);
  });

  test('the same Idempotency-Key opens one wallet', async () => {
    const headers = { 'Idempotency-Key': 'open-once' };
    const first = await wallets().createWallet({ body: { name: 'Once' }, headers });
    expect(await wallets().createWallet({ body: { name: 'Once' }, headers })).toEqual(first);
    expect((await wallets().listWallets()).data).toHaveLength(2);
    await expect(wallets().createWallet({ body: { name: 'Twice' }, headers })).rejects.toEqual(
      refusal(409, /used for another request/),
    );
  });

  test('a call that died before it answered is repeated with the same wallet and events', async () => {
    const headers = { 'Idempotency-Key': 'died' };
    const first = await wallets().createWallet({ body: { name: 'Once' }, headers });
    const events = await lastEvent(world, owner);
    await world.sql('update idempotency set status = null, body = null, lease_until = null where key = $1', ['died']);
    expect(await wallets().createWallet({ body: { name: 'Once' }, headers })).toEqual(first);
    expect(await eventsSince(world, owner, events)).toEqual([]);
  });

  test.each([
    ['no name', {}, /body\.name/],
    ['an empty name', { name: '  ' }, /body\.name/],
    ['a long name', { name: 'x'.repeat(121) }, /body\.name/],
    ['a long purpose', { name: 'x', purpose: 'x'.repeat(501) }, /body\.purpose/],
    ['another currency', { name: 'x', currency: 'USD' }, /body\.currency: must be EUR/],
    ['an unknown field', { name: 'x', color: 'red' }, /color/],
    ['metadata above 16 KiB', { name: 'x', metadata: { a: 'x'.repeat(17_000) } }, /16 KiB/],
    ['metadata above 16 KiB in bytes', { name: 'x', metadata: { a: '€'.repeat(6_000) } }, /16 KiB/],
    ['metadata that is a list', { name: 'x', metadata: [] }, /body\.metadata/],
    ['a parent that is no id', { name: 'x', parentWalletId: 'main' }, /body\.parentWalletId/],
    ['a parent that does not exist', { name: 'x', parentWalletId: newId('wallet') }, /no wallet of this owner/],
  ])('%s is refused and nothing is opened', async (_what, body, message) => {
    await expect(wallets().createWallet({ body: body as never })).rejects.toEqual(refusal(400, message));
    expect((await wallets().listWallets()).data).toEqual([]);
    expect(await world.sql('select 1 from customers where owner_id = $1', [owner.ownerId])).toEqual([]);
  });

  test("another owner's wallet is no parent", async () => {
    const theirs = await wallets(await world.owner()).createWallet({ body: { name: 'Theirs' } });
    const asked = wallets().createWallet({ body: { name: 'Mine', parentWalletId: theirs.id } });
    await expect(asked).rejects.toEqual(refusal(400, /no wallet of this owner/));
  });

  test('wallets nest five levels deep and not six', async () => {
    let parent = await wallets().createWallet({ body: { name: 'Level 1' } });
    for (let level = 2; level <= 5; level++) {
      parent = await wallets().createWallet({ body: { name: `Level ${level}`, parentWalletId: parent.id } });
    }
    const sixth = wallets().createWallet({ body: { name: 'Level 6', parentWalletId: parent.id } });
    await expect(sixth).rejects.toEqual(refusal(400, /lies on level 5; wallets nest 5 levels deep/));
    const { data } = await wallets().listWallets({ query: { parentWalletId: parent.parentWalletId ?? '' } });
    expect(data.map(({ name }) => name)).toEqual(['Level 5']);
  });
});

describe('reading', () => {
  // spec: does:Wallets:list
  // spec: pages:cursor and limit
  // spec: pages:data hasMore nextCursor
  test('lists are paged newest first, and filtered by status', async () => {
    for (let n = 0; n < 4; n++) await wallets().createWallet({ body: { name: `Wallet ${n}` } });
    const first = await wallets().listWallets({ query: { limit: 3 } });
    expect(first.data.map(({ name }) => name)).toEqual(['Wallet 3', 'Wallet 2', 'Wallet 1']);
    const second = await wallets().listWallets({ query: { limit: 3, cursor: first.nextCursor ?? '' } });
    expect(second.data.map(({ name }) => name)).toEqual(expect.arrayContaining(['Wallet 0', 'Main']));
    expect([first.hasMore, second.hasMore, second.nextCursor]).toEqual([true, false, null]);
    expect((await wallets().listWallets({ query: { status: 'closed' } })).data).toEqual([]);
    for (const query of [{ limit: 0 }, { limit: 101 }, { cursor: 'nonsense' }, { status: 'gone' }, { colour: 'red' }]) {
      await expect(wallets().listWallets({ query: query as never })).rejects.toMatchObject({ status: 400 });
    }
  });

  test('the balance contains the available money, the pending money and their sum', async () => {
    const { walletId } = await fund(100.5);
    await world.sql(`select post_journals($1::jsonb)`, [JSON.stringify([aHold(walletId, 2_025)])]);
    expect(await wallets().getWalletBalance({ params: { id: walletId } })).toEqual({
      walletId,
      availableEuros: 80.25,
      pendingEuros: 20.25,
      totalEuros: 100.5,
    });
    expect(await wallets().getWallet({ params: { id: walletId } })).toMatchObject({ balanceEuros: 80.25 });
  });

  // spec: alias:/accounts
  test('the alias /accounts and the prefix /v1 serve the same', async () => {
    const { walletId } = await fund(1);
    for (const path of ['/wallets', '/accounts', '/v1/wallets', '/v1/accounts']) {
      const answer = await owner.send({ method: 'GET', path: `${path}/${walletId}`, headers: {} });
      expect([path, answer.status]).toEqual([path, 200]);
      expect(answer.headers.get('X-Data-Residency')).toBe('EU');
    }
  });

  test("another owner's wallet does not exist, and an unknown one neither", async () => {
    const { walletId } = await fund(1);
    const stranger = wallets(await world.owner());
    for (const id of [walletId, newId('wallet')]) {
      for (const ask of [
        () => stranger.getWallet({ params: { id } }),
        () => stranger.getWalletBalance({ params: { id } }),
        () => stranger.updateWallet({ params: { id }, body: { name: 'Mine' } }),
        () => stranger.closeWallet({ params: { id } }),
        () => stranger.fundWalletById({ params: { id }, body: { amountEuros: 1 } }),
      ]) {
        await expect(ask()).rejects.toEqual(refusal(404, /^no wallet wal_/));
      }
    }
  });

  test('an agent reads the wallet it draws on, no other, and changes none', async () => {
    const { walletId: main } = await fund(7);
    const { walletId, token } = await anAgentWithCard(world, owner);
    const agent = wallets(world.as(token));
    expect((await agent.listWallets()).data.map(({ id }) => id)).toEqual([walletId]);
    expect(await agent.getWallet({ params: { id: walletId } })).toMatchObject({ id: walletId });
    expect(await agent.getWalletBalance({ params: { id: walletId } })).toMatchObject({ availableEuros: 123.45 });
    await expect(agent.getWallet({ params: { id: main } })).rejects.toEqual(
      refusal(403, /is not the wallet that this agent draws on/),
    );
    await expect(agent.getWalletBalance({ params: { id: main } })).rejects.toMatchObject({ status: 403 });
    for (const ask of [
      () => agent.createWallet({ body: { name: 'x' } }),
      () => agent.updateWallet({ params: { id: walletId }, body: { name: 'x' } }),
      () => agent.closeWallet({ params: { id: walletId } }),
      () => agent.fundWalletById({ params: { id: walletId }, body: { amountEuros: 1 } }),
    ]) {
      await expect(ask()).rejects.toMatchObject({ status: 403 });
    }
  });

  test('a token without the scope wallets.read is refused', async () => {
    const { token } = await anAgentWithCard(world, owner);
    await world.sql(`update agent_tokens set scopes = '{cards.read}' where owner_id = $1`, [owner.ownerId]);
    await expect(wallets(world.as(token)).listWallets()).rejects.toEqual(refusal(403, /wallets\.read/));
  });
});

describe('changing', () => {
  test('name, purpose and metadata change; the default moves in one step', async () => {
    const other = await wallets().createWallet({ body: { name: 'Other' } });
    const before = await lastEvent(world, owner);
    const body = { name: 'Travel', purpose: null, metadata: { costCentre: 7 }, isDefault: true } as const;
    const changed = await wallets().updateWallet({ params: { id: other.id }, body });
    expect(changed).toMatchObject({ name: 'Travel', purpose: null, metadata: { costCentre: 7 }, isDefault: true });
    const { data } = await wallets().listWallets();
    expect(data.filter(({ isDefault }) => isDefault).map(({ id }) => id)).toEqual([other.id]);
    expect(await eventsSince(world, owner, before)).toEqual(['wallet.updated', 'wallet.updated']);
    expect((await fund(3)).walletId).toBe(other.id);
  });

  test('changes of the default at once leave exactly one', async () => {
    const made = await Promise.all(['A', 'B', 'C', 'D'].map((name) => wallets().createWallet({ body: { name } })));
    await Promise.all(made.map(({ id }) => wallets().updateWallet({ params: { id }, body: { isDefault: true } })));
    await Promise.all(['E', 'F'].map((name) => wallets().createWallet({ body: { name, isDefault: true } })));
    const { data } = await wallets().listWallets();
    expect(data.filter(({ isDefault }) => isDefault)).toHaveLength(1);
  });

  test.each([
    ['nothing', {}, /at least one field/],
    ['unsetting the default', { isDefault: false }, /make another wallet the default/],
    ['the parent', { parentWalletId: newId('wallet') }, /parentWalletId/],
    ['the balance', { balanceEuros: 5 }, /balanceEuros/],
  ])('changing %s is refused', async (_what, body, message) => {
    const { walletId } = await fund(1);
    const asked = wallets().updateWallet({ params: { id: walletId }, body: body as never });
    await expect(asked).rejects.toEqual(refusal(400, message));
  });
});

describe('closing', () => {
  // spec: does:Wallets:close
  test('an empty wallet is closed for good, and closing it again changes nothing', async () => {
    const { id } = await wallets().createWallet({ body: { name: 'Old' } });
    const closed = await wallets().closeWallet({ params: { id } });
    expect(closed).toMatchObject({ status: 'closed', closedAt: expect.any(String) });
    const events = await lastEvent(world, owner);
    expect(await wallets().closeWallet({ params: { id } })).toEqual(closed);
    expect(await eventsSince(world, owner, events)).toEqual([]);
    await expect(fund(1, id)).rejects.toEqual(refusal(400, /is closed/));
    await expect(wallets().updateWallet({ params: { id }, body: { name: 'x' } })).rejects.toEqual(
      refusal(400, /is closed/),
    );
    await expect(wallets().createWallet({ body: { name: 'x', parentWalletId: id } })).rejects.toEqual(
      refusal(400, /is closed/),
    );
    await expect(wallets().updateWallet({ params: { id }, body: { isDefault: true } })).rejects.toMatchObject({
      status: 400,
    });
  });

  test('the default wallet, one with money, with a hold, with children or with agents stays open', async () => {
    const { walletId: main } = await fund(10);
    const parent = await wallets().createWallet({ body: { name: 'Parent' } });
    await wallets().createWallet({ body: { name: 'Child', parentWalletId: parent.id } });
    const full = await wallets().createWallet({ body: { name: 'Full' } });
    await fund(5, full.id);
    const holding = await wallets().createWallet({ body: { name: 'Holding' } });
    await fund(5, holding.id);
    await world.sql(`select post_journals($1::jsonb)`, [JSON.stringify([aHold(holding.id, 500)])]);
    const { agentId } = await anAgentWithCard(world, owner);
    const drawn = await wallets().createWallet({ body: { name: 'Drawn' } });
    await world.sql('update agents set wallet_id = $1 where id = $2', [drawn.id, agentId]);
    for (const [id, message] of [
      [main, /default wallet/],
      [parent.id, /1 open wallets lie below/],
      [full.id, /holds 5\.00 euros/],
      [holding.id, /5\.00 euros are held/],
      [drawn.id, /1 agents draw on it/],
    ] as const) {
      await expect(wallets().closeWallet({ params: { id } })).rejects.toEqual(refusal(400, message));
    }
  });

  test('a wallet that is funded while it closes is either closed and empty, or open with the money', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await wallets().createWallet({ body: { name: `Race ${round}` } });
      const [closed, funded] = await Promise.allSettled([wallets().closeWallet({ params: { id } }), fund(1, id)]);
      expect([closed.status, funded.status].sort()).toEqual(['fulfilled', 'rejected']);
      const after = await wallets().getWallet({ params: { id } });
      expect([after.status, after.balanceEuros]).toEqual(funded.status === 'fulfilled' ? ['active', 1] : ['closed', 0]);
    }
  });
});

const aHold = (walletId: string, amountCents: number) => ({
  id: newId('journal'),
  ownerId: owner.ownerId,
  kind: 'authorization',
  referenceType: 'transaction',
  referenceId: 'tx_hold0000',
  cause: `hold:${walletId}`,
  requestId: 'test',
  createdAt: new Date().toISOString(),
  postings: [
    { account: `wallet:${walletId}:available`, amountCents: -amountCents },
    { account: `wallet:${walletId}:held`, amountCents },
  ],
});
