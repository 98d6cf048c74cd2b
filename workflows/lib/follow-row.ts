/**
 * The skeleton of every workflow that follows one row to its end. It reads the row, takes decisions and wakes, keeps
 * stage and details current, waits, and continues as new. The workflow file holds only the process; the row decides.
 * @module
 */
import { allHandlersFinished, CancellationScope, condition, workflowInfo } from '@temporalio/workflow';
import {
  type Decision,
  decisionFromUpdate,
  parseDecision,
} from '../../src/domains/identity/approvals/decision.messages.ts';
import { longestWaitMs, minute, second } from '../../src/kernel/instant.ts';
import type { Ignored, Message } from '../../src/kernel/message.ts';
import type { RowState } from '../../src/kernel/row-state.ts';
import { continueIfHistoryIsLong, continueInNextRun, isHistoryLong, isLeaving } from './continue-as-new.ts';
import { currentDetails, type Details } from './current-details.ts';
import { onSignal, onUpdate, readNothing } from './messages.ts';
import { createQueue } from './queue.ts';
import { refusalIn } from './refusals.ts';
import { stageKeeper } from './stage.ts';
import { subjectOf } from './subject.ts';
import { onWake } from './wake.ts';

export type RunInput = { readonly id: string };

/** An activity of the followed row: one transaction, or one outside call with its result written to the row. */
export type RowStep<View, Fact extends string, Due extends string = never> = (
  id: string,
) => Promise<RowState<View, Fact, Due>>;

/** An update by which the API waits for the outcome, and which is answered with the row's view. */
export type Ask<View> = {
  readonly message: Message<View, Readonly<Record<string, never>>>;
  /** True when there is an outcome; until then the answer waits, at most `withinMs`. */
  readonly isAnswered: (view: View) => boolean;
  /** Without it the API's own limit ends the wait. */
  readonly withinMs?: number;
  /** Throws a refusal that the row already demands. */
  readonly refuse?: (view: View) => void;
  readonly description: string;
};

export type FollowedRun<View, Fact extends string, Due extends string = never> = {
  readonly refresh: RowStep<View, Fact, Due>;
  /**
   * The run begins with the activity of its first `step` and does not read the row before: the activity reads it, and
   * answers at once where the fact is reached. It saves a local activity where a caller waits for the whole run.
   */
  readonly beginsWithStep?: true;
  /** The value of the search attribute `BursarStage`. */
  readonly stage: (view: View) => string;
  /** What the row is about, the amount first: `80.00 EUR for agent ag_…`. */
  readonly describe: (view: View) => string;
  /**
   * For each fact: what the run does or waits for until it is reached. A sentence without its end, or with the view.
   */
  readonly waitingFor: Readonly<Record<Fact, string | ((view: View) => string)>>;
  /** What the details say when the row is final, for instance `paid`. */
  readonly outcome: (view: View) => string;
  /** Carries out a person's decision; the row decides. `refuse` throws what the row already forbids. */
  readonly decide?: {
    readonly carryOut: (id: string, decision: Decision) => Promise<RowState<View, Fact, Due>>;
    readonly refuse: (view: View, decision: Decision) => void;
  };
  readonly ask?: Ask<View>;
  readonly signal?: PersonSignal<View, Fact, Due>;
};

/** A signal of a person beside `decide`. The row decides. */
export type PersonSignal<View, Fact extends string, Due extends string> = {
  readonly name: string;
  readonly read: (typed: unknown) => Readonly<Record<string, string>> | Ignored;
  readonly carryOut: (
    id: string,
    typed: Readonly<Record<string, string>>,
    causeId: string,
  ) => Promise<RowState<View, Fact, Due>>;
  readonly description: string;
};

/** The steps of a process. Each returns only when its fact is reached, and at once when it was reached before. */
export type Process<View, Fact extends string, Due extends string> = {
  /** Runs the activity, and repeats it until the row has the fact. */
  step(fact: Fact, activity: RowStep<View, Fact, Due>): Promise<void>;
  /**
   * Waits until the row has the fact. `whenDue` names the activity that runs when a due time of the row has passed; it
   * is repeated after 1 s, doubling to 1 minute, as long as that time stays due.
   */
  wait(fact: Fact, whenDue?: { readonly [Name in Due]?: RowStep<View, Fact, Due> }): Promise<void>;
  /**
   * Makes a call that the receiver would carry out twice. `mark` commits `sending` with the cause and answers whether
   * another cause has done so before; then the outcome is unknown and is asked for, and the call is not repeated.
   * `claimsWhenDue`: while this time of the row is due, nothing was sent, and `send` itself commits `sending` before it
   * calls. Only the attempt that has moved the row calls, so `send` is attempted until the row says that one has.
   */
  once(
    fact: Fact,
    call: {
      readonly claimsWhenDue?: Due;
      readonly mark: (
        id: string,
        causeId: string,
      ) => Promise<RowState<View, Fact, Due> & { readonly mayHaveSent: boolean }>;
      readonly send: (id: string, causeId: string) => Promise<RowState<View, Fact, Due>>;
      readonly whenDue: { readonly [Name in Due]?: RowStep<View, Fact, Due> };
    },
  ): Promise<void>;
};

/** Runs the process of the row that the run was started with, and returns its final view. */
export async function followRow<View, Fact extends string, Due extends string = never>(
  run: FollowedRun<View, Fact, Due>,
  input: RunInput,
  process: (steps: Process<View, Fact, Due>) => Promise<void>,
): Promise<View> {
  const row = new FollowedRow(run, subjectOf(input));
  try {
    await process(row.steps);
  } catch (error) {
    if (error !== rowIsFinal) throw error;
  }
  return row.untilFinal();
}

type AttemptOptions = {
  /** The run does not continue as new during the attempt. */
  readonly isPartOfOnce?: boolean;
  /** A failure leaves the outcome unknown; it is asked for. */
  readonly mayStayUnknown?: boolean;
};

const onceOptions: AttemptOptions = { isPartOfOnce: true, mayStayUnknown: true };

/** Thrown inside the process to leave it from any line when the row has become final. */
const rowIsFinal = new Error('the row is final');

class FollowedRow<View, Fact extends string, Due extends string> {
  readonly #run: FollowedRun<View, Fact, Due>;
  readonly #id: string;
  readonly #details: Details = currentDetails('Reading the record.');
  readonly #showStage = stageKeeper();
  readonly #oneDecisionAtATime = createQueue();
  #latest: RowState<View, Fact, Due> | undefined;
  /** The row may have changed since it was read: it was woken, or time has passed. */
  #isStale: boolean;
  /** Resolved, and forgotten, by the next message or result that may concern an activity under way. */
  #nextChange: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  #waitingFor: Fact | undefined;

  constructor(run: FollowedRun<View, Fact, Due>, id: string) {
    this.#run = run;
    this.#id = id;
    this.#isStale = run.beginsWithStep !== true;
    onWake(() => this.#markStale());
    // Messages that mean nothing fill the history too. A cancelled run ends by its body.
    condition(isHistoryLong).then(
      () => this.#tellOfChange(),
      () => undefined,
    );
    this.#takeDecisions();
    this.#takeSignal();
    this.#answerAsks();
  }

  readonly steps: Process<View, Fact, Due> = {
    step: async (fact, activity) => {
      for (let attempts = 0; this.#beginsWith(fact) || !(await this.#isReached(fact)); attempts++) {
        if (attempts > 0) {
          await this.#pause(gapMs(attempts));
          if (await this.#isReached(fact)) return;
        }
        await this.#attempt(() => activity(this.#id));
      }
    },
    wait: (fact, whenDue = {}) => this.#wait(fact, whenDue, {}),
    once: async (fact, { claimsWhenDue, mark, send, whenDue }) => {
      if (await this.#isReached(fact)) return;
      const { workflowId, runId } = workflowInfo();
      const causeId = `${workflowId}/${runId}/${fact}`;
      if (claimsWhenDue !== undefined && this.#latest?.dueInMs[claimsWhenDue] !== undefined) {
        const claiming = (id: string) => send(id, causeId);
        await this.#wait(fact, { ...whenDue, [claimsWhenDue]: claiming }, { once: claimsWhenDue });
        return;
      }
      let maySend = false;
      // The next run of this workflow has another cause: continuing as new between the two would leave the call unsent.
      await this.#attempt(
        async () => {
          const marked = await mark(this.#id, causeId);
          maySend = !marked.mayHaveSent;
          return marked;
        },
        { isPartOfOnce: true },
      );
      if (maySend && !(await this.#isReached(fact))) {
        await this.#attempt(() => send(this.#id, causeId), onceOptions);
      }
      await this.#wait(fact, whenDue, {});
    },
  };

  /** `once`: what is done then is a call that the receiver would carry out twice. */
  async #wait(
    fact: Fact,
    whenDue: { readonly [Name in Due]?: RowStep<View, Fact, Due> },
    { once }: { readonly once?: Due },
  ): Promise<void> {
    let repeats = 0;
    // Since the last pause. What stays due does not keep the others from their turn.
    const inVain = new Set<Due>();
    while (!(await this.#isReached(fact))) {
      const dues = this.#dues(whenDue);
      const due = dues.find(({ name, inMs }) => inMs <= 0 && !inVain.has(name));
      if (due !== undefined) {
        await this.#attempt(() => due.activity(this.#id), due.name === once ? onceOptions : {});
        const left = this.#dues(whenDue).find(({ name }) => name === due.name);
        if (left === undefined || left.inMs > due.inMs) repeats = 0;
        else inVain.add(due.name);
        continue;
      }
      repeats = inVain.size === 0 ? 0 : repeats + 1;
      await this.#pause(inVain.size === 0 ? dues[0]?.inMs : gapMs(repeats));
      inVain.clear();
    }
  }

  /** The handlers finish before the run ends. A row that is not final any more then is followed by the next run. */
  async untilFinal(): Promise<View> {
    for (let wasFinal = this.#latest?.final === true; ; ) {
      const { final, view } = this.#known() ?? (await this.#refresh());
      if (final && allHandlersFinished()) return view;
      if (final) await condition(allHandlersFinished);
      // Not by this run, which would make a call again that it has made: its own mark does not keep it from that.
      else if (wasFinal) await continueInNextRun(this.#id);
      else await this.#pause(undefined);
      wasFinal ||= final;
    }
  }

  #markStale(): void {
    this.#isStale = true;
    this.#tellOfChange();
  }

  #tellOfChange(): void {
    this.#nextChange?.resolve();
    this.#nextChange = undefined;
  }

  /** Not a `condition` of the SDK, which is asked at every event and costs another turn of the sandbox. */
  #change(): Promise<void> {
    this.#nextChange ??= deferred();
    return this.#nextChange.promise;
  }

  /** The row as it was read; undefined where it has to be read first. */
  #known(): RowState<View, Fact, Due> | undefined {
    return this.#isStale ? undefined : this.#latest;
  }

  /** Only the first step of a run that has read nothing, and was not woken. */
  #beginsWith(fact: Fact): boolean {
    if (this.#isStale || this.#latest !== undefined || this.#waitingFor !== undefined) return false;
    this.#waitingFor = fact;
    this.#describe();
    return true;
  }

  /** Leaves the process when the row is final. */
  async #isReached(fact: Fact): Promise<boolean> {
    this.#waitingFor = fact;
    const latest = this.#known() ?? (await this.#refresh());
    if (latest.reached.includes(fact)) return true;
    if (latest.final) throw rowIsFinal;
    this.#describe();
    return false;
  }

  async #refresh(): Promise<RowState<View, Fact, Due>> {
    while (this.#latest === undefined || this.#isStale) {
      this.#isStale = false; // Before the read, so that a wake during it is not lost.
      this.#take(await this.#run.refresh(this.#id));
    }
    return this.#latest;
  }

  /** A late answer with an older version must not replace a newer one. */
  #take(state: RowState<View, Fact, Due>): void {
    if (this.#latest !== undefined && state.version < this.#latest.version) return;
    this.#latest = state;
    this.#tellOfChange();
    this.#showStage(this.#run.stage(state.view));
    this.#describe();
  }

  #describe(): void {
    const sentence = this.#waitingFor === undefined ? undefined : this.#run.waitingFor[this.#waitingFor];
    if (this.#latest === undefined) {
      if (typeof sentence === 'string') this.#details.say(sentence);
      return;
    }
    const { view, final } = this.#latest;
    const subject = this.#run.describe(view);
    if (final) {
      this.#details.say(`${subject}. Done: ${this.#run.outcome(view)}.`);
    } else if (sentence !== undefined) {
      this.#details.say(`${subject}. ${typeof sentence === 'string' ? sentence : sentence(view)}`);
    }
  }

  /** The earliest first. */
  #dues(whenDue: { readonly [Name in Due]?: RowStep<View, Fact, Due> }) {
    const names = Object.keys(whenDue) as Due[];
    const dues = names.flatMap((name) => {
      const [activity, inMs] = [whenDue[name], this.#latest?.dueInMs[name]];
      return activity === undefined || inMs === undefined ? [] : [{ name, inMs, activity }];
    });
    return dues.toSorted((one, other) => one.inMs - other.inMs);
  }

  /** Until the row may have changed or the time has passed. Continues as new when the history has become long. */
  async #pause(ms: number | undefined): Promise<void> {
    const known = this.#latest;
    const hasChanged = (): boolean => this.#isStale || this.#latest !== known || isHistoryLong();
    if (ms === undefined) {
      await condition(hasChanged);
    } else {
      await condition(hasChanged, Math.min(Math.max(ms, 1), longestWaitMs), this.#timer());
      if (!hasChanged()) this.#isStale = true; // The time has passed.
    }
    await continueIfHistoryIsLong(this.#id);
  }

  /** The Web UI shows the summary beside the timer. */
  #timer(): { readonly summary: string } {
    return { summary: this.#waitingFor === undefined ? 'waiting for the end' : `until ${this.#waitingFor}` };
  }

  /**
   * Runs an activity beside wakes and decisions: a wake is read at once, and a final row cancels the activity. A
   * refusal is noted and the row is read again, because another transaction may have changed the row.
   */
  async #attempt(
    activity: () => Promise<RowState<View, Fact, Due>>,
    { isPartOfOnce = false, mayStayUnknown = false }: AttemptOptions = {},
  ): Promise<void> {
    const scope = new CancellationScope();
    let isEnded = false;
    const end = (outcome: Outcome<RowState<View, Fact, Due>>) => {
      isEnded = true;
      return outcome;
    };
    const ending = scope.run(activity).then(
      (state) => end({ state }),
      (error: unknown) => end({ error }),
    );
    const isFinal = (): boolean => this.#latest?.final === true;
    const hasToLeave = (): boolean => isFinal() || (isHistoryLong() && !isPartOfOnce);
    while (!(isEnded || hasToLeave())) {
      if (!this.#isStale) await Promise.race([ending, this.#change()]);
      if (!(isEnded || hasToLeave()) && this.#isStale) await this.#refresh();
    }
    if (!isEnded) scope.cancel();
    const outcome = await ending;
    if ('state' in outcome) this.#take(outcome.state);
    else if (!hasToLeave()) this.#noteFailure(outcome.error, mayStayUnknown);
    if (!isFinal() && !isPartOfOnce && isHistoryLong()) await continueIfHistoryIsLong(this.#id);
  }

  #noteFailure(error: unknown, mayStayUnknown: boolean): void {
    const why = refusalIn(error) ?? (mayStayUnknown ? 'No answer came; the outcome is asked for.' : undefined);
    if (why === undefined) throw error;
    this.#details.note(why);
    this.#markStale();
  }

  /** One handler for all phases, as update and as signal. Decisions queue among themselves, never behind a step. */
  #takeDecisions(): void {
    const { decide } = this.#run;
    if (decide === undefined) return;
    const carryOut = async (decision: Decision): Promise<View> => {
      await condition(() => this.#latest !== undefined || isLeaving());
      return this.#oneDecisionAtATime(async () => {
        const state = await decide.carryOut(this.#id, decision);
        this.#take(state);
        return state.view;
      });
    };
    let signals = 0;
    onUpdate('decide', {
      read: decisionFromUpdate,
      // Before the row is read every decision passes, because the activity decides.
      refuse: (decision) => this.#latest !== undefined && decide.refuse(this.#latest.view, decision),
      handle: carryOut,
      description: 'Carries out a decision and answers with the record. The API uses it.',
    });
    onSignal('decide', {
      read: parseDecision,
      handle: async ({ decision, by, changes }) => {
        signals += 1;
        const causeId = `signal:${workflowInfo().runId}:${signals}`;
        const given = changes === undefined ? {} : { changes };
        try {
          await carryOut({ decision, by, ...given, actor: 'signal', causeId, requestId: causeId });
        } catch (error) {
          // It may have been carried out, and its result lost with the workflow task: the row says so.
          this.#markStale();
          this.#details.note(`${decision} by ${by} was refused: ${refusalIn(error) ?? 'it could not be carried out'}`);
        }
      },
      note: this.#details.note,
      description: 'For people: {"decision":"approve","by":"your name"}; also "deny" and "cancel". Gives no answer.',
    });
  }

  #takeSignal(): void {
    const { signal } = this.#run;
    if (signal === undefined) return;
    let count = 0;
    onSignal<Readonly<Record<string, string>>>(signal.name, {
      read: signal.read,
      handle: async (typed) => {
        count += 1;
        const causeId = `signal:${workflowInfo().runId}:${signal.name}:${count}`;
        try {
          this.#take(await this.#oneDecisionAtATime(() => signal.carryOut(this.#id, typed, causeId)));
        } catch (error) {
          // It may have been carried out, and its result lost with the workflow task: the row says so.
          this.#markStale();
          throw error;
        }
      },
      note: this.#details.note,
      description: signal.description,
    });
  }

  #answerAsks(): void {
    const { ask } = this.#run;
    if (ask === undefined) return;
    const isAnswered = (): boolean =>
      isLeaving() || (this.#latest !== undefined && (this.#latest.final || ask.isAnswered(this.#latest.view)));
    onUpdate(ask.message.name, {
      read: readNothing,
      refuse: () => this.#latest !== undefined && ask.refuse?.(this.#latest.view),
      handle: async () => {
        await (ask.withinMs === undefined ? condition(isAnswered) : condition(isAnswered, ask.withinMs));
        const { view } = this.#latest ?? (await this.#run.refresh(this.#id));
        ask.refuse?.(view);
        return view;
      },
      description: ask.description,
    });
  }
}

/** What stays due is repeated after 1 s, then 2 s, and so on up to 1 minute. */
const gapMs = (repeats: number): number => Math.min(second * 2 ** (repeats - 1), minute);

type Outcome<State> = { readonly state: State } | { readonly error: unknown };

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
