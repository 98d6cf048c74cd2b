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
import { createClient } from '../../../src/client/client.ts';
import { databaseOf } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/db/orm.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { bankFilesArea } from '../../../src/domains/treasury/bank-files/bank-file.contract.ts';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { signingKeyFrom } from '../../../src/domains/treasury/ledger/checkpoint.rules.ts';
import { writeCheckpoint } from '../../../src/domains/treasury/ledger/checkpoint.service.ts';
import { checkpointFolder } from '../../../src/domains/treasury/ledger/checkpoint.store.ts';
import { ledgerArea } from '../../../src/domains/treasury/ledger/ledger.contract.ts';
import { faultOfProof, type Proof } from '../../../src/domains/treasury/ledger/proof.rules.ts';
import { sealJournals } from '../../../src/domains/treasury/ledger/seal.service.ts';
import { transfersArea } from '../../../src/domains/treasury/transfers/transfer.contract.ts';
import { germanIban } from '../../../src/domains/treasury/wallets/iban.rules.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { recordChains } from '../../../src/main/record-chains.ts';
import { leafHash, MerkleTree } from '../../../src/platform/record-chains/merkle.rules.ts';
import {
  genesisOfRecords,
  leafTextOfRecord,
  recordCommitment,
  sealOfRecord,
  sealOfRecordFormat1,
} from '../../../src/platform/record-chains/record-chain.rules.ts';
import { factsOf, sealRecords } from '../../../src/platform/record-chains/seal-records.ts';
import { proveRecord } from '../../../src/usecases/treasury/prove-record.ts';
import { freshReference, notificationOf, sendBankFile } from '../../support/bank-files.ts';
import { aBeneficiary, anIban } from '../../support/factories/beneficiaries.ts';
import { aPayer, networkOf, type Payer } from '../../support/payments-world.ts';
import { sealAgain } from '../../support/seal-again.ts';
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

describe('each forgery of a transfer is named', () => {
  let travel: string;
  let transferId: string;
  let splitId: string;
  const found = async (pattern: RegExp) => {
    for (const full of ['true', 'false'] as const) expect(await verify(full)).toEqual(named('reconciliation', pattern));
  };

  /** 12.00 to the wallet for travel, and a split of 3.00 and 2.00 to it. */
  beforeEach(async () => {
    const { owner, walletId: fromWalletId } = payer;
    travel = (await owner.client(walletsArea).createWallet({ body: { name: 'Travel' } })).id;
    const transfers = owner.client(transfersArea);
    const body = { fromWalletId, toWalletId: travel, amountEuros: 12 };
    transferId = (await transfers.createTransfer({ body })).id;
    const splits = [3, 2].map((amountEuros) => ({ toWalletId: travel, amountEuros }));
    splitId = (await transfers.createTransferSplit({ body: { fromWalletId, splits } })).id;
    await sealAll();
    await checkpoint();
    expect(await verify()).toEqual([]);
  });

  /** The transfer's journal moves twice as much; every later balance fits, and the whole chain is sealed again. */
  const rewriteJournal = async (): Promise<void> => {
    const lines = `select e.account, e.account_version, e.amount_cents from transfers t
      join ledger_entries e on e.journal_id = t.journal_id where t.id = $1`;
    await forge(
      `update ledger_accounts a set balance_cents = a.balance_cents + l.amount_cents,
         debited_cents = a.debited_cents - least(l.amount_cents, 0),
         credited_cents = a.credited_cents + greatest(l.amount_cents, 0)
       from (${lines}) l where a.name = l.account`,
      [transferId],
    );
    await forge(
      `update ledger_entries e set balance_after_cents = e.balance_after_cents + l.amount_cents,
         balance_before_cents = e.balance_before_cents
           + case when e.account_version > l.account_version then l.amount_cents else 0 end,
         amount_cents = e.amount_cents + case when e.account_version = l.account_version then l.amount_cents else 0 end
       from (${lines}) l where e.account = l.account and e.account_version >= l.account_version`,
      [transferId],
    );
    await sealAgain(databaseOf(orm).read(), payer.owner.ownerId, forge);
  };

  test('a journal that was rewritten and sealed again, also when its transfer and its audit row follow', async () => {
    await rewriteJournal();
    const rewritten = await verify();
    expect(rewritten).toEqual(named('reconciliation', /transfer tr_\w+ is of 12\.00; its journal jr_\w+ moves 24\.00/));
    expect(rewritten).toEqual(named('checkpoint', /knows another seal of journal \d+: history was rewritten/));
    // Nothing else: without its checkpoints and transfers the book looks whole.
    expect(new Set(rewritten.map(({ check }) => check))).toEqual(new Set(['checkpoint', 'reconciliation']));
    const ended = await command();
    expect([ended.code, ended.said]).toEqual([1, expect.stringMatching(/moves 24\.00, or between other accounts/)]);

    await forge('update transfers set amount_cents = 2400 where id = $1', [transferId]);
    await found(/transfer tr_\w+ of 24\.00 has no audit row with this amount/);
    await forge(
      `update audit set details = details || '{"amountCents": 2400}'
       where subject_id = $1 and action = 'transfer.completed'`,
      [transferId],
    );
    const followed = await verify();
    expect(followed).toEqual(named('record', /has another text than the one that was sealed/));
    expect(followed).toEqual(named('checkpoint', /history was rewritten/));
    expect(followed.map(({ check }) => check)).not.toContain('reconciliation');
  });

  test('a transfer without a journal', async () => {
    await forge(
      `insert into transfers select (jsonb_populate_record(t, '{"id": "tr_forged01", "journal_id": "jr_forged01"}')).*
       from transfers t where id = $1`,
      [transferId],
    );
    await found(/transfer tr_forged01 of 12\.00 has no journal/);
    await found(/transfer tr_forged01 of 12\.00 has no audit row with this amount/);
  });

  test('a transfer whose journal was deleted', async () => {
    const ofTransfer = 'journal_id = (select journal_id from transfers where id = $1)';
    await forge(`delete from ledger_entries where ${ofTransfer}`, [transferId]);
    await forge(`delete from journals where id = (select journal_id from transfers where id = $1)`, [transferId]);
    await found(/transfer tr_\w+ of 12\.00 has no journal/);
  });

  test('a journal without a transfer, deleted or never made', async () => {
    const { ownerId } = payer.owner;
    const journal = {
      ...{ id: newId('journal'), ownerId, kind: 'internal_transfer', referenceType: 'transfer' },
      ...{ referenceId: 'tr_forged02', cause: 'transfer:tr_forged02', requestId: 'forged' },
      createdAt: new Date().toISOString(),
      postings: [
        { account: `wallet:${payer.walletId}:available`, amountCents: -700 },
        { account: `wallet:${travel}:available`, amountCents: 700 },
      ],
    };
    await world.sql('select post_journals($1::jsonb)', [JSON.stringify([journal])]);
    await sealAll();
    await found(/journal jr_\w+ moves 7\.00 without a transfer/);
    await forge('delete from transfers where id = $1', [transferId]);
    await found(/journal jr_\w+ moves 12\.00 without a transfer/);
  });

  test('a changed amount, and another wallet', async () => {
    await forge('update transfers set to_wallet_id = $2 where id = $1', [transferId, 'wal_00000000']);
    await found(/transfer tr_\w+ is of 12\.00; its journal jr_\w+ moves 12\.00, or between other accounts/);
    await forge('update transfers set to_wallet_id = $2, amount_cents = 1100 where id = $1', [transferId, travel]);
    await found(/transfer tr_\w+ is of 11\.00; its journal jr_\w+ moves 12\.00/);
    await found(/transfer tr_\w+ of 11\.00 has no audit row with this amount/);
    await forge('update transfers set amount_cents = 1200 where id = $1', [transferId]);
    expect(await verify()).toEqual([]);
  });

  test('a split whose lines do not sum to it, and lines whose split is gone', async () => {
    await forge('update transfer_splits set total_amount_cents = 501 where id = $1', [splitId]);
    await found(/split spl_\w+ is of 5\.01; its transfers sum to 5\.00/);
    await forge('update transfer_splits set total_amount_cents = 500 where id = $1', [splitId]);
    await forge('update transfers set split_id = null, split_line = null where split_id = $1 and split_line = 1', [
      splitId,
    ]);
    await found(/split spl_\w+ is of 5\.00; its transfers sum to 3\.00/);
    await forge('delete from transfer_splits where id = $1', [splitId]);
    await found(/transfers of 3\.00 belong to the split spl_\w+, which is gone/);
  });
});

describe('each forgery of an intent that a transfer paid for is named', () => {
  let intentId: string;
  let transferId: string;
  const found = async (pattern: RegExp) => {
    for (const full of ['true', 'false'] as const) expect(await verify(full)).toEqual(named('reconciliation', pattern));
  };

  /** 6.00 of the agent to another wallet, for an intent of it. */
  beforeEach(async () => {
    const { owner, agentId, token } = payer;
    await world.sql(`update agent_tokens set scopes = '{*,transfers.write}' where agent_id = $1`, [agentId]);
    const toWalletId = (await owner.client(walletsArea).createWallet({ body: { name: 'Travel' } })).id;
    const agent = world.as(token);
    const declared = { purpose: 'Train', expectedAmountEuros: 6 };
    intentId = (await agent.client(intentsArea).declareIntent({ body: declared })).id;
    const body = { toWalletId, amountEuros: 6, intentId };
    transferId = (await agent.client(transfersArea).createTransfer({ body })).id;
    await sealAll();
    await checkpoint();
    expect(await verify()).toEqual([]);
  });

  test('one that names no transfer, another one, or is open again', async () => {
    await forge('update intents set transfer_id = null where id = $1', [intentId]);
    await found(/tr_\w+ pays for intent int_\w+, which does not name it/);
    await forge(`update intents set transfer_id = 'tr_forged05' where id = $1`, [intentId]);
    await found(/intent int_\w+ names tr_forged05, and there is no such transfer or split/);
    await found(/tr_\w+ pays for intent int_\w+, which does not name it/);
    await forge(`update intents set transfer_id = $2, status = 'approved' where id = $1`, [intentId, transferId]);
    await found(/names tr_\w+, which has paid for it; the intent is approved/);
    await forge(`update intents set status = 'completed' where id = $1`, [intentId]);
    expect(await verify()).toEqual([]);
  });

  test('a transfer for another intent, and one of another agent', async () => {
    const said = /intent int_\w+ names tr_\w+, which is not all for this intent, its owner and its agent/;
    await forge(`update transfers set intent_id = 'int_forged06' where id = $1`, [transferId]);
    await found(said);
    await forge(`update transfers set intent_id = $2, agent_id = 'ag_forged06' where id = $1`, [transferId, intentId]);
    await found(said);
  });

  test('a transfer that is under way for an intent that is completed, and one that was cancelled', async () => {
    const { owner, token, walletId } = payer;
    await world.sql(`update wallets set iban = $2, bic = 'BURSDEF0XXX' where id = $1`, [walletId, anIban()]);
    const { id: beneficiaryId } = await aBeneficiary(owner, { agentsMayPay: true });
    const [intents, transfers] = [world.as(token).client(intentsArea), world.as(token).client(transfersArea)];
    const declared = { purpose: 'Rent', expectedAmountEuros: 4 };
    const { id: rentId } = await intents.declareIntent({ body: declared });
    const body = { beneficiaryId, amountEuros: 4, intentId: rentId };
    const { id: rent } = await transfers.createTransfer({ body });
    expect(await verify()).toEqual([]);
    await forge(`update intents set status = 'completed' where id = $1`, [rentId]);
    await found(/names tr_\w+, which is under way; the intent is completed/);
    await forge(`update intents set status = 'approved' where id = $1`, [rentId]);
    await owner.client(transfersArea).cancelTransfer({ params: { id: rent }, body: {} });
    await forge('update intents set transfer_id = $2 where id = $1', [rentId, rent]);
    await found(/names tr_\w+, which sent no money; the intent is approved/);
  });

  test('a second transfer for it', async () => {
    await forge(
      `insert into transfers select (jsonb_populate_record(t, '{"id": "tr_forged07", "journal_id": "jr_forged07"}')).*
       from transfers t where id = $1`,
      [transferId],
    );
    await found(/tr_forged07 pays for intent int_\w+, which does not name it/);
  });

  test('a split with a line for no intent', async () => {
    await forge(`update transfers set split_id = 'spl_forged08', split_line = 1 where id = $1`, [transferId]);
    await forge(`update intents set transfer_id = 'spl_forged08' where id = $1`, [intentId]);
    await forge(
      `insert into transfers select (jsonb_populate_record(t,
         '{"id": "tr_forged08", "journal_id": "jr_forged08", "split_line": 2, "intent_id": null}')).*
       from transfers t where id = $1`,
      [transferId],
    );
    await found(/intent int_\w+ names spl_forged08, which is not all for this intent/);
  });
});

describe('each forgery of a bank’s line is named', () => {
  let credited: string;
  let assigned: string;
  const found = async (pattern: RegExp) => {
    for (const full of ['true', 'false'] as const) expect(await verify(full)).toEqual(named('reconciliation', pattern));
  };

  /** A credit of 30.00 on the account of a wallet, and one of 5.00 that an operator assigned to it. */
  beforeEach(async () => {
    const { owner } = payer;
    const wallet = await owner.client(walletsArea).createWallet({ body: { name: 'Rent' } });
    const [reference, unknown] = [freshReference(), freshReference()];
    await sendBankFile(world, notificationOf([{ amount: '30.00', reference }], wallet.iban ?? ''));
    const nobodys = notificationOf([{ amount: '5.00', reference: unknown }], germanIban('99999999', 9_999_999_999));
    await sendBankFile(world, nobodys);
    const idOf = async (one: string) => {
      const rows = await world.sql<{ id: string }>('select id from bank_entries where servicer_reference = $1', [one]);
      return rows[0]?.id ?? '';
    };
    [credited, assigned] = [await idOf(reference), await idOf(unknown)];
    const headers = { 'X-Dashboard-Secret': world.dashboardSecret, 'X-Owner-Id': owner.ownerId };
    const operator = createClient(bankFilesArea, (request) =>
      world.as('').send({ ...request, headers: { ...request.headers, ...headers } }),
    );
    await operator.assignBankEntry({ params: { id: assigned }, body: { walletId: wallet.id, reason: 'known' } });
    await sealAll();
    await checkpoint();
    expect(await verify()).toEqual([]);
  });

  test('a line with another amount, and one whose journal was deleted', async () => {
    await forge('update bank_entries set amount_cents = 3100 where id = $1', [credited]);
    await found(/bank entry be_\w+ is of 31\.00; its journal moves 30\.00/);
    const journal = '(select journal_id from bank_entries where id = $1)';
    await forge(`delete from ledger_entries where journal_id = ${journal}`, [credited]);
    await forge(`delete from journals where id = ${journal}`, [credited]);
    await found(/bank entry be_\w+ of 31\.00 has no journal/);
  });

  test('a journal whose line was deleted, or names another journal', async () => {
    await forge(`update bank_entries set journal_id = 'jr_forged03' where id = $1`, [credited]);
    await found(/journal jr_\w+ names bank entry be_\w+, which does not name it/);
    await forge('delete from bank_entries where id = $1', [credited]);
    await found(/journal jr_\w+ names bank entry be_\w+, which does not name it/);
  });

  test('an assignment without its audit row, and one that never left suspense', async () => {
    const said = /the assignment of bank entry be_\w+ of 5\.00 did not leave suspense, or has no audit row/;
    const ofAssignment = `action = 'wallet.credited' and details ->> 'bankEntryId' = $1`;
    await forge(`update audit set action = 'forged' where ${ofAssignment}`, [assigned]);
    await found(said);
    await forge(`update audit set action = 'wallet.credited' where details ->> 'bankEntryId' = $1`, [assigned]);
    expect(await verify()).toEqual([]);
    await forge(
      `delete from ledger_entries where account = 'suspense:own_operator' and amount_cents < 0
         and journal_id in (select id from journals where reference_id = $1)`,
      [assigned],
    );
    await found(said);
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

  test('each audit row and the decision about each transaction is proven, and none that was changed', async () => {
    const { ownerId } = payer.owner;
    const key = signingKeyFrom(world.config.BURSAR_SIGNING_KEY ?? '');
    const prove = proveRecord({ database: databaseOf(orm), chains: recordChains });
    const audit = await world.sql<AuditRow>(
      `select record_id as id from record_seals where chain = 'audit' and owner_id = $1 order by sequence`,
      [ownerId],
    );
    const transactions = await world.sql<{ id: string }>(
      'select transaction_id as id from decisions where owner_id = $1 order by seq',
      [ownerId],
    );
    expect(transactions).toHaveLength(3);
    const proofs = new Map<string, Proof>();
    for (const { id } of [...audit, ...transactions]) proofs.set(id, await prove(id));
    for (const [at, { id }] of audit.entries())
      expect(proofs.get(id)).toMatchObject({ chain: 'audit', id, ownerId, sequence: at + 1 });
    for (const [at, { id }] of transactions.entries()) {
      expect(proofs.get(id)).toMatchObject({ chain: 'decisions', ownerId, sequence: at + 1, checkpoint: { size: 3 } });
      expect(await prove(proofs.get(id)?.id ?? '')).toEqual(proofs.get(id));
    }
    for (const proof of proofs.values()) {
      expect(faultOfProof(key, proof)).toBeUndefined();
      const isDecision = proof.chain === 'decisions';
      expect(faultOfProof(key, { ...proof, chain: isDecision ? 'audit' : 'decisions' })).toMatch(/did not sign/);
    }
    const [first, second] = transactions.map(({ id }) => proofs.get(id) as Proof);
    if (first === undefined || second === undefined) throw new Error('two decisions');
    const fault = (change: Partial<Proof>) => faultOfProof(key, { ...first, ...change });
    expect(fault({ text: second.text, leaf: second.leaf })).toMatch(/of another record/);
    expect(fault({ text: first.text.replace('approved', 'declined') })).toMatch(/the text was changed/);
    const other = first.text.replace(ownerId, 'own_00000000');
    expect(fault({ text: other, leaf: leafHash(other) })).toMatch(/of another record/);
    expect(fault({ path: first.path.slice(1) })).toMatch(/there are 2$/);

    await expect(prove('aud_unknown0')).rejects.toThrow(/no sealed audit row/);
    await expect(prove('tx_unknown0')).rejects.toThrow(/no decision about tx_unknown0/);
    await expect(prove('wal_unknown')).rejects.toThrow(/name a journal jr_/);
    await forge(`update decisions set outcome = 'approved' where owner_id = $1 and outcome = 'declined'`, [ownerId]);
    const declined = await prove(transactions[2]?.id ?? '');
    expect(faultOfProof(key, declined)).toMatch(/does not lead from its leaf/);
  });

  test('a seal of format 1 of an audit row is proven as well', async () => {
    const { ownerId } = payer.owner;
    const id = await lastAudit();
    const [chain] = recordChains;
    if (chain === undefined) throw new Error('a chain');
    const seals = await world.sql<{ hash: string; sequence: string; text: string | null; address: string | null }>(
      `select hash, sequence, text_commitment as text, address_commitment as address from record_seals
       where chain = 'audit' and owner_id = $1 order by sequence desc limit 2`,
      [ownerId],
    );
    const [last, before] = seals;
    const sequence = Number(last?.sequence);
    const facts = (await factsOf(databaseOf(orm).read(), chain, [{ recordId: id }])).get(id)?.facts ?? '';
    const commitments = { addressCommitment: last?.address ?? null, textCommitment: last?.text ?? null };
    const hash = sealOfRecordFormat1(before?.hash ?? '', {
      ...{ chain: 'audit', sequence, recordId: id, facts },
      ...commitments,
    });
    // As an earlier version left it, with the tree and the checkpoint that the leaf then gives.
    await forge(`update record_seals set format = 1, leaf = null, hash = $2 where record_id = $1`, [id, hash]);
    await forge(`delete from record_checkpoints where chain = 'audit' and owner_id = $1`, [ownerId]);
    await forge(
      `update record_heads set hash = $2, frontier = null, checkpointed_sequence = 0 where chain = 'audit' and owner_id = $1`,
      [ownerId, hash],
    );
    await checkpoint();
    const proof = await proveRecord({ database: databaseOf(orm), chains: recordChains })(id);
    expect(proof).toMatchObject({ format: 1, sequence });
    const key = signingKeyFrom(world.config.BURSAR_SIGNING_KEY ?? '');
    expect(faultOfProof(key, proof)).toBeUndefined();
    expect(faultOfProof(key, { ...proof, text: proof.text.replace(id, 'aud_00000000') })).toMatch(/of another record/);
    expect(await verify()).toEqual([]);
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
