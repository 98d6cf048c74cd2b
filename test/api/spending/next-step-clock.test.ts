/**
 * Goal: an activity computes the due times from the clock after the row is written, because a sandbox clock may move
 * meanwhile. Method: the activity on real rows, with a clock that moves between its two readings.
 * @module
 */

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { intentActivities } from '../../../activities/spending/intent.activities.ts';
import { allowAllRisk } from '../../../src/adapters/risk/allow-all.ts';
import { hour } from '../../../src/kernel/instant.ts';
import { type Infrastructure, openInfrastructure } from '../../../src/main/infrastructure.ts';
import { entities, workflows } from '../../../src/main/modules/index.ts';
import { anIntent, aPayer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let infrastructure: Infrastructure;
beforeAll(async () => {
  world = await startWorld();
  infrastructure = await openInfrastructure(world.config, { name: 'next-step', entities, workflows });
});
afterAll(async () => {
  await infrastructure.close();
  await world.close();
});

test('the clock is moved past the deadline while the decision is written: the deadline is due at once', async () => {
  const payer = await aPayer(world);
  const id = await anIntent(world, payer, { status: 'pending_approval' });
  const [row] = await world.sql<{ expires_at: Date }>('select expires_at from intents where id = $1', [id]);
  const deadline = row?.expires_at.getTime() ?? 0;
  const readings = [new Date(deadline - hour), new Date(deadline + 1)];
  const { database, vault, links } = infrastructure;
  const clock = { now: async () => readings.shift() ?? new Date(Number.NaN) };
  const { decideIntent } = intentActivities({
    risk: allowAllRisk,
    database,
    vault,
    links,
    signalsMayApprove: true,
    clock: clock as never,
  });
  const decision = { decision: 'approve', actor: 'signal', by: 'anna', causeId: 'signal:a', requestId: 'a' } as const;
  expect(await decideIntent(id, decision)).toMatchObject({
    final: false,
    dueInMs: { deadline: -1 },
    view: { status: 'approved' },
  });
  expect(readings).toEqual([]);
});
