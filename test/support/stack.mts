/**
 * Hands what global-setup started over to global-teardown, which Jest runs in the same process.
 * @module
 */
export type TestStack = { dir: string; stops: (() => Promise<void>)[] };

const key = Symbol.for('bursar.test-stack');
const place = globalThis as unknown as Record<symbol, TestStack | undefined>;

export function keepStack(stack: TestStack): void {
  place[key] = stack;
}

export function keptStack(): TestStack | undefined {
  return place[key];
}
