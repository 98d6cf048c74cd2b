/**
 * Goal: a grant reads each row once, because agents wait for it. Method: the statements that the driver sends for one
 * declaration and for one decision, as a list of verbs and tables.
 * @module
 */

import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { allowAllRisk } from '../../../src/adapters/risk/allow-all.ts';
import type { Call, Caller } from '../../../src/http/caller.ts';
import { newId, uuidv7 } from '../../../src/kernel/ids.ts';
import { cents } from '../../../src/kernel/money.ts';
import { type Infrastructure, openInfrastructure } from '../../../src/main/infrastructure.ts';
import { entities, workflows } from '../../../src/main/modules/index.ts';
import { decideIntent } from '../../../src/usecases/spending/decide-intent.ts';
import { declareIntent } from '../../../src/usecases/spending/declare-intent.ts';
import { anIntent, aPayer, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let infrastructure: Infrastructure;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld();
  infrastructure = await openInfrastructure(world.config, { name: 'statements', entities, workflows });
});
afterAll(async () => {
  await infrastructure.close();
  await world.close();
});
beforeEach(async () => {
  payer = await aPayer(world, { policy: { require_attestation: true } });
});

/** In the order in which they are sent. */
async function askedBy(work: () => Promise<unknown>): Promise<string[]> {
  const driver = jest.spyOn(pg.Client.prototype, 'query');
  await work();
  const sent = driver.mock.calls.map(([query]) =>
    typeof query === 'string' ? query : (query as { text: string }).text,
  );
  driver.mockRestore();
  return sent.map(inWords);
}

function inWords(text: string): string {
  const called = /^select (?:\* from )?(lock_spending|spending_counters|record_changes)\(/.exec(text)?.[1];
  if (called !== undefined) return called;
  const [, doing = text, table = ''] = /^(select .*? from|insert into|update) "?(\w+)/s.exec(text) ?? [];
  const verb = / for (share|update)$/.test(text) ? 'hold' : doing.split(' ', 1)[0];
  return `${verb} ${table}`.trim();
}

const at = new Date();

const callOf = (caller: Caller): Call => ({
  caller,
  requestId: uuidv7(),
  runId: undefined,
  idempotencyKey: undefined,
  cause: { causeId: uuidv7(), requestId: 'req', actor: { kind: 'system' }, at },
  newId,
  now: async () => at,
  gone: () => new AbortController().signal,
  admitAgain: async () => undefined,
  readFile: async () => new Uint8Array(),
  declaredBytes: 0,
});

async function declare(caller: Caller): Promise<unknown> {
  const { database, links } = infrastructure;
  const declaration = { agentId: payer.agentId, purpose: 'a thing', expectedAmountEuros: cents(100), ttlMinutes: 60 };
  return declareIntent({ database, risk: allowAllRisk, links })(declaration, callOf(caller));
}

async function decide(intentId: string, kind: 'approve' | 'deny'): Promise<unknown> {
  const cause = { causeId: uuidv7(), requestId: 'req', actor: { kind: 'key', id: 'key_1' }, at } as const;
  return infrastructure.database.write((tx) => decideIntent({ risk: allowAllRisk })(tx, intentId, { kind }, cause));
}

const ownerId = () => payer.owner.ownerId as `own_${string}`;
const asAgent = (): Caller => {
  const { agentId } = payer;
  return { kind: 'agent', ownerId: ownerId(), agentId, tokenId: newId('token'), scopes: ['*'] };
};

/** For an agent without a person. `select intents` counts the open ones, for which there is a limit. */
const declaration = [
  'begin',
  ...['lock_spending', 'hold agents', 'hold cards', 'hold policies', 'spending_counters'],
  ...['select intents', 'insert intents', 'insert transitions', 'record_changes', 'insert workflow_runs'],
  'commit',
];

test('an agent declares: 12 statements', async () => {
  const asked = await askedBy(() => declare(asAgent()));
  expect(asked).toEqual(declaration);
  expect(asked).toHaveLength(12);
});

test('a declaration by the owner runs one more statement, which checks the agent before its row is locked', async () => {
  const owner: Caller = { kind: 'key', ownerId: ownerId(), keyId: newId('key') };
  expect(await askedBy(() => declare(owner))).toEqual(['begin', 'select agents', ...declaration.slice(1)]);
  const stranger = { ...owner, ownerId: newId('owner') };
  const asked = await askedBy(() => expect(declare(stranger)).rejects.toMatchObject({ code: 'not_found' }));
  expect(asked).toEqual(['begin', 'select agents', 'rollback']);
});

test('another agent names it: refused before its turn is taken', async () => {
  const other = { ...asAgent(), agentId: newId('agent') } as Caller;
  const asked = await askedBy(() => expect(declare(other)).rejects.toMatchObject({ code: 'agent_isolation' }));
  expect(asked).toEqual(['begin', 'select agents', 'rollback']);
});

test('a person approves: 14 statements, also where a passkey is demanded', async () => {
  const id = await anIntent(world, payer, { status: 'pending_approval' });
  await world.sql('update intents set attested_at = $2, attested_by = $3 where id = $1', [id, at, newId('passkey')]);
  const asked = await askedBy(() => decide(id, 'approve'));
  expect(asked).toEqual([
    ...['begin', 'select intents'],
    ...['lock_spending', 'hold agents', 'hold cards', 'hold policies', 'hold intents'],
    ...['select transitions', 'spending_counters'],
    ...['update intents', 'insert transitions', 'record_changes', 'update workflow_runs'],
    'commit',
  ]);
  expect(asked).toHaveLength(14);
});

test('a person denies: 8 statements', async () => {
  const id = await anIntent(world, payer, { status: 'pending_approval' });
  expect(await askedBy(() => decide(id, 'deny'))).toEqual([
    ...['begin', 'hold intents', 'select transitions'],
    ...['update intents', 'insert transitions', 'record_changes', 'update workflow_runs'],
    'commit',
  ]);
});
