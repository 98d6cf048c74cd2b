/** What a journey is given and what it leaves; and how it waits. @module */
import type { Decision } from '../../../src/domains/identity/approvals/decision.messages.ts';
import type { Actors, Where } from './actors.ts';
import type { ScriptedShop } from './scripted-shop.ts';

/** `label`: workflow and stage, `intentLifecycle: expired`. `names`: what its sentences may name. */
export type Observe = (label: string, workflowId: string, names: Readonly<Record<string, string>>) => Promise<void>;

export type Stage = Where & {
  readonly shop: ScriptedShop;
  /** Shown every stage, as an operator sees it. */
  readonly observe: Observe;
  /** As an approver sends it from the Web UI or the CLI; `undefined` is a signal without input. */
  signal(workflowId: string, input: unknown, name?: string): Promise<void>;
  /** The newest run of that workflow for the agent. */
  runOf(workflow: string, agentId: string): Promise<string>;
};

/** A run that has come to its end, and the journey that it was. */
export type Played = { readonly workflow: string; readonly journey: string; readonly workflowId: string };

export type Journey = (stage: Stage, actors: Actors) => Promise<Played[]>;

/** What an operator reads in one stage. `{agent}`, `{subject}` and other names stand for ids, see `patternOf`. */
export type ShownStage = {
  readonly stage: string;
  readonly status: 'RUNNING' | 'COMPLETED';
  /** Current details, line by line. */
  readonly details: readonly string[];
  /** Where a step of the run is repeated after a fault. */
  readonly problem?: 'retrying';
};

/** What an operator reads of one type of workflow. */
export type ShownWorkflow = {
  readonly queue: 'main' | 'webhooks';
  readonly id: string;
  readonly summary: string;
  readonly hasAgent: boolean;
  /** Journeys whose histories have to be recorded for the replay suite. */
  readonly histories: readonly string[];
  readonly stages: Readonly<Record<string, ShownStage>>;
  /** The status of the run that `waiting` makes, where it handles `decide`. */
  readonly decidedWhile?: string;
};

type PlayedActivities = Readonly<Record<string, (id: string, decision: Decision) => Promise<unknown>>>;

/**
 * `test/workflows/<domain>/<name>.journeys.ts` exports it as `journeys`; the suites of operators, secrets and replay
 * find it there. Each journey ends what it begins: later ones move the business time by days.
 */
export type WorkflowJourneys = {
  readonly workflows: Readonly<Record<string, ShownWorkflow>>;
  readonly journeys: readonly Journey[];
  /**
   * Activities that let a run wait, for the suite that sends messages of every kind. `seen` counts the call and returns
   * the id. Every activity that is not given fails there.
   */
  readonly waiting: (seen: (id: string) => string) => PlayedActivities;
};

/** For an activity of `waiting`: a decision reaches it with short texts, whatever was sent. */
export function assertShort({ by, causeId }: Decision): void {
  if (by.length > 60 || causeId.length > 500) throw new Error('it was not made short');
}

const patienceMs = 120_000;

/** Asks until it is so; says what it was last when it never became so. */
export async function until<T>(ask: () => Promise<T>, isSo: (answer: T) => boolean, what: string): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${patienceMs / 1_000} s for ${what}: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
