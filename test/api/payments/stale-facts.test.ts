/**
 * Goal: what changes between reading the facts and writing the decision is never overlooked. Method: the real use case
 * and rows; the risk port, which is asked in between, makes the change.
 * @module
 */

import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allowAllRisk } from '../../../src/adapters/risk/allow-all.ts';
import { databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { runSql } from '../../../src/db/statement.ts';
import type { Tx } from '../../../src/db/tx.ts';
import { storeIssuedCard } from '../../../src/domains/cards/cards/card.issue.service.ts';
import { prepareRotation } from '../../../src/domains/cards/cards/card.rotate.service.ts';
import { applyToCard } from '../../../src/domains/cards/cards/card.service.ts';
import {
  type AuthorizationMessage,
  authorizationMessage,
} from '../../../src/domains/payments/network/network.contract.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { entities } from '../../../src/main/modules/index.ts';
import type { Cause } from '../../../src/platform/cause.ts';
import { authorizeCard } from '../../../src/usecases/payments/authorize-card.ts';
import { requestApproval } from '../../../src/usecases/spending/request-approval.ts';
import { anIntent, aPayer, balancesOf, brokenInvariants, networkOf, type Payer } from '../../support/payments-world.ts';
import { reached } from '../../support/reached.ts';
import { aSubscriber, musicClub } from '../../support/recurring-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let orm: Orm;
let network: ReturnType<typeof networkOf>;
beforeAll(async () => {
  world = await startWorld();
  network = networkOf(world);
  orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 3, applicationName: 'test' });
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await orm.close();
  await world.close();
});

/** Decides while `meanwhile` happens after the facts were read; `times` it happens. */
function authorizeWhile(
  payer: Payer,
  meanwhile: (turn: number) => Promise<unknown>,
  times = 1,
  over: Record<string, unknown> = {},
) {
  let turn = 0;
  const authorize = authorizeCard({
    database: databaseOf(orm),
    log: { error: () => undefined },
    requestApproval: async () => undefined,
    risk: {
      assess: async () => {
        if (turn++ < times) await meanwhile(turn);
        return { outcome: 'allow', signals: [] };
      },
    },
  });
  const message = authorizationMessage.parse(network.authorizationOf(payer, over));
  const at = new Date();
  const cause = {
    causeId: `network:sandbox:${message.id}`,
    requestId: randomUUID(),
    actor: { kind: 'network' },
    at,
  } as const;
  return authorize({ adapter: 'sandbox', message, requestHash: 'hash', cause });
}

const aCause = (): Cause => ({
  causeId: randomUUID(),
  requestId: randomUUID(),
  actor: { kind: 'network' },
  at: new Date(),
});

const changes: [string, (payer: Payer) => string, string][] = [
  [
    'the card is frozen',
    ({ cardId }) =>
      `update cards set status = 'frozen', frozen_by = 'card', version = version + 1 where id = '${cardId}'`,
    'card_status',
  ],
  [
    'the agent is frozen',
    ({ agentId }) => `update agents set status = 'frozen', version = version + 1 where id = '${agentId}'`,
    'agent_status',
  ],
  [
    'the policy is tightened',
    ({ policyId }) => `update policies set max_transaction_cents = 1, version = version + 1 where id = '${policyId}'`,
    'max_transaction',
  ],
  [
    'the policy is removed',
    ({ policyId }) => `update policies set removed_at = now() where id = '${policyId}'`,
    'no_policy',
  ],
  [
    'the intent is cancelled',
    ({ agentId }) => `update intents set status = 'cancelled', version = version + 1 where agent_id = '${agentId}'`,
    'intent_required',
  ],
  [
    'another payment takes the intent',
    ({ agentId }) =>
      `update intents set matched_transaction_id = 'tx_other', version = version + 1 where agent_id = '${agentId}'`,
    'intent_required',
  ],
];

/** What names a simulation or a payment token is decided alone, in another function of the database. */
describe.each([
  ['in a batch', {}],
  ['alone', { simulation: 'sim_none' }],
])('%s', (_way, over) => {
  test.each(changes)('%s meanwhile: declined, and nothing is held', async (_, change, rule) => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
    await anIntent(world, payer);
    const answer = await authorizeWhile(payer, () => world.sql(change(payer)), 1, over);
    expect(answer).toMatchObject({ decision: 'declined', rule });
    expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
    expect(await world.sql('select 1 from decisions where agent_id = $1', [payer.agentId])).toHaveLength(1);
    // The other payment is made up, and the reconciliation would miss it.
    await world.sql(`update intents set matched_transaction_id = null where matched_transaction_id = 'tx_other'`);
  });

  test('the policy is loosened meanwhile: the decline stands by the version that its decision names, and the next charge passes', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { max_transaction_cents: 1 } });
    const loosen = `update policies set max_transaction_cents = 5000, version = version + 1 where id = '${payer.policyId}' returning version`;
    const answer = await authorizeWhile(payer, () => world.sql(loosen), 1, over);
    expect(answer).toMatchObject({ decision: 'declined', rule: 'max_transaction' });
    const next = await authorizeWhile(payer, async () => undefined, 1, over);
    expect(next).toMatchObject({ decision: 'approved' });
    const decisions = await world.sql(
      `select d.outcome, p.version - d.policy_version as behind from decisions d
       join policies p on p.id = d.policy_id where d.agent_id = $1 order by d.seq`,
      [payer.agentId],
    );
    expect(decisions).toEqual([
      { outcome: 'declined', behind: 1 },
      { outcome: 'approved', behind: 0 },
    ]);
  });

  test('the money is spent meanwhile: declined with the current figures', async () => {
    const payer = await aPayer(world, { fundsCents: 2_000 });
    const sibling = await aPayer(world, { owner: payer.owner, fundsCents: 0 });
    await world.sql('update agents set wallet_id = $1 where id = $2', [payer.walletId, sibling.agentId]);
    const answer = await authorizeWhile(payer, () => network.authorize(sibling), 1, over);
    expect(answer).toMatchObject({
      decision: 'declined',
      rule: 'insufficient_funds',
      reason: 'available 7.50, asked 12.50',
    });
  });

  test('the agent spends meanwhile what the limit has room for: declined', async () => {
    const payer = await aPayer(world, { policy: { daily_limit_cents: 2_499 } });
    const answer = await authorizeWhile(payer, () => network.authorize(payer), 1, over);
    expect(answer).toMatchObject({ decision: 'declined', rule: 'daily_limit' });
  });

  test('the agent spends meanwhile: evaluated again, and approved within the limits', async () => {
    const payer = await aPayer(world, { policy: { daily_limit_cents: 2_500 } });
    const spending = authorizeWhile(payer, () => network.authorize(payer), 1, over);
    expect(await spending).toMatchObject({ decision: 'approved' });
    expect(await authorizeWhile(payer, async () => undefined, 1, over)).toMatchObject({
      decision: 'declined',
      rule: 'daily_limit',
    });
  });
});

test('an irrelevant fact changes meanwhile: approved by the second evaluation', async () => {
  const payer = await aPayer(world);
  const raise = () =>
    world.sql('update cards set name = $2, version = version + 1 where id = $1', [payer.cardId, 'renamed']);
  expect(await authorizeWhile(payer, raise)).toMatchObject({ decision: 'approved' });
});

test('the second evaluation holds locks: concurrent changes wait for the decision', async () => {
  const payer = await aPayer(world);
  const rename = (turn: number) =>
    world.sql('update cards set name = $2, version = version + 1 where id = $1', [payer.cardId, `name ${turn}`]);
  let second: Promise<unknown> | undefined;
  const answer = await authorizeWhile(
    payer,
    async (turn) => {
      if (turn === 1) await rename(turn);
      else second = rename(turn);
    },
    2,
  );
  expect(answer).toMatchObject({ decision: 'approved' });
  await second;
  expect(await world.sql('select name from cards where id = $1', [payer.cardId])).toEqual([{ name: 'name 2' }]);
});

test('facts that change at every evaluation end in 503, and nothing is written', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  // Under locks no fact changes, so a trigger of the test makes the statement fail.
  await world.sql(
    `create function always_stale() returns trigger language plpgsql as $$ begin perform stale('everything'); end $$;
     create trigger always_stale before insert on decisions for each row when (new.card_id = '${payer.cardId}')
       execute function always_stale()`,
  );
  let turns = 0;
  await expect(authorizeWhile(payer, async () => (turns += 1), 100)).rejects.toMatchObject({ code: 'unavailable' });
  expect(turns).toBe(5);
  expect(await world.sql('select 1 from network_messages where card_ref = $1', [payer.cardRef])).toEqual([]);
  expect((await balancesOf(world, payer)).held).toBe(0);
});

describe('between the decline and the question to a person', () => {
  const links = { open: async () => undefined };

  type Meanwhile = (tx: Tx, message: AuthorizationMessage) => Promise<unknown>;
  async function askedAfter(payer: Payer, meanwhile: Meanwhile) {
    const authorize = authorizeCard({
      database: databaseOf(orm),
      log: { error: () => undefined },
      requestApproval: async (tx, ...charge) => {
        await databaseOf(orm).write((other) => meanwhile(other, charge[0].message));
        await requestApproval(links)(tx, ...charge);
      },
      risk: allowAllRisk,
    });
    const message = authorizationMessage.parse(network.authorizationOf(payer));
    const answer = await authorize({ adapter: 'sandbox', message, requestHash: 'hash', cause: aCause() });
    expect(answer).toMatchObject({ decision: 'declined', rule: 'auto_approve_limit' });
    return world.sql('select card_id, status from intents where agent_id = $1', [payer.agentId]);
  }
  const wary = () => aPayer(world, { policy: { auto_approve_limit_cents: 1 } });

  test('the card gets a new number: the approval request is for the new card', async () => {
    const payer = await wary();
    const next = newId('card');
    const asked = await askedAfter(payer, async (tx) => {
      await prepareRotation(tx, aCause(), { newId: next, cardId: reached(payer.cardId), ownerId: payer.owner.ownerId });
      const issued = { cardRef: `pc_${next}`, last4: '0005', brand: 'visa', expiryMonth: 2, expiryYear: 2030 };
      await storeIssuedCard(tx, next, issued, new Date(), async () => undefined);
    });
    expect(asked).toEqual([{ card_id: next, status: 'pending_approval' }]);
  });

  test('the card or its agent is closed: no approval is requested', async () => {
    const closed = await wary();
    const close = (tx: Tx) => applyToCard(tx, closed.cardId, { kind: 'close' }, aCause());
    expect(await askedAfter(closed, close)).toEqual([]);
    const gone = await wary();
    const closeAgent = (tx: Tx) => runSql(tx, `update agents set status = 'closed' where id = $1`, [gone.agentId]);
    expect(await askedAfter(gone, closeAgent)).toEqual([]);
  });

  test.each<[string, (payer: Payer) => Meanwhile]>([
    ['approves', () => (_tx, message) => network.advise(message)],
    [
      'collects',
      (payer) =>
        (_tx, { id: authorizationId }) =>
          network.clear(payer, { authorizationId }),
    ],
  ])('the network %s the charge: no approval is requested', async (_what, meanwhile) => {
    const payer = await wary();
    expect(await askedAfter(payer, meanwhile(payer))).toEqual([]);
  });
});

test('another charge with the token of a recurring intent is declined meanwhile: the token is used, and pays for nothing', async () => {
  const { payer, declare } = await aSubscriber(world);
  const { id: intentId } = await declare();
  const [checkoutId, token] = [newId('checkout'), `spt_${randomUUID()}`];
  await world.sql(
    `insert into checkouts (id, owner_id, agent_id, intent_id, card_id, target_url, status, amount_cents, ceiling_cents,
       token_hash, request_id, created_at, updated_at)
     values ($1, $2, $3, $4, $5, 'https://shop.example/x', 'paying', 1000, 1000, $6, 'req', now(), now())`,
    [checkoutId, payer.owner.ownerId, payer.agentId, intentId, payer.cardId, hashOf(token)],
  );
  const charge = { token, amountCents: 1_000, merchant: musicClub };
  const overCeiling = () => network.authorize(payer, { ...charge, amountCents: 1_001 });
  expect(await authorizeWhile(payer, overCeiling, 1, charge)).toMatchObject({
    decision: 'declined',
    rule: 'token_used',
  });
  expect(await world.sql('select status from checkouts where id = $1', [checkoutId])).toEqual([{ status: 'declined' }]);
  expect((await balancesOf(world, payer)).held).toBe(0);
});
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

test('the reversal comes meanwhile: declined without a hold', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  let authorizationId = '';
  const authorize = authorizeCard({
    database: databaseOf(orm),
    log: { error: () => undefined },
    requestApproval: async () => undefined,
    risk: {
      assess: async () => {
        // Outside the lock only: inside, the reversal waits for this very authorization.
        if (authorizationId !== '') {
          await network.reverse(payer, { authorizationId });
          authorizationId = '';
        }
        return { outcome: 'allow', signals: [] };
      },
    },
  });
  const message = authorizationMessage.parse(network.authorizationOf(payer));
  authorizationId = message.id;
  const cause = { causeId: message.id, requestId: 'req', actor: { kind: 'network' }, at: new Date() } as const;
  const answer = await authorize({ adapter: 'sandbox', message, requestHash: 'hash', cause });
  expect(answer).toMatchObject({ decision: 'declined', rule: 'reversed_before' });
  expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
});
