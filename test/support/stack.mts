/**
 * Hands what global-setup started over to global-teardown, which Jest runs in the same process.
 * @module
 */
import { rm } from 'node:fs/promises';
import type { Claim } from '../../src/supervisor/pids.ts';
import { folderElsewhere } from '../../src/supervisor/postgres-place.ts';

export type TestStack = { dir: string; claim: Claim; stops: (() => Promise<void>)[] };

const key = Symbol.for('bursar.test-stack');
const place = globalThis as unknown as Record<symbol, TestStack | undefined>;

export function keepStack(stack: TestStack): void {
  place[key] = stack;
}

export function keptStack(): TestStack | undefined {
  return place[key];
}

export async function removeFolder(dir: string): Promise<void> {
  if (process.getuid?.() === 0) await rm(await folderElsewhere(dir), { recursive: true, force: true });
  await rm(dir, { recursive: true, force: true });
}
