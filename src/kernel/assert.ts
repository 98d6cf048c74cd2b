/** States what must hold between two lines; a failure is a bug, never an answer to a caller. @module */
export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${what}`);
}
