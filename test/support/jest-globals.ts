/**
 * What `@jest/globals` is while tests run. test-runner.mjs loads it for each test file and gives it Jest's functions.
 * @module
 */
type Jest = typeof import('@jest/globals')['jest'];
/** The others act on the globals and the module registry of Jest's vm context, in which no test runs. */
type Usable = Pick<Jest, 'fn' | 'restoreAllMocks' | 'setTimeout' | 'spyOn'>;
type Globals = Omit<typeof import('@jest/globals'), 'jest'>;

export let afterAll: Globals['afterAll'];
export let afterEach: Globals['afterEach'];
export let beforeAll: Globals['beforeAll'];
export let beforeEach: Globals['beforeEach'];
export let describe: Globals['describe'];
export let expect: Globals['expect'];
export let it: Globals['it'];
export let jest: Usable;
export let test: Globals['test'];

export function useGlobals({
  jest: { fn, restoreAllMocks, setTimeout, spyOn },
  ...globals
}: Globals & { jest: Jest }): void {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } = globals);
  jest = { fn, restoreAllMocks, setTimeout, spyOn };
}
