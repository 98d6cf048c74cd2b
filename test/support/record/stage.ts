/** What a journey is given and what it leaves; and how it waits. @module */
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
