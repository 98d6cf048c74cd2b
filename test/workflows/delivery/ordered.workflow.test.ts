/**
 * Goal: an ordered subscription gets the events of each subject in their order, also through retries, and a subject that
 * fails delays no other. Method: a receiver that refuses one subject's first event, the real worker, and the clock moved.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { minute, second } from '../../../src/kernel/instant.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { inTurn, status } from '../../support/receiver.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld({ retries: true });
});
afterAll(() => bursar.close());

const subjectOf = ({ body }: { body: string }): string => (JSON.parse(body) as { data: { id: string } }).data.id;
const sequenceOf = ({ body }: { body: string }): number => (JSON.parse(body) as { sequence: number }).sequence;

test('a subject waits for its failed event, the others go on, and each arrives in order', async () => {
  const owner = await bursar.subscriber();
  // The first request is the first event of the first subject.
  bursar.receiver.answers('ordered', inTurn(status(500), status(200)));
  const { id } = await owner.webhooks.createWebhook({
    body: { url: bursar.receiver.urlOf('ordered'), events: ['policy.created'], ordered: true },
  });
  const list = async () =>
    (await owner.webhooks.listWebhookDeliveries({ params: { id }, query: { limit: 100 } })).data.toReversed();
  await bursar.emit(owner.ownerId);
  await eventually(list, ([first]) => first?.attempt === 1 && first.status === 'pending');
  const [blocked] = bursar.receiver.received('ordered').map(subjectOf);
  for (let round = 0; round < 3; round++) await bursar.emit(owner.ownerId, 4); // Four subjects, the first one blocked.
  const arrived = () => bursar.receiver.received('ordered').slice(1);
  await eventually(
    async () => arrived(),
    (all) => all.length === 9,
  );
  expect(arrived().map(subjectOf)).not.toContain(blocked);
  expect((await list()).filter((one) => one.status === 'pending')).toHaveLength(4);

  await bursar.world.advance(minute + second);
  const all = await eventually(
    async () => arrived(),
    (now) => now.length === 13,
  );
  for (const [subject, ofSubject] of Map.groupBy(all, subjectOf)) {
    const sequences = ofSubject.map(sequenceOf);
    expect([subject, sequences]).toEqual([subject, sequences.toSorted((one, other) => one - other)]);
    expect(ofSubject).toHaveLength(subject === blocked ? 4 : 3);
  }
  await eventually(list, (now) => now.every((one) => one.status === 'succeeded'));
});
