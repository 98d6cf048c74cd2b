/**
 * `node test/load/ledger-deaths.ts --runs 100 --seed 1`: histories of a ledger with kill -9 of API, worker, Temporal and
 * PostgreSQL under load, each followed by separate checks, ten on one installation. `--steps` and `--deaths` change
 * each run. It prints one line for each run; exit code 1 when anything is wrong.
 * @module
 */
import { parseArgs } from 'node:util';
import { booksAgree, differencesOf } from '../crash/ledger-checks.ts';
import { drawDeaths, openBook, playHistory } from '../crash/ledger-history.ts';
import { type Installation, startInstallation } from '../support/installation.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '150' },
    deaths: { type: 'string', default: '2' },
  },
});
const [runs, firstSeed, steps, deaths] = [values.runs, values.seed, values.steps, values.deaths].map(Number) as [
  number,
  number,
  number,
  number,
];
const runsOfInstallation = 10;
const lanes = 12;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

let wrong = 0;
for (let from = 0; from < runs; from += runsOfInstallation) {
  const site = await startInstallation();
  try {
    const seeds = Array.from({ length: Math.min(runsOfInstallation, runs - from) }, (_, n) => firstSeed + from + n);
    for (const seed of seeds) report(`seed ${seed}`, await run(site, seed));
    report(`books after ${seeds.length} runs`, { line: '', differences: await booksAgree(site) });
  } finally {
    await site.stop();
  }
}
say(`${runs} runs, ${wrong} differences`);
process.exitCode = wrong === 0 ? 0 : 1;

function report(what: string, { line, differences }: { line: string; differences: readonly string[] }): void {
  wrong += differences.length;
  say(`${what}: ${line}${differences.length} differences`);
  for (const one of differences) say(`  WRONG ${one}`);
}

async function run(site: Installation, seed: number) {
  const since = performance.now();
  const history = await playHistory(site, await openBook(site), {
    seed,
    steps,
    deaths: drawDeaths(seed, deaths),
    lanes,
  });
  const { figures, differences } = await differencesOf(history);
  const counted = Object.entries(figures).map(([name, count]) => `${count} ${name}`);
  const seconds = ((performance.now() - since) / 1_000).toFixed(1);
  return { line: `${seconds} s, killed ${history.kills.join(' ')}, ${counted.join(', ')}, `, differences };
}
