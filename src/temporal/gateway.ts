/**
 * The only way from HTTP and the relay to workflows: start by id, wake, and ask for an answer. All calls are idempotent
 * and decide nothing. When Temporal is away the error is `unavailable`, and no request is lost.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, isGrpcServiceError, WithStartWorkflowOperation, WorkflowNotFoundError } from '@temporalio/client';
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  TypedSearchAttributes,
  type Workflow,
} from '@temporalio/common';
import type { Database } from '../db/database.ts';
import { inBatches } from '../kernel/batches.ts';
import { DomainError } from '../kernel/errors.ts';
import type { Message } from '../kernel/message.ts';
import type { Logger } from '../platform/log.ts';
import type { WorkflowRun } from '../platform/workflow-runs.ts';
import { isCollision, messagesOf, noAnswer, refusalFrom } from './call-errors.ts';
import type { Temporal } from './connection.ts';
import {
  findWorkflowRuns,
  isUntouched,
  type KnownWorkflowRun,
  noteAllStarted,
  type Started,
} from './known-workflow-runs.ts';
import { type TaskQueues, taskQueues } from './task-queues.ts';
import { queueOf, summaryOf, type WorkflowRegistry } from './workflow-registry.ts';

export type WorkflowGateway = {
  /** Starts the run's workflow if it is not running, and notes that it was. Throws when Temporal is away. */
  start(run: WorkflowRun): Promise<void>;
  /**
   * The same for a caller who then waits for the row, with `wait`. The start is noted after that, unless `hasEnded`: of a
   * run whose row is final nothing is noted. A start that takes longer than five seconds is a 503.
   */
  startFor<Answer>(
    target: string | WorkflowRun,
    wait: () => Promise<Answer>,
    hasEnded: (answer: Answer) => boolean,
  ): Promise<Answer>;
  /** The same without waiting, and not if it was started before; the relay makes sure of it. */
  startSoon(workflowId: string): void;
  /** Tells the workflow to look at its row; starts it if it is not there, unless its row is final. */
  wake(run: WorkflowRun & { readonly isOpen: boolean }): Promise<void>;
  /** Whether Temporal has a run with that id that has not ended. Throws when Temporal is away. */
  isRunning(workflowId: string): Promise<boolean>;
  /**
   * Asks the workflow, started if need be, and waits for its answer: ten seconds at most, then 503. `target`: its id, or
   * the run itself where the caller has just opened it, so that its row need not be read.
   */
  ask<Answer, Payload>(
    target: string | WorkflowRun,
    update: Message<Answer, Payload>,
    payload: Payload,
    updateId: string,
  ): Promise<Answer>;
};

const askTimeoutMs = 10_000;
const startTimeoutMs = 5_000;

export const searchAttributes = {
  ownerId: defineSearchAttributeKey('BursarOwnerId', SearchAttributeType.KEYWORD),
  agentId: defineSearchAttributeKey('BursarAgentId', SearchAttributeType.KEYWORD),
  subjectId: defineSearchAttributeKey('BursarSubjectId', SearchAttributeType.KEYWORD),
  stage: defineSearchAttributeKey('BursarStage', SearchAttributeType.KEYWORD),
  /** `none`, or `retrying` while a step is repeated after a fault (workflows/lib/problem.ts). */
  problem: defineSearchAttributeKey('BursarProblem', SearchAttributeType.KEYWORD),
  amountCents: defineSearchAttributeKey('BursarAmountCents', SearchAttributeType.INT),
};

type Deps = { database: Database; temporal: Temporal; log: Logger; workflows: WorkflowRegistry; queues?: TaskQueues };

/** What the options of a start depend on besides the run. */
type StartSettings = { readonly workflows: WorkflowRegistry; readonly queues: TaskQueues };

export function createGateway({ database, temporal, log, workflows, queues = taskQueues() }: Deps): WorkflowGateway {
  const settings: StartSettings = { workflows, queues };
  const noteSoon = inBatches<Started>((started) => noteAllStarted(database, started), {
    atOnce: 100,
    mostWaiting: 10_000,
  });
  /**
   * Read before the call that may start a run, never after it: a server that lost the run in between has another epoch,
   * and with that in its row the run would count as started there. Undefined where it cannot be read: nothing is noted,
   * and the relay starts the run again.
   */
  const epochBeforeCall = (): Promise<string | undefined> => temporal.epoch().catch(() => undefined);

  const noteStarted = async (id: string, epoch: string | undefined): Promise<void> => {
    if (epoch !== undefined) await noteSoon({ id, epoch });
  };
  /** After an answer, which is there whatever becomes of the note; mostly it would say nothing new. */
  const noteAnswered = ({ id, isRetried, startedEpoch }: KnownWorkflowRun, epoch: string | undefined): void => {
    if (!isRetried && startedEpoch === epoch) return;
    noteStarted(id, epoch).catch((error: unknown) =>
      log.debug({ err: error, workflowId: id }, 'start not noted; the relay starts it again'),
    );
  };

  /** Answers the epoch to note. */
  const startUnnoted = async (run: WorkflowRun, leftMs: () => number): Promise<string | undefined> => {
    const client = await temporal.client();
    const epoch = await epochBeforeCall();
    await withAttributes((options) =>
      withinDeadline(client, leftMs(), () => client.workflow.start(run.workflow, options)),
    )(run, settings);
    return epoch;
  };

  const start = async (run: WorkflowRun): Promise<void> => {
    await noteStarted(run.id, await startUnnoted(run, () => startTimeoutMs));
  };

  /** More at once would only make Temporal's callers and ours wait for the processor. */
  const startUntouched = inBatches<string>(
    async (workflowIds) => {
      const runs = await findWorkflowRuns(database, workflowIds);
      const outcomes = await Promise.allSettled(runs.filter(isUntouched).map(start));
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    },
    { atOnce: 8, mostWaiting: 1_000 },
  );

  return {
    start,
    startFor: async (target, wait, hasEnded) => {
      const run = await askedRun(database, target);
      let epoch: string | undefined;
      try {
        epoch = await answeredWithin(startTimeoutMs, (leftMs) => startUnnoted(run, leftMs));
      } catch (error) {
        throw refusalFrom(error, startTimeoutMs) ?? error;
      }
      let isOpen = true;
      try {
        const answer = await wait();
        isOpen = !hasEnded(answer);
        return answer;
      } finally {
        if (isOpen || run.isRetried) noteAnswered(run, epoch);
      }
    },
    startSoon: (workflowId) => {
      startUntouched(workflowId).catch((error: unknown) =>
        log.debug({ err: error, workflowId }, 'not started yet; the relay repeats it'),
      );
    },
    wake: async ({ isOpen, ...run }) => {
      const client = await temporal.client();
      if (!isOpen) return wakeIfRunning(client, run.id);
      const epoch = await epochBeforeCall();
      await withAttributes((options) =>
        withinDeadline(client, startTimeoutMs, () =>
          client.workflow.signalWithStart(run.workflow, { ...options, signal: 'wake' }),
        ),
      )(run, settings);
      await noteStarted(run.id, epoch);
    },
    isRunning: async (workflowId) => isRunning(await temporal.client(), workflowId),
    ask: async <Answer, Payload>(
      target: string | WorkflowRun,
      update: Message<Answer, Payload>,
      payload: Payload,
      updateId: string,
    ) => {
      const run = await askedRun(database, target);
      let epoch: string | undefined;
      try {
        const answer = await answeredWithin(askTimeoutMs, async (leftMs) => {
          const client = await temporal.client();
          epoch = await epochBeforeCall();
          return withAttributes((options) => {
            const startWorkflowOperation = new WithStartWorkflowOperation(run.workflow, {
              ...options,
              workflowIdConflictPolicy: 'USE_EXISTING',
            });
            return withinDeadline(client, leftMs(), () =>
              client.workflow.executeUpdateWithStart<Workflow, Answer, [Payload]>(update.name, {
                startWorkflowOperation,
                args: [payload],
                updateId,
              }),
            );
          })(run, settings);
        });
        noteAnswered(run, epoch);
        return answer;
      } catch (error) {
        throw refusalFrom(error, askTimeoutMs) ?? error;
      }
    },
  };
}

/** `target` as the gateway's functions take it. */
const askedRun = async (database: Database, target: string | WorkflowRun): Promise<KnownWorkflowRun> =>
  typeof target === 'string' ? knownRun(database, target) : asOpened(target);

async function knownRun(database: Database, workflowId: string): Promise<KnownWorkflowRun> {
  const [run] = await findWorkflowRuns(database, [workflowId]);
  if (run === undefined) throw new DomainError('not_found', `no run ${workflowId}`);
  return run;
}

const asOpened = (run: WorkflowRun): KnownWorkflowRun => ({ ...run, startedEpoch: null, isRetried: false });

/** A run whose row is final only has to end; a run that starts later reads that from its row. */
async function wakeIfRunning(client: Client, workflowId: string): Promise<void> {
  try {
    await withinDeadline(client, startTimeoutMs, () => client.workflow.getHandle(workflowId).signal('wake'));
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

async function isRunning(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await withinDeadline(client, startTimeoutMs, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    return !endedStates.has(status.name);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

const endedStates = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT']);

function startOptions(run: WorkflowRun, { workflows, queues }: StartSettings) {
  return {
    workflowId: run.id,
    taskQueue: queueOf(workflows, queues, run.workflow),
    args: [{ id: run.subjectId }],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: summaryOf(workflows, run),
  } as const;
}

/** Those of every release, and those that a namespace set up by an older release lacks. */
const firstAttributes = (run: WorkflowRun) => [
  { key: searchAttributes.ownerId, value: run.ownerId },
  { key: searchAttributes.subjectId, value: run.subjectId },
  { key: searchAttributes.stage, value: run.stage },
  ...(run.agentId === null ? [] : [{ key: searchAttributes.agentId, value: run.agentId }]),
];
const laterAttributes = ({ amountCents }: WorkflowRun) => [
  { key: searchAttributes.problem, value: 'none' },
  ...(amountCents == null ? [] : [{ key: searchAttributes.amountCents, value: amountCents }]),
];

type StartOptions = ReturnType<typeof startOptions> & { readonly typedSearchAttributes?: TypedSearchAttributes };

/**
 * A namespace without some or all of our search attributes still runs the workflows; only those filters are missing.
 */
const withAttributes =
  <T>(call: (options: StartOptions) => Promise<T>) =>
  async (run: WorkflowRun, settings: StartSettings): Promise<T> => {
    const options = startOptions(run, settings);
    const [first, later] = [firstAttributes(run), laterAttributes(run)];
    const attempts: StartOptions[] = [
      { ...options, typedSearchAttributes: new TypedSearchAttributes([...first, ...later]) },
      { ...options, typedSearchAttributes: new TypedSearchAttributes(first) },
    ];
    for (const attempt of attempts) {
      try {
        return await call(attempt);
      } catch (error) {
        if (!lacksAttributes(error)) throw error;
      }
    }
    return call(options);
  };

const lacksAttributes = (error: unknown): boolean =>
  isGrpcServiceError(error instanceof Error && error.cause instanceof Error ? error.cause : error) &&
  /search attribute|no mapping defined/i.test(messagesOf(error));

const withinDeadline = <T>(client: Client, ms: number, call: () => Promise<T>): Promise<T> =>
  client.connection.withDeadline(Date.now() + ms, call);

/**
 * Asks, and asks again with the same update id while the run ends or begins anew under it. Connecting comes before the
 * deadline, and the client sleeps past it between its own repeats: the caller does not.
 */
async function answeredWithin<T>(ms: number, ask: (leftMs: () => number) => Promise<T>): Promise<T> {
  const until = Date.now() + ms;
  const leftMs = (): number => Math.max(1, until - Date.now());
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(noAnswer(ms)), ms + graceMs);
  });
  try {
    return await Promise.race([repeated(() => ask(leftMs), leftMs), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function repeated<T>(ask: () => Promise<T>, leftMs: () => number): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      const pauseMs = Math.min(25 * 2 ** attempt, 400);
      if (!isCollision(error) || attempt === mostAsks || leftMs() <= pauseMs) throw error;
      await sleep(pauseMs);
    }
  }
}

const mostAsks = 12;

/** For the client's own, better error to come first. */
const graceMs = 250;
