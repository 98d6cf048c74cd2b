/** A world with its worker, one owner with a record of every kind, and a call of each published operation. @module */
import { recordsOf } from './factories/records.ts';
import { type Ask, operationCalls } from './operation-calls.ts';
import { type Owner, startWorld, type World } from './world.ts';

export type OperationsWorld = {
  readonly world: World;
  readonly owner: Owner;
  readonly calls: Readonly<Record<string, Ask>>;
  close(): Promise<void>;
};

/** Takes longer than a hook is given by itself: a minute is enough. */
export async function startOperationsWorld(): Promise<OperationsWorld> {
  const world = await startWorld({ worker: true });
  const owner = await world.owner();
  return { world, owner, calls: operationCalls(world, owner, await recordsOf(world, owner)), close: world.close };
}
