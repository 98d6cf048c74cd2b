/**
 * `npm run demo`: starts everything (or plays on what runs already), tells the story, and leaves it running until
 * Ctrl-C; with `--exit` it stops everything at the end. Exit code 0 only when every step was as told.
 * @module
 */
import { runScenario } from '../demo/scenario.ts';
import { type Ready, runBursar, runningBursar } from './start.ts';

const exits = process.argv.includes('--exit');
const write = (line: string): void => void process.stdout.write(`${line}\n`);

async function told(ready: Ready): Promise<boolean> {
  try {
    await runScenario(ready, write);
    return true;
  } catch (error) {
    write(`\ndemo failed: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

const elsewhere = await runningBursar();
if (elsewhere?.ready !== undefined) {
  write(`Bursar runs already (${elsewhere.ready.apiUrl}); the demo plays on it`);
  process.exit((await told(elsewhere.ready)) ? 0 : 1);
}

process.exit(
  await runBursar({
    // Told twice in a minute the story is more than a stranger's ceiling, and its listener asks often.
    env: { BURSAR_RATE_LIMIT_PER_MINUTE: '1000', ...process.env },
    afterReady: async ({ ready }) => {
      const isSynced = await told(ready);
      if (exits || !isSynced) return isSynced ? 0 : 1;
      write('everything goes on running; Ctrl-C stops it');
      return undefined;
    },
  }),
);
