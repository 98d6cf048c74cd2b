/** The exported book over HTTP: whole, in the order of the seals, only the owner's own, and safe in a spreadsheet. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { ledgerArea } from '../../../src/domains/treasury/ledger/ledger.contract.ts';
import { sealJournals } from '../../../src/domains/treasury/ledger/seal.service.ts';
import { WalletRow } from '../../../src/domains/treasury/wallets/wallet.entity.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let orm: Orm;
let owner: Owner;
let walletId: string;

const formula = '=HYPERLINK("http://x.example","a, b")';

beforeAll(async () => {
  world = await startWorld();
  orm = await openDatabase({
    ...{ url: world.config.DATABASE_URL, entities: [WalletRow] },
    ...{ poolSize: 2, applicationName: 'test' },
  });
  owner = await world.owner();
  ({ walletId } = await owner.client(fundArea).fundWallet({ body: { amountEuros: 10 } }));
  const stranger = await world.owner();
  await stranger.client(fundArea).fundWallet({ body: { amountEuros: 99 } });
  await post(300, () => formula);
  await seal();
});
afterAll(async () => {
  await orm.close();
  await world.close();
});

/** This many journals of one cent, in one call. */
const post = (count: number, memoOf: (n: number) => string | null): Promise<unknown> =>
  world.sql('select post_journals($1::jsonb)', [
    JSON.stringify(
      Array.from({ length: count }, (_, n) => ({
        ...{ id: newId('journal'), ownerId: owner.ownerId, kind: 'fund', referenceType: 'fund', referenceId: 'test' },
        ...{ cause: newId('journal'), requestId: 'test', createdAt: new Date().toISOString() },
        ...(memoOf(n) === null ? {} : { memo: memoOf(n), salt: 'salt', memoCommitment: 'commitment' }),
        postings: [
          { account: `external:processor:${owner.ownerId}`, amountCents: -1 },
          { account: `wallet:${walletId}:available`, amountCents: 1 },
        ],
      })),
    ),
  ]);

async function seal(): Promise<void> {
  while ((await databaseOf(orm).write((tx) => sealJournals(tx))) > 0);
}

const ask = (query: string, token = owner.key): Promise<Response> =>
  fetch(`${world.apiUrl}/ledger/export${query}`, { headers: { Authorization: `Bearer ${token}` } });

type Line = { sequence: number; sealedAt: string; id: string; memo: string | null; ownerId: string };
const linesOf = async (answer: Response): Promise<Line[]> =>
  (await answer.text())
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

test('NDJSON has every sealed entry once, in the order of the seals, as the list shows it', async () => {
  await post(1, () => null); // Waits for its seal.
  const answer = await ask('');
  expect(answer.status).toBe(200);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/x-ndjson; charset=utf-8',
    'content-disposition': `attachment; filename="ledger-${owner.ownerId}-1-301.ndjson"`,
    'x-data-residency': 'EU',
    'x-request-id': expect.any(String),
    'cache-control': 'no-store',
  });
  const lines = await linesOf(answer);
  expect(lines.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 602 }, (_, n) => 1 + Math.floor(n / 2)));
  expect(new Set(lines.map(({ id }) => id)).size).toBe(602);
  expect(lines.every(({ ownerId }) => ownerId === owner.ownerId)).toBe(true);
  const { sequence, sealedAt, ...entry } = lines[7] as Line;
  expect({ sequence, sealedAt }).toEqual({ sequence: 4, sealedAt: expect.stringMatching(/Z$/) });
  expect(await owner.client(ledgerArea).getLedgerEntry({ params: { id: entry.id } })).toMatchObject(entry);
});

test('CSV has the same entries, quoted, and a formula is text', async () => {
  const answer = await ask('?format=csv');
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const [head = '', ...rows] = (await answer.text()).split('\r\n');
  expect(rows.pop()).toBe('');
  const lines = await linesOf(await ask(''));
  expect(rows).toHaveLength(lines.length);
  // The edge checks each line of NDJSON against the contract; CSV has the same fields.
  const declared = Object.keys(ledgerArea.operations.getLedgerExport.success.body.shape);
  expect(head.split(',')).toEqual(declared);
  expect(Object.keys(lines[0] ?? {})).toEqual(declared);
  expect(rows[5]).toContain(`,"'=HYPERLINK(""http://x.example"",""a, b"")",`);
  for (const [n, line] of lines.entries())
    expect(rows[n]).toMatch(new RegExp(`^${line.sequence},${line.sealedAt},${line.id},`));
});

test('periods of sealing follow each other without a gap or a repeat', async () => {
  const { sealedThrough } = await owner.client(ledgerArea).listLedgerAccounts();
  const end = new Date(Date.parse(sealedThrough) + 1).toISOString();
  const before = await linesOf(await ask(`?to=${end}`));
  await post(5, () => null);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await seal();
  const after = await linesOf(await ask(`?from=${end}`));
  expect(after[0]?.sequence).toBe((before.at(-1)?.sequence ?? 0) + 1);
  expect([...before, ...after]).toEqual(await linesOf(await ask('')));
  expect(await linesOf(await ask(`?to=${end}`))).toEqual(before);
  expect(await linesOf(await ask('?to=2020-01-01'))).toEqual([]);
});

test('what cannot be exported is refused as everywhere', async () => {
  const refusals = await Promise.all(
    ['?to=2999-01-01', '?format=xml', '?from=2025-01-03&to=2025-01-01', '?limit=5'].map(async (query) => {
      const answer = await ask(query);
      return [answer.status, answer.headers.get('content-type'), ((await answer.json()) as { error: string }).error];
    }),
  );
  expect(refusals).toEqual([
    [400, expect.stringContaining('application/json'), expect.stringMatching(/^to: must not be after/)],
    [400, expect.stringContaining('application/json'), expect.stringMatching(/format/)],
    [400, expect.stringContaining('application/json'), 'from: must not be after to'],
    [400, expect.stringContaining('application/json'), expect.stringMatching(/limit/)],
  ]);
  const agent = await anAgentWithCard(world, owner);
  expect((await ask('', agent.token)).status).toBe(403);
  expect((await ask('', 'sk_test_unknown')).status).toBe(401);
});
