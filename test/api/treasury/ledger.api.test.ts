/** The ledger over HTTP: every filter, no access for other owners, and verification by its owner. @module */

import { createPublicKey } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { runSql } from '../../../src/db/statement.ts';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { keyIdOf, signingKeyFrom } from '../../../src/domains/treasury/ledger/checkpoint.rules.ts';
import { writeCheckpoint } from '../../../src/domains/treasury/ledger/checkpoint.service.ts';
import { checkpointFolder } from '../../../src/domains/treasury/ledger/checkpoint.store.ts';
import { ledgerArea } from '../../../src/domains/treasury/ledger/ledger.contract.ts';
import { sealJournals } from '../../../src/domains/treasury/ledger/seal.service.ts';
import { fullCheckLock } from '../../../src/domains/treasury/ledger/verify.service.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { WalletRow } from '../../../src/domains/treasury/wallets/wallet.entity.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { type AgentWithCard, anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { refusal } from '../../support/refusals.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
let orm: Orm;
let folder: string;
let mainId: string;
let otherId: string;
let agent: AgentWithCard;
let sibling: AgentWithCard;

const ledger = (of: Pick<Owner, 'client'> = owner) => of.client(ledgerArea);
const hour = 3_600_000;

/** Main gets 100.00, then 10.00 go to Other, then each agent holds money of its wallet; one hour apart. */
beforeAll(async () => {
  world = await startWorld();
  folder = await mkdtemp(join(tmpdir(), 'bursar-checkpoints-'));
  orm = await openDatabase({
    url: world.config.DATABASE_URL,
    entities: [WalletRow],
    poolSize: 2,
    applicationName: 'test',
  });
  owner = await world.owner();
  ({ walletId: mainId } = await owner.client(fundArea).fundWallet({ body: { amountEuros: 100 } }));
  await world.advance(hour);
  ({ id: otherId } = await owner.client(walletsArea).createWallet({ body: { name: 'Other' } }));
  await owner
    .client(walletsArea)
    .fundWalletById({ params: { id: otherId }, body: { amountEuros: 10, fromWalletId: mainId } });
  await world.advance(hour);
  agent = await anAgentWithCard(world, owner);
  sibling = await anAgentWithCard(world, owner);
  for (const buyer of [agent, sibling]) await hold(buyer, 500);
});
afterAll(async () => {
  await orm.close();
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

const list = async (query: object, of: Pick<Owner, 'client'> = owner) =>
  (await ledger(of).listLedgerEntries({ query })).data;

test('an entry contains amount, account, cause, and the balance before and after', async () => {
  const [entry] = await list({ walletId: otherId });
  expect(entry).toEqual({
    id: expect.stringMatching(/^le_[a-z0-9]{28}$/),
    journalId: expect.stringMatching(/^jr_/),
    ownerId: owner.ownerId,
    agentId: null,
    kind: 'internal_transfer',
    account: `wallet:${otherId}:available`,
    walletId: otherId,
    direction: 'credit',
    amountEuros: 10,
    balanceBeforeEuros: 0,
    balanceAfterEuros: 10,
    referenceType: 'fund',
    referenceId: expect.stringMatching(/^fnd_/),
    memo: null,
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    runId: null,
    createdAt: expect.any(String),
  });
});

// spec: does:Ledger:double-entry ledger queries
test('one entry comes with the other lines of its journal', async () => {
  const [entry] = await list({ walletId: otherId });
  const { lines, ...alone } = await ledger().getLedgerEntry({ params: { id: entry?.id ?? '' } });
  expect(alone).toEqual(entry);
  expect(lines).toMatchObject([
    { account: `wallet:${mainId}:available`, direction: 'debit', amountEuros: 10, balanceAfterEuros: 90 },
  ]);
});

// spec: does:Ledger:double-entry ledger queries
test('lists are newest first and filtered by account, wallet, reference, direction and time', async () => {
  const all = await list({});
  expect(all).toHaveLength(8);
  expect(all.map(({ kind }) => kind)).toEqual([
    ...Array<string>(4).fill('authorization'),
    ...Array<string>(2).fill('internal_transfer'),
    ...Array<string>(2).fill('fund'),
  ]);
  expect(await list({ walletId: mainId })).toHaveLength(2);
  expect(await list({ walletId: agent.walletId })).toHaveLength(2);
  expect(await list({ account: `external:processor:${owner.ownerId}` })).toHaveLength(1);
  expect(await list({ account: `wallet:${mainId}:available`, walletId: mainId })).toHaveLength(2);
  expect(await list({ account: `wallet:${mainId}:available`, walletId: otherId })).toHaveLength(0);
  expect(await list({ referenceType: 'transaction' })).toHaveLength(4);
  expect(await list({ referenceId: agent.agentId })).toHaveLength(2);
  expect(await list({ direction: 'debit' })).toHaveLength(4);
  expect(await list({ direction: 'credit', walletId: mainId })).toHaveLength(1);
  const transferredAt = all[4]?.createdAt ?? '';
  expect(await list({ from: transferredAt })).toHaveLength(6);
  expect(await list({ to: transferredAt })).toHaveLength(2);
  expect(await list({ from: transferredAt, to: new Date(Date.parse(transferredAt) + 1).toISOString() })).toHaveLength(
    2,
  );
});

test.each([{}, { walletId: 'main' as const }, { referenceType: 'transaction' as const }])(
  'pages of any size hold every entry once: %j',
  async (filter) => {
    const query = 'walletId' in filter ? { walletId: mainId } : filter;
    const whole = await list(query);
    for (const limit of [1, 2, 3]) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await ledger().listLedgerEntries({
          query: { ...query, limit, ...(cursor !== undefined && { cursor }) },
        });
        seen.push(...page.data.map(({ id }) => id));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      expect(seen).toEqual(whole.map(({ id }) => id));
    }
  },
);

test.each([
  [{ limit: 0 }, /limit/],
  [{ walletId: 'main' }, /wallet id/],
  [{ referenceType: 'gift' }, /referenceType/],
  [{ direction: 'up' }, /direction/],
  [{ from: 'yesterday' }, /from/],
  [{ cursor: 'nonsense' }, /nextCursor/],
  [{ colour: 'red' }, /colour/],
])('a list asked with %j is refused', async (query, message) => {
  await expect(ledger().listLedgerEntries({ query: query as never })).rejects.toEqual(refusal(400, message));
});

test('another owner sees none of it, and an unknown entry does not exist', async () => {
  const stranger = await world.owner();
  expect(await list({}, stranger)).toEqual([]);
  expect(await list({ walletId: mainId }, stranger)).toEqual([]);
  expect(await list({ account: `wallet:${mainId}:available` }, stranger)).toEqual([]);
  expect(await ledger(stranger).listLedgerAccounts()).toMatchObject({ data: [] });
  await expect(
    ledger(stranger).getLedgerStatement({ query: { account: `wallet:${mainId}:available` } }),
  ).rejects.toEqual(refusal(404, /^no ledger account/));
  expect(await ledger(stranger).verifyLedger()).toMatchObject({ balanced: true, journals: 0 });
  const [entry] = await list({ walletId: mainId });
  for (const id of [entry?.id ?? '', newId('entry'), 'le_abcdefgh']) {
    await expect(ledger(stranger).getLedgerEntry({ params: { id } })).rejects.toEqual(refusal(404, /^no ledger entry/));
  }
  await expect(ledger().getLedgerEntry({ params: { id: newId('entry') } })).rejects.toMatchObject({ status: 404 });
});

test('an agent token gets the entries of its agent’s purchases and no others', async () => {
  const its = world.as(agent.token);
  const seen = await list({}, its);
  expect(seen).toHaveLength(2);
  expect(seen.every(({ agentId }) => agentId === agent.agentId)).toBe(true);
  expect(await ledger(its).getLedgerEntry({ params: { id: seen[0]?.id ?? '' } })).toMatchObject({ lines: [{}] });
  expect(await list({ walletId: mainId }, its)).toEqual([]);
  expect(await list({ walletId: sibling.walletId }, its)).toEqual([]);
  const [other] = await list({}, world.as(sibling.token));
  await expect(ledger(its).getLedgerEntry({ params: { id: other?.id ?? '' } })).rejects.toEqual(
    refusal(403, /another agent/),
  );
  for (const ask of [
    () => ledger(its).listLedgerAccounts(),
    () => ledger(its).getLedgerStatement({ query: { account: `wallet:${agent.walletId}:available` } }),
    () => ledger(its).verifyLedger(),
    () => ledger(its).listLedgerCheckpoints(),
  ]) {
    await expect(ask()).rejects.toMatchObject({ status: 403 });
  }
});

const seal = async (): Promise<void> => {
  while ((await databaseOf(orm).write((tx) => sealJournals(tx))) > 0);
};
const sealedNow = async (): Promise<string> => {
  await seal();
  return (await ledger().listLedgerAccounts()).sealedThrough;
};

test('the trial balance of now has equal totals, sealed or not', async () => {
  const stranger = await world.owner();
  const { walletId } = await stranger.client(fundArea).fundWallet({ body: { amountEuros: 30 } });
  await stranger.client(fundArea).fundWallet({ body: { amountEuros: 12 } });
  const asks = async () =>
    (await ledger(stranger).listLedgerAccounts()).data.filter(
      ({ debitEuros, creditEuros }) => debitEuros + creditEuros > 0,
    );
  const due = [
    { account: `external:processor:${stranger.ownerId}`, debitEuros: 42, creditEuros: 0, balanceEuros: -42 },
    { account: `wallet:${walletId}:available`, debitEuros: 0, creditEuros: 42, balanceEuros: 42 },
  ];
  expect(await asks()).toEqual(due);
  await seal();
  expect(await asks()).toEqual(due);
});

test('a trial balance as of an instant counts what was sealed by then and never changes; a later one is refused', async () => {
  const its = await world.owner();
  const { walletId } = await its.client(fundArea).fundWallet({ body: { amountEuros: 30 } });
  const first = await sealedNow();
  const asOf = (at: string) => ledger(its).listLedgerAccounts({ query: { asOf: at } });
  const balances = {
    asOf: first,
    data: [
      { account: `external:processor:${its.ownerId}`, debitEuros: 30, creditEuros: 0, balanceEuros: -30 },
      { account: `wallet:${walletId}:available`, debitEuros: 0, creditEuros: 30, balanceEuros: 30 },
    ],
  };
  expect(await asOf(first)).toMatchObject(balances);
  const justAfter = new Date(Date.parse(first) + 1).toISOString();
  await expect(asOf(justAfter)).rejects.toEqual(refusal(400, /^asOf: must not be after .*Z, because later journals/));

  // Posted with a time before `first`, but committed only now.
  await postLate(its.ownerId, walletId, new Date(Date.parse(first) - hour));
  expect(await asOf(first)).toMatchObject(balances);
  const second = await sealedNow();
  expect(Date.parse(second)).toBeGreaterThan(Date.parse(first));
  expect(await asOf(first)).toMatchObject(balances);
  expect((await asOf(second)).data).toEqual([
    { account: `external:processor:${its.ownerId}`, debitEuros: 37, creditEuros: 0, balanceEuros: -37 },
    { account: `wallet:${walletId}:available`, debitEuros: 0, creditEuros: 37, balanceEuros: 37 },
  ]);
  expect((await asOf('2020-01-01T00:00:00.000Z')).data).toEqual([]);
});

test('statements chain: each opens with the closing balance of the one before, also after a late commit', async () => {
  const its = await world.owner();
  const { walletId } = await its.client(fundArea).fundWallet({ body: { amountEuros: 30 } });
  const account = `wallet:${walletId}:available`;
  const ends: string[] = [new Date(Date.parse(await sealedNow()) + 1).toISOString()];
  for (const late of [true, false, true]) {
    if (late) await postLate(its.ownerId, walletId, new Date(Date.parse(ends[0] ?? '') - hour));
    else for (let n = 0; n < 3; n++) await its.client(fundArea).fundWallet({ body: { amountEuros: 1, walletId } });
    ends.push(new Date(Date.parse(await sealedNow()) + 1).toISOString());
  }
  const statement = (query: object) => ledger(its).getLedgerStatement({ query: { account, ...query } });
  const periods = ends.map((to, n) => (n === 0 ? { to } : { from: ends[n - 1] ?? '', to }));
  const parts = await Promise.all(periods.map((period) => statement(period)));
  expect(parts.map((part) => [part.openingBalanceEuros, part.data.length, part.closingBalanceEuros])).toEqual([
    [0, 1, 30],
    [30, 1, 37],
    [37, 3, 40],
    [40, 1, 47],
  ]);
  for (const { openingBalanceEuros, closingBalanceEuros, data, to } of parts) {
    let balance: number = openingBalanceEuros;
    for (const line of data) {
      expect(line).toMatchObject({ account, balanceBeforeEuros: balance });
      balance = line.balanceAfterEuros ?? Number.NaN;
    }
    expect(balance).toBe(closingBalanceEuros);
    const asOf = new Date(Date.parse(to) - 1).toISOString();
    const { data: totals } = await ledger(its).listLedgerAccounts({ query: { asOf } });
    expect(totals.find((row) => row.account === account)?.balanceEuros).toBe(closingBalanceEuros);
  }

  const whole = await statement({});
  expect(whole).toMatchObject({ account, from: null, openingBalanceEuros: 0, closingBalanceEuros: 47, hasMore: false });
  expect(whole.data).toEqual(parts.flatMap(({ data }) => data));
  const seen: unknown[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await statement({ to: whole.to, limit: 4, ...(cursor !== undefined && { cursor }) });
    expect(page).toMatchObject({ openingBalanceEuros: 0, closingBalanceEuros: 47, to: whole.to });
    seen.push(...page.data);
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(whole.data);

  const beyond = new Date(Date.parse(whole.to) + 60_000).toISOString();
  await expect(statement({ to: beyond })).rejects.toEqual(refusal(400, /^to: must not be after/));
  await expect(statement({ from: whole.to, to: ends[0] })).rejects.toEqual(refusal(400, /^from: must not be after to/));
  await expect(statement({ account: 'wallet:wal_00000000:available' })).rejects.toEqual(refusal(404, /^no ledger/));
});

test('a contra account has a statement, whose lines are in the order of their seals and have no balances', async () => {
  const its = await world.owner();
  const { walletId } = await its.client(fundArea).fundWallet({ body: { amountEuros: 30 } });
  const account = `external:processor:${its.ownerId}`;
  const statement = (query: object = {}) => ledger(its).getLedgerStatement({ query: { account, ...query } });
  const first = new Date(Date.parse(await sealedNow()) + 1).toISOString();
  await postLate(its.ownerId, walletId, new Date(Date.parse(first) - hour));
  for (let n = 0; n < 3; n++) await its.client(fundArea).fundWallet({ body: { amountEuros: 1, walletId } });
  const last = new Date(Date.parse(await sealedNow()) + 1).toISOString();

  const whole = await statement({ to: last });
  expect(whole).toMatchObject({ account, from: null, to: last, openingBalanceEuros: 0, closingBalanceEuros: -40 });
  expect(whole.data.map(({ direction, amountEuros }) => [direction, amountEuros])).toEqual([
    ...[30, 7, 1, 1, 1].map((amountEuros) => ['debit', amountEuros]),
  ]);
  for (const line of whole.data)
    expect(line).toMatchObject({ account, walletId: null, balanceBeforeEuros: null, balanceAfterEuros: null });
  expect(await statement({ to: first })).toMatchObject({ closingBalanceEuros: -30, data: whole.data.slice(0, 1) });
  const later = await statement({ from: first, to: last, limit: 3 });
  expect(later).toMatchObject({ openingBalanceEuros: -30, closingBalanceEuros: -40, data: whole.data.slice(1, 4) });
  const rest = await statement({ from: first, to: last, limit: 3, cursor: later.nextCursor ?? '' });
  expect(rest).toMatchObject({ openingBalanceEuros: -30, data: whole.data.slice(4), hasMore: false });

  // Everything that is sealed, and each instant between: the trial balance says the same.
  for (const to of [first, last]) {
    const asOf = new Date(Date.parse(to) - 1).toISOString();
    const { data } = await ledger(its).listLedgerAccounts({ query: { asOf } });
    expect(data.find((row) => row.account === account)?.balanceEuros).toBe(
      (await statement({ to })).closingBalanceEuros,
    );
  }
  // The late journal has no funding; the lines of the statement are those of the entries.
  const { differences } = await ledger(its).verifyLedger({ query: { full: 'true' } });
  expect(differences.filter(({ check }) => check !== 'reconciliation')).toEqual([]);
});

test('a statement shows no account of another owner, and a contra account only once something was posted to it', async () => {
  const [its, other] = [await world.owner(), await world.owner()];
  await its.client(fundArea).fundWallet({ body: { amountEuros: 30 } });
  const statement = (owner: Owner, account: string) => ledger(owner).getLedgerStatement({ query: { account } });
  const account = `external:processor:${its.ownerId}`;
  // Posted, and perhaps not sealed yet.
  expect(await statement(its, account)).toMatchObject({ openingBalanceEuros: 0 });
  for (const unknown of [account, `fees:${other.ownerId}`, 'nonsense'])
    await expect(statement(other, unknown)).rejects.toEqual(refusal(404, /^no ledger account/));
});

/** A journal of 7.00 with this time, as one whose transaction was slow. */
const postLate = (ownerId: string, walletId: string, at: Date): Promise<unknown> =>
  world.sql('select post_journals($1::jsonb)', [
    JSON.stringify([
      {
        id: newId('journal'),
        ownerId,
        kind: 'fund',
        referenceType: 'fund',
        referenceId: 'late',
        cause: `late:${newId('journal')}`,
        requestId: 'test',
        createdAt: at.toISOString(),
        postings: [
          { account: `external:processor:${ownerId}`, amountCents: -700 },
          { account: `wallet:${walletId}:available`, amountCents: 700 },
        ],
      },
    ]),
  ]);

test('verify reports an intact ledger as intact, and continues from the checkpoint that it verified', async () => {
  const its = await world.owner();
  const { walletId } = await its.client(fundArea).fundWallet({ body: { amountEuros: 30 } });
  expect(await ledger(its).verifyLedger()).toEqual({
    balanced: true,
    journals: 1,
    sealedThrough: 0,
    unsealed: 1,
    checkedFrom: 0,
    records: [
      { chain: 'audit', sealedThrough: 0, unsealed: expect.any(Number) },
      { chain: 'decisions', sealedThrough: 0, unsealed: 0 },
    ],
    differences: [],
  });
  const key = signingKeyFrom(world.config.BURSAR_SIGNING_KEY ?? '');
  while ((await databaseOf(orm).write((tx) => sealJournals(tx))) > 0);
  await databaseOf(orm).write((tx) => writeCheckpoint(tx, { key, store: checkpointFolder(folder) }));
  const { data } = await ledger(its).listLedgerCheckpoints();
  expect(data).toMatchObject([{ sequence: 1, keyId: keyIdOf(createPublicKey(key)) }]);
  expect(await ledger(its).verifyLedger()).toMatchObject({ balanced: true, sealedThrough: 1, checkedFrom: 0 });
  await its.client(fundArea).fundWallet({ body: { amountEuros: 1, walletId } });
  expect(await ledger(its).verifyLedger()).toMatchObject({ balanced: true, journals: 2, checkedFrom: 1 });
  expect(await ledger(its).verifyLedger({ query: { full: 'true' } })).toMatchObject({ balanced: true, checkedFrom: 0 });
});

test('only one full check runs at a time; a check from the last checkpoint runs beside it', async () => {
  await databaseOf(orm).write(async (tx) => {
    await runSql(tx, 'select pg_advisory_xact_lock($1)', [fullCheckLock]);
    await expect(ledger().verifyLedger({ query: { full: 'true' } })).rejects.toEqual(refusal(429, /full=true/));
    expect(await ledger().verifyLedger()).toHaveProperty('balanced');
  });
  expect(await ledger().verifyLedger({ query: { full: 'true' } })).toHaveProperty('balanced');
});

test('verify names the differences', async () => {
  const its = await world.owner();
  const { walletId } = await its.client(fundArea).fundWallet({ body: { amountEuros: 30 } });
  await world.sql(`update ledger_accounts set balance_cents = 3001 where name = 'wallet:${walletId}:available'`);
  const found = await ledger(its).verifyLedger();
  expect(found.balanced).toBe(false);
  expect(found.differences).toEqual(
    expect.arrayContaining([
      {
        check: 'account',
        subject: `wallet:${walletId}:available`,
        message: 'stands at 3001 cents after 1 entries; its entries make 3000 after 1',
      },
    ]),
  );
});

test('a hold that no open payment explains is a difference', async () => {
  const found = await ledger().verifyLedger({ query: { full: 'true' } });
  expect(found.differences.map(({ check, subject }) => [check, subject])).toContainEqual([
    'hold',
    `wallet:${agent.walletId}:held`,
  ]);
});

async function hold({ agentId, walletId }: AgentWithCard, amountCents: number): Promise<void> {
  const [clock] = await world.sql<{ at: Date }>(`select now() + offset_ms * interval '1 ms' as at from clock`);
  const journal = {
    id: newId('journal'),
    ownerId: owner.ownerId,
    agentId,
    kind: 'authorization',
    referenceType: 'transaction',
    referenceId: agentId,
    cause: `hold:${agentId}`,
    requestId: 'test',
    createdAt: clock?.at.toISOString(),
    postings: [
      { account: `wallet:${walletId}:available`, amountCents: -amountCents },
      { account: `wallet:${walletId}:held`, amountCents },
    ],
  };
  await world.sql('select post_journals($1::jsonb)', [JSON.stringify([journal])]);
}
