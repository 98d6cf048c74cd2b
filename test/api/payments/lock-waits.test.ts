/**
 * Goal: no message of the network waits for another one's lock for longer than it may, and what was not done in time has
 * changed nothing. Method: the real use cases and rows; another connection holds an account, or an agent's spending.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { type Database, databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import {
  authorizationMessage,
  clearingMessage,
  incrementMessage,
  refundMessage,
  reversalMessage,
} from '../../../src/domains/payments/network/network.contract.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { authorizeCard } from '../../../src/usecases/payments/authorize-card.ts';
import { clearAuthorization } from '../../../src/usecases/payments/clear-authorization.ts';
import { incrementAuthorization } from '../../../src/usecases/payments/increment-authorization.ts';
import { refundCardPayment } from '../../../src/usecases/payments/refund-card-payment.ts';
import { reverseAuthorization } from '../../../src/usecases/payments/reverse-authorization.ts';
import { requestApproval } from '../../../src/usecases/spending/request-approval.ts';
import { aPayer, balancesOf, networkOf, type Payer, sandboxShop } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

const mostWaitMs = 300;
const risk = { assess: async () => ({ outcome: 'allow' as const, signals: [] }) };

let world: World;
let network: ReturnType<typeof networkOf>;
let orm: Orm;
let database: Database;
beforeAll(async () => {
  world = await startWorld();
  network = networkOf(world);
  orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 4, applicationName: 'lock-waits' });
  database = databaseOf(orm);
});
afterAll(async () => {
  await orm.close();
  await world.close();
});

/** Does the work while another transaction has locked these rows. */
async function whileLocked<T>(locking: string, params: readonly unknown[], work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: world.ownerUrl });
  await client.connect();
  try {
    await client.query('begin');
    expect((await client.query(locking, [...params])).rowCount).toBeGreaterThan(0);
    return await Promise.race([work(), tooLong()]);
  } finally {
    await client.end();
  }
}

/** Releases the lock although the work waits for it, so that the test ends. */
async function tooLong(): Promise<never> {
  await sleep(10_000, undefined, { ref: false });
  throw new Error('it waits for the lock for more than 10 s');
}

const received = <Message extends { readonly id: string }>(message: Message) => ({
  ...{ adapter: 'sandbox', message, requestHash: 'hash' },
  cause: {
    ...{ causeId: `network:sandbox:${message.id}`, requestId: randomUUID(), at: new Date() },
    actor: { kind: 'network' } as const,
  },
});

type Call = (message: object) => Promise<unknown>;
const deps = () => ({ database, mostWaitMs, log: { error: () => undefined } });
const calls: Record<string, Call> = {
  clearing: (message) => clearAuthorization(deps())(received(clearingMessage.parse({ ...message, final: true }))),
  reversal: (message) => reverseAuthorization(deps())(received(reversalMessage.parse(message))),
  refund: (message) => refundCardPayment(deps())(received(refundMessage.parse(message))),
  increment: (message) => incrementAuthorization({ ...deps(), risk })(received(incrementMessage.parse(message))),
};

async function approved(payer: Payer) {
  const message = network.authorizationOf(payer);
  expect((await network.send<{ decision: string }>('authorizations', message)).body.decision).toBe('approved');
  return message.id;
}

test.each(Object.keys(calls))(
  '%s: 503 when the account is locked for too long, and nothing is written',
  async (kind) => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const authorizationId = await approved(payer);
    const id = `${kind}_${randomUUID()}`;
    const message = {
      id,
      authorizationId,
      cardRef: payer.cardRef,
      amountCents: 500,
      currency: 'EUR',
      merchant: sandboxShop,
    };
    const call = calls[kind] as Call;
    const names = [`wallet:${payer.walletId}:available`, `wallet:${payer.walletId}:held`];
    const before = await balancesOf(world, payer);
    await whileLocked('select 1 from ledger_accounts where name = any($1) for update', [names], async () => {
      await expect(call(message)).rejects.toMatchObject({
        code: 'unavailable',
        retryAfterSeconds: 1,
        message: expect.stringMatching(/^another change held what this \w+ needs for 300 ms; nothing is (booked|held)/),
      });
    });
    expect(await balancesOf(world, payer)).toEqual(before);
    expect(await world.sql('select 1 from network_messages where id = $1', [id])).toEqual([]);
    await call(message);
    expect(await world.sql('select 1 from network_messages where id = $1', [id])).toHaveLength(1);
  },
);

test('a decline is answered although the agent’s place in the queue is not free for the question to a person', async () => {
  const payer = await aPayer(world, { policy: { auto_approve_limit_cents: 1 } });
  await world.sql('insert into agent_spending (agent_id, revision) values ($1, 0) on conflict do nothing', [
    payer.agentId,
  ]);
  const errors: string[] = [];
  const authorize = authorizeCard({
    ...{
      database,
      mostWaitMs,
      risk,
      log: { error: (_what: unknown, text?: string) => void errors.push(String(text)) },
    },
    requestApproval: requestApproval({ open: async () => undefined }),
  });
  const charge = () => received(authorizationMessage.parse(network.authorizationOf(payer)));
  await whileLocked('select 1 from agent_spending where agent_id = $1 for update', [payer.agentId], async () => {
    expect(await authorize(charge())).toMatchObject({ decision: 'declined', rule: 'auto_approve_limit' });
  });
  expect(errors).toEqual(['a person could not be asked about a charge']);
  expect(await world.sql('select 1 from intents where agent_id = $1', [payer.agentId])).toEqual([]);
  expect(await authorize(charge())).toMatchObject({ decision: 'declined' });
  expect(await world.sql('select 1 from intents where agent_id = $1', [payer.agentId])).toHaveLength(1);
}, 30_000);
