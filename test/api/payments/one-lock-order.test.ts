/**
 * Goal: concurrent changes of one agent never deadlock. Method: everything that locks
 * at the same time over real HTTP, and PostgreSQL's own count of deadlocks.
 * @module
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import * as z from 'zod';
import { databaseOf } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/db/orm.ts';
import { oneRowOf, runSql } from '../../../src/db/statement.ts';
import type { Tx } from '../../../src/db/tx.ts';
import { cardsArea } from '../../../src/domains/cards/cards/card.contract.ts';
import { storeIssuedCard } from '../../../src/domains/cards/cards/card.issue.service.ts';
import { prepareRotation } from '../../../src/domains/cards/cards/card.rotate.service.ts';
import { lockCardsOf } from '../../../src/domains/cards/cards/card.service.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { customersArea } from '../../../src/domains/parties/customers/customer.contract.ts';
import { restsOf } from '../../../src/domains/payments/transactions/booking.posting.service.ts';
import { TransactionRow } from '../../../src/domains/payments/transactions/transaction.entity.ts';
import { policiesArea } from '../../../src/domains/spending/policies/policy.contract.ts';
import { wallet } from '../../../src/domains/treasury/ledger/account.rules.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { hour } from '../../../src/kernel/instant.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { expirePolicy } from '../../../src/usecases/spending/expire-policy.ts';
import { deadlocksIn } from '../../support/deadlocks.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import { anIntent, aPayer, inDatabase, type Payer } from '../../support/payments-world.ts';
import { reached } from '../../support/reached.ts';
import { eventually, type World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

/** The owner's default wallet, so that an agent may be closed. */
async function aBuyer(): Promise<Payer> {
  const payer = await aPayer(world, { fundsCents: 1_000_000, policy: { require_intent: false } });
  await world.sql('update wallets set is_default = true where id = $1', [payer.walletId]);
  return payer;
}

const lanes = (count: number, turns: number, work: (turn: number) => Promise<unknown>) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      for (let turn = 0; turn < turns; turn++) await work(turn);
    }),
  );

test('authorizations, clearings, reversals, fundings, revoking commands, the expiry of the policy and the close of one agent', async () => {
  const payer = await aBuyer();
  const agents = payer.owner.client(agentsArea);
  const cards = payer.owner.client(cardsArea);
  const policies = payer.owner.client(policiesArea);
  const params = { id: payer.agentId };
  for (let n = 0; n < 20; n++) await anIntent(world, payer, { amountCents: 100 });
  const refused = (error: { status: number }) => expect(error.status).toBe(400); // Frozen already, or closed.
  const statuses: number[] = [];
  const pay = async (turn: number) => {
    const message = network.authorizationOf(payer, { amountCents: turn % 2 === 0 ? 100 : 150 });
    statuses.push((await network.send('authorizations', message)).status);
    const after = { authorizationId: message.id, amountCents: 100 };
    const { status } =
      turn % 3 === 0
        ? await network.reverse(payer, after)
        : await network.clear(payer, { ...after, final: turn % 3 === 1 });
    statuses.push(status);
  };
  const headers = () => ({ 'Idempotency-Key': randomUUID() });
  await Promise.all([
    lanes(4, 12, pay),
    lanes(2, 12, () => agents.fundAgent({ params, body: { amount: 5 }, headers: headers() })),
    lanes(1, 6, async () => {
      await agents.freezeAgent({ params, headers: headers() }).catch(refused);
      await agents.unfreezeAgent({ params, headers: headers() }).catch(refused);
    }),
    lanes(1, 6, async () => {
      await cards.freezeCard({ params: { cardId: payer.cardId }, headers: headers() }).catch(refused);
      await cards.unfreezeCard({ params: { cardId: payer.cardId }, headers: headers() }).catch(refused);
    }),
    inDatabase(world, (database) =>
      lanes(2, 8, async (turn) => {
        const body = { expiresAfterMinutes: 60, expirationAction: turn % 4 === 0 ? 'notify' : 'freeze' } as const;
        await policies.updateAgentPolicy({ params: { agentId: payer.agentId }, body });
        await expirePolicy({ database })(payer.agentId, new Date(Date.now() + 2 * hour));
      }),
    ),
  ]);
  const expired = await world.sql(`select 1 from events where agent_id = $1 and name = 'policy.expired'`, [
    payer.agentId,
  ]);
  expect(expired.length).toBeGreaterThan(0);
  await Promise.all([
    lanes(4, 4, pay),
    agents.closeAgent({ params, headers: headers() }),
    lanes(1, 2, () => agents.fundAgent({ params, body: { amount: 5 }, headers: headers() }).catch(refused)),
    inDatabase(world, (database) => expirePolicy({ database })(payer.agentId, new Date(Date.now() + 2 * hour))),
  ]);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(await deadlocksIn(world)).toBe(0);
});

/** Until that backend waits for a lock. */
const isWaiting = (pid: number) =>
  eventually(
    () => world.sql('select 1 from pg_stat_activity where pid = $1 and wait_event_type = $2', [pid, 'Lock']),
    (found) => found.length > 0,
  );
const pidOf = async (tx: Tx) => (await oneRowOf(tx, z.object({ pid: z.int() }), 'select pg_backend_pid() as pid')).pid;

test('a card and the one in its place are taken in the order of their ids, whichever is the older', async () => {
  for (const isOlderFirst of [true, false]) {
    const payer = await aBuyer();
    // Ids begin with the time at which they were made.
    const newCardId = isOlderFirst ? newId('card') : newId('card', Uint8Array.of(0, ...randomBytes(15)));
    const [first = ''] = [payer.cardId, newCardId].sort();
    const causeId = randomUUID();
    const cause = { causeId, requestId: causeId, actor: { kind: 'system' }, at: new Date() } as const;
    const issued = { cardRef: `pc_${causeId}`, last4: '0005', brand: 'visa', expiryMonth: 2, expiryYear: 2030 };
    await inDatabase(world, async (database) => {
      await database.write((tx) =>
        prepareRotation(tx, cause, { newId: newCardId, cardId: reached(payer.cardId), ownerId: payer.owner.ownerId }),
      );
      let turns = 0;
      let rotating: Promise<unknown> = Promise.resolve();
      await database.write(async (tx) => {
        await runSql(tx, 'select 1 from cards where id = $1 for update', [first]);
        const pid = new Promise<number>((resolve) => {
          rotating = database.write(async (other) => {
            turns += 1;
            resolve(await pidOf(other));
            await storeIssuedCard(other, newCardId, issued, cause.at, async () => undefined);
          });
        });
        await isWaiting(await pid);
        await lockCardsOf(tx, payer.agentId); // As the expiry of a policy does, which holds no agent.
      });
      await rotating;
      expect(turns).toBe(1);
    });
    const cards = await world.sql('select status from cards where id = any($1) order by replaces_card_id nulls first', [
      [payer.cardId, newCardId],
    ]);
    expect(cards).toEqual([{ status: 'closed' }, { status: 'active' }]);
  }
  expect(await deadlocksIn(world)).toBe(0);
});

test('a row that another has changed between reading and writing it is read again', async () => {
  const payer = await aBuyer();
  const { body } = await network.authorize(payer);
  let turns = 0;
  await inDatabase(world, async (database) => {
    await database.write(async (tx) => {
      turns += 1;
      const row = await tx.findOneOrFail(TransactionRow, { id: body.transactionId as TransactionRow['id'] });
      if (turns === 1)
        await world.sql('update transactions set memo = $2, version = version + 1 where id = $1', [row.id, 'noted']);
      row.issuerSettlementId = `seen ${row.memo}`;
      await tx.flush();
    });
  });
  expect(turns).toBe(2);
  expect(await world.sql('select issuer_settlement_id from transactions where id = $1', [body.transactionId])).toEqual([
    { issuer_settlement_id: 'seen noted' },
  ]);
});

test('a deadlock that every try repeats is 503, not 500', async () => {
  const orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 2, applicationName: 'test' });
  let turns = 0;
  const writing = databaseOf(orm).write(async (tx) => {
    turns += 1;
    await runSql(tx, `do $$ begin raise exception 'deadlock detected' using errcode = '40P01'; end $$`);
  });
  await expect(writing).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
  expect(turns).toBe(4);
  await orm.close();
});

describe('wallets are locked in the order of their ids', () => {
  /** In that order: closed, open, default. Each of the first two gave its budget to an agent that is closed. */
  async function threeWallets() {
    const budget = { fundsCents: 0, funding: 'budget' } as const;
    const owner = await world.owner();
    const ofClosed = await aPayer(world, { ...budget, owner });
    const ofOpen = await aPayer(world, { ...budget, owner });
    const { walletId: standing } = await aPayer(world, { owner });
    const [first, second, third] = [ofClosed.walletId, ofOpen.walletId, standing].sort() as [string, string, string];
    const ids = { closed: first, open: second, standing: third } as const;
    await world.sql('update agents set wallet_id = $2 where id = $1', [ofClosed.agentId, ids.closed]);
    await world.sql('update agents set wallet_id = $2 where id = $1', [ofOpen.agentId, ids.open]);
    await world.sql(`update agents set status = 'closed', version = version + 1 where id = any ($1::text[])`, [
      [ofClosed.agentId, ofOpen.agentId],
    ]);
    await world.sql(`update wallets set status = 'closed', closed_at = now() where id = $1`, [ids.closed]);
    await world.sql('update wallets set is_default = true where id = $1', [ids.standing]);
    const payments = [ofClosed, ofOpen].map(({ agentId }) => ({
      ...{ ownerId: owner.ownerId, agentId, fundingSource: `agent:${agentId}` },
    }));
    return { owner, ids, payments };
  }

  /** Another transaction has the second wallet. What begins then waits for it and has no later one. */
  async function whileHeld(wallet: string, begun: () => Promise<unknown>, later: string): Promise<void> {
    const client = new pg.Client({ connectionString: world.ownerUrl });
    await client.connect();
    try {
      await client.query('begin');
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      await client.query('select from wallets where id = $1 for update', [wallet]);
      const end = begun();
      const waiting = 'select pid from pg_stat_activity where $1 = any (pg_blocking_pids(pid))';
      await eventually(
        () => world.sql(waiting, [rows[0]?.pid]),
        (found) => found.length > 0,
      );
      await client.query('select from wallets where id = $1 for update nowait', [later]);
      await client.query('rollback');
      await end;
    } finally {
      await client.end();
    }
  }

  test('where the budgets of closed agents go back to, in one transaction', async () => {
    const { ids, payments } = await threeWallets();
    await inDatabase(world, async (database) => {
      const rests = () => database.write((tx) => restsOf(tx, payments));
      await whileHeld(ids.open, rests, ids.standing);
      const found = await rests();
      expect(payments.map((payment) => found.get(payment))).toEqual([wallet(ids.standing), wallet(ids.open)]);
    });
  });

  test('by a switch of the default, and by a new default below another wallet', async () => {
    const { owner, ids } = await threeWallets();
    const wallets = owner.client(walletsArea);
    await owner.client(customersArea).getOwnCustomer({});
    const below = { name: 'Below', isDefault: true, parentWalletId: ids.open as Payer['walletId'] };
    await whileHeld(ids.open, () => wallets.createWallet({ body: below }), ids.standing);
    await world.sql('update wallets set is_default = false where owner_id = $1', [owner.ownerId]);
    await world.sql('update wallets set is_default = true where id = $1', [ids.standing]);
    const params = { id: ids.open };
    await whileHeld(ids.open, () => wallets.updateWallet({ params, body: { isDefault: true } }), ids.standing);
    expect(await wallets.getWallet({ params })).toMatchObject({ isDefault: true });
    expect(await wallets.getWallet({ params: { id: ids.standing } })).toMatchObject({ isDefault: false });
  });

  test('a default that goes to another wallet while its row is awaited is looked for again', async () => {
    const { ids, payments } = await threeWallets();
    const [ofClosed] = payments;
    if (ofClosed === undefined) throw new Error('there is no payment');
    const client = new pg.Client({ connectionString: world.ownerUrl });
    await client.connect();
    await inDatabase(world, async (database) => {
      await client.query('begin');
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      await client.query('update wallets set is_default = false where id = $1', [ids.standing]);
      await client.query('update wallets set is_default = true where id = $1', [ids.open]);
      const rests = database.write((tx) => restsOf(tx, [ofClosed]));
      await eventually(
        () => world.sql('select pid from pg_stat_activity where $1 = any (pg_blocking_pids(pid))', [rows[0]?.pid]),
        (found) => found.length > 0,
      );
      await client.query('commit');
      expect((await rests).get(ofClosed)).toEqual(wallet(ids.open));
    });
    await client.end();
  });
});
