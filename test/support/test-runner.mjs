/**
 * Jest's own test runner (jest-circus), except that Node imports the test files, not Jest in a vm context. Node loads
 * the project and its packages once per process; Jest would load them again for each test file, which takes 2 s of CPU
 * time for a file that starts an installation. Modules below `test` are still evaluated for each test file.
 * @module
 */
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import circus from 'jest-circus/runner';

const query = '?test-file=';
const tests = new URL('..', import.meta.url).href;
const globalsUrl = new URL('./jest-globals.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, nextResolve) => {
    const [, number] = context.parentURL?.split(query) ?? [];
    if (number === undefined) return nextResolve(specifier, context);
    if (specifier === '@jest/globals') return { url: `${globalsUrl}${query}${number}`, shortCircuit: true };
    const found = nextResolve(specifier, context);
    return found.url.startsWith(tests) ? { ...found, url: `${found.url}${query}${number}` } : found;
  },
});

let number = 0;

// biome-ignore lint/style/noDefaultExport: Jest takes the default export only
export default function runFile(globalConfig, config, environment, runtime, testPath, sendMessageToJest) {
  const suffix = `${query}${++number}`;
  const nativeRuntime = Object.assign(Object.create(runtime), {
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: async (path) => {
      const { useGlobals } = await import(`${globalsUrl}${suffix}`);
      useGlobals(runtime.requireModuleOrMock(testPath, '@jest/globals'));
      await import(`${pathToFileURL(path).href}${suffix}`);
    },
    requireInternalModule: requireAnew,
  });
  return circus.default(globalConfig, config, environment, nativeRuntime, testPath, sendMessageToJest);
}

const require = createRequire(import.meta.url);

/** The module holds the tests of one file in its variables, and its event handlers in a global. */
function requireAnew(path) {
  delete require.cache[path];
  delete globalThis[Symbol.for('EVENT_HANDLERS')];
  return require(path);
}
