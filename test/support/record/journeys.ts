/**
 * Every way a durable workflow can go, played over HTTP and by signals on a running sandbox deployment, one after
 * another. The journeys are beside the tests of their workflow. Evaluates nothing: an observer may.
 * @module
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { actorsAt } from './actors.ts';
import type { Played, ShownWorkflow, Stage, WorkflowJourneys } from './stage.ts';

const folder = fileURLToPath(new URL('../../workflows/', import.meta.url));

/** In the order of their paths. */
export async function allJourneys(): Promise<readonly WorkflowJourneys[]> {
  const files = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.journeys.ts')).sort();
  return Promise.all(
    files.map(async (path) => {
      const { journeys }: { journeys?: WorkflowJourneys } = await import(pathToFileURL(join(folder, path)).href);
      if (journeys === undefined) throw new Error(`test/workflows/${path} exports no journeys`);
      return journeys;
    }),
  );
}

/** By type of workflow. */
export async function shownWorkflows(): Promise<Readonly<Record<string, ShownWorkflow>>> {
  return Object.assign({}, ...(await allJourneys()).map(({ workflows }) => workflows));
}

/**
 * `only`: the journeys of the files that describe this type of workflow, and then of others until each history that it
 * has to have is there, because a journey of one workflow also ends runs of others. A journey that fails ends all, unless
 * `onFailure` takes it.
 */
export async function playJourneys(
  stage: Stage,
  only?: string,
  onFailure: (error: unknown) => void = rethrow,
): Promise<Played[]> {
  const all = await allJourneys();
  const chosen = all.filter(({ workflows }) => only === undefined || only in workflows);
  if (chosen.length === 0) throw new Error(`no file describes the workflow ${only}`);
  const wanted = chosen.flatMap(({ workflows }) => (only === undefined ? [] : (workflows[only]?.histories ?? [])));
  const actors = await actorsAt(stage);
  const played: Played[] = [];
  const isComplete = () =>
    wanted.every((wantedOne) => played.some(({ workflow, journey }) => workflow === only && journey === wantedOne));
  for (const one of [...chosen, ...all.filter((other) => !chosen.includes(other))]) {
    if (!chosen.includes(one) && isComplete()) break;
    for (const journey of one.journeys) {
      try {
        played.push(...(await journey(stage, actors)));
      } catch (error) {
        onFailure(error);
      }
    }
  }
  return played;
}

function rethrow(error: unknown): never {
  throw error;
}
