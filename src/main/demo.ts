/**
 * `npm run demo`: starts Bursar (or uses the one that runs), runs the scenario, and leaves Bursar running until Ctrl-C.
 * With `--exit` it stops what it started. The exit code is 0 when every step succeeded.
 * @module
 */
import { keep, readSettings } from '../cli/settings.ts';
import { type ForTheUser, runScenario } from '../demo/scenario.ts';
import { projectRoot } from '../supervisor/data-dir.ts';
import { type Ready, runBursar, runningBursar } from './start.ts';

const exits = process.argv.includes('--exit');
const write = (line: string): void => void process.stdout.write(`${line}\n`);

/** As `bursar init` keeps it. */
const user: ForTheUser = {
  keep: async (apiUrl, made) => keep(await readSettings(process.env, { api: apiUrl }), made),
  kept: async (apiUrl) => {
    const { kept, file } = await readSettings(process.env, { api: apiUrl });
    return { ...kept, file };
  },
  project: projectRoot.replace(/\/$/, ''),
};

async function isScenarioRight(ready: Ready): Promise<boolean> {
  try {
    await runScenario(ready, write, user);
    return true;
  } catch (error) {
    write(`\ndemo failed: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

const elsewhere = await runningBursar();
if (elsewhere?.ready !== undefined) {
  write(`Bursar runs already (${elsewhere.ready.apiUrl}); the demo runs on it`);
  process.exit((await isScenarioRight(elsewhere.ready)) ? 0 : 1);
}

process.exit(
  await runBursar({
    // Two runs within a minute make more requests than the default rate limit allows.
    env: { BURSAR_RATE_LIMIT_PER_MINUTE: '1000', ...process.env },
    afterReady: async ({ ready }) => {
      const isRight = await isScenarioRight(ready);
      if (exits || !isRight) return isRight ? 0 : 1;
      write('Bursar keeps running; Ctrl-C stops it');
      return undefined;
    },
  }),
);
