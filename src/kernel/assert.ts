/** Asserts an invariant inside a function; a failure is a bug, never an answer to a caller. @module */
export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${what}`);
}
