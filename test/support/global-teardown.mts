/**
 * Stops what global-setup started and removes its folder.
 * @module
 */
import { rm } from 'node:fs/promises';
import { folderElsewhere } from '../../src/main/local/postgres-place.ts';
import { keptStack } from './stack.mts';

// biome-ignore lint/style/noDefaultExport: Jest takes the default export only
export default async function globalTeardown(): Promise<void> {
  const stack = keptStack();
  if (!stack) return;
  await Promise.all(stack.stops.map((stop) => stop()));
  if (process.getuid?.() === 0) await rm(await folderElsewhere(stack.dir), { recursive: true, force: true });
  await rm(stack.dir, { recursive: true, force: true });
}
