/**
 * Stops what global-setup started and removes its folder.
 * @module
 */
import { keptStack, removeFolder } from './stack.mts';

// biome-ignore lint/style/noDefaultExport: Jest takes the default export only
export default async function globalTeardown(): Promise<void> {
  const stack = keptStack();
  if (!stack) return;
  await Promise.all(stack.stops.map((stop) => stop()));
  await removeFolder(stack.dir);
}
