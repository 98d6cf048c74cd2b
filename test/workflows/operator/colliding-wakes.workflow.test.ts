/**
 * Goal: an update whose workflow run ends or begins anew in the same moment is still answered. Method: people approve
 * while others cancel the same intents and wakes arrive, over HTTP, on the real worker and server.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { clientsOf } from '../../support/factories/records.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
let temporal: OpenTemporal;
beforeAll(async () => {
  world = await startWorld({ worker: true });
  temporal = await openTemporal();
}, 120_000);
afterAll(async () => {
  await temporal.close();
  await world.close();
});

/** The three calls of one intent collide; many intents at once would only wait for the processor, some for over 10 s. */
const rounds = 18;
const atOnce = 10;

test('a workflow run with ten updates in flight: the next one answers 503 at once with the reason', async () => {
  const { agents, intents } = clientsOf(await world.owner());
  const { id: agentId } = await agents.createAgent({ body: { name: 'buyer' } });
  const { id } = await intents.declareIntent({ body: { agentId, purpose: 'dear', expectedAmountEuros: 80 } });
  await temporal.started(`intent/${id}`);
  const database = new pg.Client({ connectionString: world.ownerUrl });
  await database.connect();
  try {
    // No decision is carried out while another transaction holds the row.
    await database.query('begin');
    await database.query('select 1 from intents where id = $1 for update', [id]);
    const waiting = Array.from({ length: 10 }, () => intents.approveIntent({ params: { id } }));
    const answers = Promise.allSettled(waiting);
    await eventually(
      () => temporal.historyOf(`intent/${id}`),
      ({ events }) =>
        (events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length === 10,
    );
    await expect(intents.approveIntent({ params: { id } })).rejects.toMatchObject({
      status: 503,
      message: expect.stringMatching(/as many updates in flight as Temporal takes \(10\).*repeat/),
    });
    await database.query('rollback');
    await answers;
  } finally {
    await database.end();
  }
});

test('concurrent approvals, cancellations and wakes of 180 intents never answer 503', async () => {
  const owner = await world.owner();
  const { agents, intents } = clientsOf(owner);
  const { id: agentId } = await agents.createAgent({ body: { name: 'buyer' } });
  await world.sql(
    `insert into owner_limits (owner_id, name, most, updated_at)
     select $1, unnest(array['open_intents', 'waiting_intents']), 1000, now()`,
    [owner.ownerId],
  );
  const outcomes: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const ids = await Promise.all(
      Array.from({ length: atOnce }, async () => {
        const { id } = await intents.declareIntent({
          body: { agentId, purpose: 'dear', expectedAmountEuros: 80, expectedMerchant: 'Sandbox Shop' },
        });
        await temporal.started(`intent/${id}`);
        return id;
      }),
    );
    const answers = await Promise.all(
      ids.flatMap((id, n) => {
        const params = { id };
        const later = (call: () => Promise<unknown>) =>
          new Promise((done) => setTimeout(done, (n % 10) * 6)).then(call).then(
            () => '200',
            (error: { status?: number; message?: string }) => `${error.status} ${error.message}`,
          );
        const wake = temporal.client.workflow.getHandle(`intent/${id}`).signal('wake');
        return [
          wake.then(
            () => 'woken',
            () => 'ended',
          ),
          later(() => intents.cancelIntent({ params })),
          later(() => intents.approveIntent({ params })),
        ];
      }),
    );
    outcomes.push(...answers.filter((answer) => /^\d/.test(answer)));
  }
  const counts: Record<string, number> = {};
  for (const answer of outcomes) {
    const kind = answer.replace(/(int|req)_\w+/g, '$1');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  expect(Object.keys(counts).filter((kind) => !/^(200|400 cannot approve)/.test(kind))).toEqual([]);
  expect(outcomes).toHaveLength(2 * rounds * atOnce);
}, 240_000);
