/**
 * Goal: an attacker with the password of the role that owns the tables cannot forge business records undetected. Method: each
 * forgery is made by SQL with triggers switched off; `GET /ledger/verify` and `bursar ledger verify` must name it.
 * @module
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { databaseOf } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/db/orm.ts';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { signingKeyFrom } from '../../../src/domains/treasury/ledger/checkpoint.rules.ts';
import { writeCheckpoint } from '../../../src/domains/treasury/ledger/checkpoint.service.ts';
import { checkpointFolder } from '../../../src/domains/treasury/ledger/checkpoint.store.ts';
import { ledgerArea } from '../../../src/domains/treasury/ledger/ledger.contract.ts';
import { sealJournals } from '../../../src/domains/treasury/ledger/seal.service.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { recordChains } from '../../../src/main/record-chains.ts';
import { leafHash, MerkleTree } from '../../../src/platform/record-chains/merkle.rules.ts';
import {
  genesisOfRecords,
  leafTextOfRecord,
  recordCommitment,
  sealOfRecord,
} from '../../../src/platform/record-chains/record-chain.rules.ts';
import { factsOf, sealRecords } from '../../../src/platform/record-chains/seal-records.ts';
import { aPayer, networkOf, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let orm: Awaited<ReturnType<typeof openDatabase>>;
let payer: Payer;
const program = fileURLToPath(new URL('../../../src/main/cli.ts', import.meta.url));

beforeAll(async () => {
  world = await startWorld();
  orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 3, applicationName: 'forgeries' });
});
afterAll(async () => {
  await orm.close();
  await world.close();
});

const folder = (): string => join(world.config.BURSAR_DATA_DIR, 'checkpoints');

async function sealAll(): Promise<void> {
  while ((await databaseOf(orm).write((tx) => sealJournals(tx))) > 0);
  while ((await databaseOf(orm).write((tx) => sealRecords(tx, recordChains))) > 0);
}

const checkpoint = () =>
  databaseOf(orm).write((tx) =>
    writeCheckpoint(tx, {
      key: signingKeyFrom(world.config.BURSAR_SIGNING_KEY ?? ''),
      store: checkpointFolder(folder()),
    }),
  );

/** An owner whose agent paid 12.50 in full, paid 8.00 of 20.00, and was declined once. */
beforeEach(async () => {
  payer = await aPayer(world, { policy: { max_transaction_cents: 5_000 } });
  await payer.owner.client(fundArea).fundWallet({ body: { amountEuros: 40, walletId: payer.walletId } });
  const { clear, send, authorizationOf } = networkOf(world);
  const pay = async (amountCents: number, cleared: { amountCents: number; final: boolean }) => {
    const asked = authorizationOf(payer, { amountCents });
    await send('authorizations', asked);
    await clear(payer, { authorizationId: asked.id, ...cleared });
  };
  await pay(1_250, { amountCents: 1_250, final: true });
  await pay(2_000, { amountCents: 800, final: false });
  await send('authorizations', authorizationOf(payer, { amountCents: 9_900 }));
  await sealAll();
  await checkpoint();
});

type Difference = { readonly check: string; readonly subject: string; readonly message: string };

const verify = async (full: 'true' | 'false' = 'true'): Promise<Difference[]> => {
  const found = await payer.owner.client(ledgerArea).verifyLedger({ query: { full } });
  expect(found.balanced).toBe(found.differences.length === 0);
  return found.differences;
};

/** With triggers switched off, as an attacker with the owning role's password can do. */
async function forge(text: string, params: readonly unknown[] = []): Promise<void> {
  const client = new pg.Client({ connectionString: world.ownerUrl });
  await client.connect();
  try {
    await client.query('set session_replication_role = replica');
    const { rowCount } = await client.query(text, [...params]);
    expect(rowCount).toBeGreaterThan(0);
  } finally {
    await client.end();
  }
}

const command = (): Promise<{ code: number; said: string }> =>
  new Promise((resolve) => {
    const env = {
      PATH: process.env.PATH ?? '',
      BURSAR_DATA_DIR: world.config.BURSAR_DATA_DIR,
      DATABASE_URL: world.config.DATABASE_URL,
      BURSAR_SIGNING_KEY: world.config.BURSAR_SIGNING_KEY ?? '',
    };
    const child = execFile(process.execPath, [program, 'ledger', 'verify'], { env }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, said: stdout + stderr }),
    );
  });

test('unchanged records agree', async () => {
  expect(await verify()).toEqual([]);
  expect(await verify('false')).toEqual([]);
  const found = await payer.owner.client(ledgerArea).verifyLedger();
  expect(found.records).toEqual([
    { chain: 'audit', sealedThrough: expect.any(Number), unsealed: 0 },
    { chain: 'decisions', sealedThrough: 3, unsealed: 0 },
  ]);
  expect(await command()).toMatchObject({ code: 0, said: expect.stringContaining('the ledger is whole') });
});

const named = (check: string, pattern: RegExp) =>
  expect.arrayContaining([expect.objectContaining({ check, message: expect.stringMatching(pattern) })]);

describe('each forgery is named', () => {
  test('spending counters set to zero', async () => {
    await forge('update spending_days set spent_cents = 0, payments = 0 where agent_id = $1', [payer.agentId]);
    expect(await verify()).toEqual(
      named('reconciliation', /counted are 0\.00 in 0 payments; the transactions and transfers make 32\.50 in 2$/),
    );
    expect(await verify('false')).toEqual(named('reconciliation', /counted are 0\.00/));
    const { code, said } = await command();
    expect([code, said]).toEqual([1, expect.stringMatching(/spending counters of agent ag_/)]);
  });

  test('a payment whose clearings were deleted', async () => {
    await forge(
      `delete from transaction_events e using transactions t
       where e.transaction_id = t.id and t.owner_id = $1 and e.kind = 'clearing'`,
      [payer.owner.ownerId],
    );
    const found = await verify();
    expect(found).toEqual(
      named('reconciliation', /says 12\.50 cleared; its clearing messages make 0\.00, its journals 12\.50/),
    );
    expect(found).toEqual(named('reconciliation', /of the kind clearing has no message clearing:/));
  });

  test('a clearing that the network never sent', async () => {
    await forge(`delete from network_messages where card_ref = $1 and kind = 'clearing'`, [payer.cardRef]);
    expect(await verify()).toEqual(named('reconciliation', /which the network never sent or which was deleted/));
  });

  test('deleted fundings', async () => {
    await forge('delete from fundings where owner_id = $1', [payer.owner.ownerId]);
    expect(await verify()).toEqual(named('reconciliation', /of the kind fund moves 40\.00 without a funding/));
  });

  test('declines rewritten as approvals', async () => {
    await forge(`update decisions set outcome = 'approved' where owner_id = $1 and outcome = 'declined'`, [
      payer.owner.ownerId,
    ]);
    const found = await verify();
    expect(found).toEqual(named('reconciliation', /says approved; the network was answered declined/));
    expect(found).toEqual(named('record', /does not match its seal 3: the record/));
  });

  test('a decline whose transaction and answer were rewritten as well', async () => {
    const { ownerId } = payer.owner;
    await forge(`update decisions set outcome = 'approved' where owner_id = $1`, [ownerId]);
    await forge(
      `update network_messages set answer = answer || '{"decision": "approved"}' where card_ref = $1 and kind = 'authorization'`,
      [payer.cardRef],
    );
    await forge(
      `update transactions set decline_rule = null, status = 'pending' where owner_id = $1 and status = 'failed'`,
      [ownerId],
    );
    const found = await verify();
    expect(found).toEqual(named('record', /does not match its seal 3/));
    expect(found).toEqual(named('reconciliation', /is pending; its last event, transaction\.declined, says failed/));
  });

  test('deleted audit rows', async () => {
    await forge(`delete from audit where owner_id = $1 and action = 'wallet.funded'`, [payer.owner.ownerId]);
    const found = await verify();
    expect(found).toEqual(named('record', /was sealed as number \d+ and is gone/));
    expect(found).toEqual(named('reconciliation', /funding fnd_\w+ of 40\.00 has no audit row with this amount/));
    expect(await verify('false')).toEqual(named('record', /and is gone/));
  });

  test('a forged `fund` journal of 500,000.00, posted by the ledger’s own function and sealed', async () => {
    const { ownerId } = payer.owner;
    const journal = {
      ...{ id: newId('journal'), ownerId, kind: 'fund', referenceType: 'fund', referenceId: 'fnd_forged01' },
      ...{ cause: 'fund:fnd_forged01', requestId: 'forged', createdAt: new Date().toISOString() },
      postings: [
        { account: `external:processor:${ownerId}`, amountCents: -50_000_000 },
        { account: `wallet:${payer.walletId}:available`, amountCents: 50_000_000 },
      ],
    };
    await world.sql('select post_journals($1::jsonb)', [JSON.stringify([journal])]);
    await sealAll();
    const said = /journal jr_\w+ of the kind fund moves 500000\.00 without a funding/;
    expect(await verify()).toEqual(named('reconciliation', said));
    expect(await verify('false')).toEqual(named('reconciliation', said));
    const ended = await command();
    expect([ended.code, ended.said]).toEqual([1, expect.stringMatching(said)]);
  });

  test('a forged journal with a forged funding lacks its audit row', async () => {
    await forge(
      `insert into fundings (id, owner_id, wallet_id, amount_cents, balance_cents, status, is_simulated, journal_id, created_at)
       select 'fnd_forged02', owner_id, wallet_id, 1, 1, 'completed', true, 'jr_forged02', now() from fundings where owner_id = $1 limit 1`,
      [payer.owner.ownerId],
    );
    const found = await verify();
    expect(found).toEqual(named('reconciliation', /funding fnd_forged02 of 0\.01 has no journal/));
    expect(found).toEqual(named('reconciliation', /funding fnd_forged02 of 0\.01 has no audit row/));
  });
});

describe('the chains of audit rows and decisions', () => {
  type AuditRow = { id: string };
  const lastAudit = async (): Promise<string> => {
    const [row] = await world.sql<AuditRow>(
      `select s.record_id as id from record_seals s where s.chain = 'audit' and s.owner_id = $1 order by sequence desc limit 1`,
      [payer.owner.ownerId],
    );
    return row?.id ?? '';
  };

  test.each([
    ['facts', `action = 'limit.updated'`, /does not match its seal/],
    ['texts', `details = '{"forged": true}'`, /has another text than the one that was sealed/],
    ['address', `source_address = '203.0.113.77'`, /has another address than the one that was sealed/],
  ])('an audit row with other %s is named', async (_what, change, message) => {
    await forge(`update audit set ${change} where id = $1`, [await lastAudit()]);
    expect(await verify()).toEqual(named('record', message));
  });

  test('an audit row that was slipped in is named', async () => {
    await forge(
      `insert into audit (id, owner_id, actor, action, subject_id, details, request_id, outcome, created_at)
       select $2, owner_id, actor, action, subject_id, details, request_id, outcome, created_at from audit where id = $1`,
      [await lastAudit(), newId('audit')],
    );
    expect(await verify()).toEqual(named('record', /has no seal and waits for none/));
  });

  test('deleting the last record with its seal and moving the head back is found by the checkpoint', async () => {
    const id = await lastAudit();
    await forge('delete from audit where id = $1', [id]);
    await forge('delete from record_seals where record_id = $1', [id]);
    await forge(
      `update record_heads h set (sequence, hash) = (select s.sequence, s.hash from record_seals s
         where s.chain = 'audit' and s.owner_id = $1 order by s.sequence desc limit 1)
       where h.chain = 'audit' and h.owner_id = $1`,
      [payer.owner.ownerId],
    );
    expect(await verify()).toEqual(named('checkpoint', /knows audit record \d+, which is gone/));
    const ended = await command();
    expect([ended.code, ended.said]).toEqual([
      1,
      expect.stringMatching(/knows audit record \d+ of own_\w+, which is gone/),
    ]);
  });

  test('a chain that was rewritten and sealed again is detected by the checkpoint', async () => {
    const { ownerId } = payer.owner;
    await forge(`update decisions set rule = 'forged' where owner_id = $1`, [ownerId]);
    const [audit, decisions] = recordChains;
    if (audit === undefined || decisions === undefined) throw new Error('two chains');
    const seals = await world.sql<{ sequence: string; recordId: string }>(
      `select sequence, record_id as "recordId" from record_seals where chain = 'decisions' and owner_id = $1 order by sequence`,
      [ownerId],
    );
    const facts = await factsOf(databaseOf(orm).read(), decisions, seals);
    let hash = genesisOfRecords;
    const tree = new MerkleTree();
    for (const { sequence, recordId } of seals) {
      const record = facts.get(recordId);
      const sealed = {
        ...{
          chain: 'decisions',
          sequence: Number(sequence),
          recordId,
          facts: record?.facts ?? '',
        },
        ...{ addressCommitment: null, textCommitment: recordCommitment(record?.texts ?? '', 'salt') },
      };
      const leaf = leafHash(leafTextOfRecord(sealed));
      hash = sealOfRecord(hash, leaf);
      tree.append(leaf);
      await forge(`update record_salts set text_salt = 'salt' where chain = 'decisions' and record_id = $1`, [
        recordId,
      ]);
      await forge(
        `update record_seals set hash = $2, text_commitment = $3, leaf = $4 where chain = 'decisions' and record_id = $1`,
        [...[recordId, hash, sealed.textCommitment], leaf],
      );
    }
    await forge(`update record_heads set hash = $2, frontier = $3 where chain = 'decisions' and owner_id = $1`, [
      ...[ownerId, hash, tree.frontier],
    ]);
    const found = await verify();
    expect(found).toEqual(named('checkpoint', /knows another seal of decisions record 3: history was rewritten/));
    expect(found.filter(({ check }) => check === 'record')).toEqual([]);
  });

  test('purging addresses leaves the chain whole; removing one without its salt does not', async () => {
    const [row] = await world.sql<AuditRow>(
      `select s.record_id as id from record_seals s join audit a on a.id = s.record_id
       where s.owner_id = $1 and a.source_address is not null limit 1`,
      [payer.owner.ownerId],
    );
    await forge('update audit set source_address = null where id = $1', [row?.id]);
    expect(await verify()).toEqual(named('record', /has lost its address without a purge/));
    await forge('update record_salts set address_salt = null where record_id = $1', [row?.id]);
    expect(await verify()).toEqual([]);
    await forge(`update audit set created_at = created_at - interval '91 days' where owner_id = $1`, [
      payer.owner.ownerId,
    ]);
    await world.sql('select purge_audit_addresses(now(), 1000)');
    const left = await world.sql(
      `select 1 from record_salts t join audit a on a.id = t.record_id
       where a.owner_id = $1 and t.chain = 'audit' and t.address_salt is not null`,
      [payer.owner.ownerId],
    );
    expect(left).toEqual([]);
    await forge(`update audit set created_at = created_at + interval '91 days' where owner_id = $1`, [
      payer.owner.ownerId,
    ]);
    expect(await verify()).toEqual([]);
  });
});
