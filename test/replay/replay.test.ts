/**
 * Goal: a run that began under an older version goes on under this one. Method: histories recorded on a real
 * installation are replayed against today's bundle.
 * @module
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from '@temporalio/worker';
import { converterPath } from '../../src/temporal/connection.ts';
import { type History, historyFromJson } from '../support/history-json.ts';
import { shownWorkflows } from '../support/record/journeys.ts';

// The failures that are wanted below are not news.
Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) } },
});

type Recorded = { readonly workflow: string; readonly journey: string; readonly json: Record<string, unknown> };

const largestBytes = 100_000;
/** Below it a folder for each version. */
const released = 'released';

const folder = fileURLToPath(new URL('.', import.meta.url));
let recorded: Recorded[];
beforeAll(async () => {
  const versions = (await foldersIn(`${folder}${released}`)).map((version) => `${released}/${version}/`);
  recorded = (await Promise.all(['', ...versions].map(recordedIn))).flat();
});

const foldersIn = async (path: string): Promise<string[]> =>
  (await readdir(path, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name);

/** `place`: empty for the histories of today's journeys, else those of a released version. */
async function recordedIn(place: string): Promise<Recorded[]> {
  const workflows = (await foldersIn(`${folder}${place}`)).filter((name) => name !== released);
  const read = workflows.map(async (workflow) =>
    Promise.all(
      (await readdir(`${folder}${place}${workflow}`)).map(async (file) => ({
        workflow,
        journey: `${place}${file.replace(/\.json$/, '')}`,
        json: JSON.parse(await readFile(`${folder}${place}${workflow}/${file}`, 'utf8')) as Record<string, unknown>,
      })),
    ),
  );
  return (await Promise.all(read)).flat();
}

/** What has been released is never changed: where the version has its tag, its histories are those of the tag. */
test('the histories of a released version are as they were released, and each version has every workflow of its time', async () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  const tags = new Set(existsSync(`${root}.git`) ? git('tag', '--list', 'v*').split('\n') : []);
  const versions = await foldersIn(`${folder}${released}`);
  expect(versions).not.toEqual([]);
  for (const version of versions) {
    const place = `test/replay/${released}/${version}`;
    const changed = tags.has(`v${version}`)
      ? git('diff', '--name-only', '--diff-filter=MDR', `v${version}`, '--', place)
      : '';
    expect([version, changed]).toEqual([version, '']);
  }
  const { version } = JSON.parse(await readFile(`${root}package.json`, 'utf8')) as { version: string };
  const today = Object.keys(await import('../../workflows/index.ts'));
  expect((await foldersIn(`${folder}${released}/${version}`)).sort()).toEqual(today.sort());
});

test('each version has, of every workflow, a run that repeated a step and one that continued as new', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const workflows = Object.keys(await import('../../workflows/index.ts'));
  const missing = workflows.flatMap((workflow) =>
    ['fell-back', 'continued-as-new', 'after-continuing']
      .map((journey) => `${released}/${version}/${journey}`)
      .filter((journey) => !recorded.some((one) => one.workflow === workflow && one.journey === journey))
      .map((journey) => `${workflow}: ${journey}`),
  );
  expect(missing).toEqual([]);
  const scheduled = (json: Record<string, unknown>) => JSON.stringify(json).includes('BursarProblem');
  const fellBack = recorded.filter(({ journey }) => journey.endsWith('/fell-back'));
  expect(fellBack.filter(({ json }) => !scheduled(json))).toEqual([]);
  // Of before that attribute.
  const startedWithout = recorded.filter(({ journey }) => journey.endsWith('/fell-back-started-without-problem'));
  expect(startedWithout.map(({ json }) => scheduled(json))).toEqual([false]);
});

/** What did not replay, by workflow and journey. */
async function failuresOf(histories: readonly { name: string; history: History }[]): Promise<string[]> {
  const options = {
    workflowBundle: { codePath: process.env.TEST_BUNDLE ?? '' },
    dataConverter: { payloadConverterPath: converterPath },
  };
  const failed: string[] = [];
  const given = histories.map(({ name, history }) => ({ workflowId: name, history }));
  for await (const { workflowId, error } of Worker.runReplayHistories(options, given)) {
    if (error !== undefined) failed.push(`${workflowId}: ${error.message}`);
  }
  return failed;
}

const named = ({ workflow, journey, json }: Recorded) => ({
  name: `${workflow}/${journey}`,
  history: historyFromJson(json),
});

test('every workflow that there is has histories, and every history a workflow', async () => {
  const workflows = Object.keys(await import('../../workflows/index.ts'));
  const missing = Object.entries(await shownWorkflows()).flatMap(([workflow, { histories }]) =>
    histories
      .filter((journey) => !recorded.some((one) => one.workflow === workflow && one.journey === journey))
      .map((journey) => `${workflow}/${journey}: run node test/replay/record-histories.ts --only ${workflow}`),
  );
  expect(missing).toEqual([]);
  expect([...new Set(recorded.map(({ workflow }) => workflow))].sort()).toEqual(workflows.sort());
});

test('each is a finished run of the workflow it lies under', () => {
  for (const { workflow, journey, json } of recorded) {
    const { events = [] } = historyFromJson(json);
    const [began, ended] = [events?.[0]?.workflowExecutionStartedEventAttributes, events?.at(-1)];
    const goesOn = journey.endsWith('/continued-as-new');
    const end = goesOn
      ? ended?.workflowExecutionContinuedAsNewEventAttributes
      : ended?.workflowExecutionCompletedEventAttributes;
    expect([journey, began?.workflowType?.name]).toEqual([journey, workflow]);
    expect([journey, end != null]).toEqual([journey, true]);
  }
});

test('all of them replay', async () => {
  expect(await failuresOf(recorded.map(named))).toEqual([]);
});

test('a history that this version would not have made does not replay', async () => {
  const changed = recorded.map(({ workflow, journey, json }) => {
    return named({ workflow, journey, json: withAnotherFirstStep(json) });
  });
  expect(await failuresOf(changed)).toHaveLength(recorded.length);
});

/** Steps within the run's own task stand in markers, whose data is JSON in base64; others in events of their own. */
function withAnotherFirstStep(json: Record<string, unknown>): Record<string, unknown> {
  const asData = (text: string): string => Buffer.from(text).toString('base64');
  let isChanged = false;
  return JSON.parse(JSON.stringify(json), (name, value: unknown) => {
    if (isChanged) return value;
    if (name === 'activityType') {
      isChanged = true;
      return { name: 'elsewhere' };
    }
    if (name !== 'data' || typeof value !== 'string') return value;
    const text = Buffer.from(value, 'base64').toString();
    const other = text.replace(/"activity_type":"\w+"/, '"activity_type":"elsewhere"');
    isChanged = other !== text;
    return isChanged ? asData(other) : value;
  }) as Record<string, unknown>;
}

describe('the files', () => {
  test('are small and name neither a secret nor a machine', () => {
    for (const { workflow, journey, json } of recorded) {
      const text = JSON.stringify(json);
      const inTheClear = text.replaceAll(/[A-Za-z0-9+/]{16,}={0,2}/g, (part) => Buffer.from(part, 'base64').toString());
      expect([`${workflow}/${journey}`, text.length < largestBytes]).toEqual([`${workflow}/${journey}`, true]);
      for (const whole of [text, inTheClear]) {
        expect(whole).not.toMatch(/sk_sandbox_|at_test_|whsec_|spt_|Bearer|:\/\/|Erika/);
        expect(whole).not.toMatch(/\d+@(?!recorded)[\w-]+|node_modules|\/src\//);
      }
    }
  });
});
