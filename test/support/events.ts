/** The events in the outbox, as tests look at them behind the API. @module */
import type { Owner, World } from './world.ts';

export type Told = {
  readonly name: string;
  readonly agent_id: string | null;
  readonly data: Record<string, unknown>;
};

/** Of that subject, or all of that owner's, in order. */
export const eventsOf = ({ sql }: Pick<World, 'sql'>, subjectOrOwnerId: string): Promise<Told[]> =>
  sql<Told>('select name, agent_id, data from events where subject_id = $1 or owner_id = $1 order by seq', [
    subjectOrOwnerId,
  ]);

export const eventNamesOf = async (world: Pick<World, 'sql'>, subjectOrOwnerId: string): Promise<string[]> =>
  (await eventsOf(world, subjectOrOwnerId)).map(({ name }) => name);

/** Names of the events of an owner, in order, since the row with that seq. */
export async function eventsSince(world: World, owner: Owner, seq: number): Promise<string[]> {
  const found = await world.sql<{ name: string }>(
    'select name from events where owner_id = $1 and seq > $2 order by seq',
    [owner.ownerId, seq],
  );
  return found.map(({ name }) => name);
}

export async function lastEvent(world: World, owner: Owner): Promise<number> {
  const [row] = await world.sql<{ seq: string | null }>('select max(seq) as seq from events where owner_id = $1', [
    owner.ownerId,
  ]);
  return Number(row?.seq ?? 0);
}
