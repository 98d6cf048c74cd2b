/**
 * Turns activities into the steps of a workflow, each with the summary that the Web UI shows. The kind of step decides
 * how it is repeated: a transaction in PostgreSQL, an outside call that may be repeated, or one that must not be.
 * @module
 */
import {
  type ActivityOptions,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  type UntypedActivities,
} from '@temporalio/workflow';
import {
  databaseStep,
  databaseStepAtOnce,
  deliveryStep,
  deliveryStepAtFirst,
  onceStep,
  outboundStep,
  outboundStepAtFirst,
} from './activity-options.ts';
import { whileRepeated } from './problem.ts';
import { refusalIn } from './refusals.ts';
import { runState } from './run-state.ts';

/** A summary for each activity that the workflow uses. */
type Summaries<Name extends string> = Readonly<Record<Name, string>>;
type Steps<Activities, Name extends keyof Activities> = { readonly [Key in Name]: Activities[Key] };
type Call = (...input: unknown[]) => Promise<unknown>;

/**
 * Steps that are one transaction or one read in PostgreSQL, each safe to repeat. The first attempt runs within the
 * workflow task, which saves a round trip to the server. After a fault the step becomes an ordinary activity, which is
 * repeated until PostgreSQL answers. A refusal by the rules is thrown. Not for outbound HTTP.
 */
export const databaseSteps = <Activities>() =>
  stepsOf<Activities>((name, summary) => {
    const atOnce = activity(proxyLocalActivities<UntypedActivities>({ ...databaseStepAtOnce, summary }), name);
    const untilDone = activity(proxyActivities<UntypedActivities>({ ...databaseStep, summary }), name);
    return async (...input) => {
      try {
        return await runState().oneLocalActivityAtATime(() => atOnce(...input));
      } catch (error) {
        if (refusalIn(error) !== undefined) throw error;
        // Also after the worker gave the attempt up because it stops. A run that is cancelled schedules nothing more.
        return whileRepeated(() => untilDone(...input));
      }
    };
  });

/** Calls to the outside world that are safe to repeat. */
export const outboundSteps = <Activities>() => repeatedSteps<Activities>(outboundStepAtFirst, outboundStep);

/** A batch of webhook attempts. */
export const deliverySteps = <Activities>() => repeatedSteps<Activities>(deliveryStepAtFirst, deliveryStep);

/**
 * After some attempts in vain the step becomes a second activity, which is repeated until the other side answers, and
 * which operators find.
 */
const repeatedSteps = <Activities>(first: ActivityOptions, later: ActivityOptions) =>
  stepsOf<Activities>((name, summary) => {
    const atFirst = activity(proxyActivities<UntypedActivities>({ ...first, summary }), name);
    const untilDone = activity(proxyActivities<UntypedActivities>({ ...later, summary }), name);
    return async (...input) => {
      try {
        return await atFirst(...input);
      } catch (error) {
        if (refusalIn(error) !== undefined || isCancellation(error)) throw error;
        return whileRepeated(() => untilDone(...input));
      }
    };
  });

/** Calls that the receiver would carry out twice. They are attempted once; only `once` of `followRow` uses them. */
export const onceSteps = <Activities>() =>
  stepsOf<Activities>((name, summary) => activity(proxyActivities<UntypedActivities>({ ...onceStep, summary }), name));

const stepsOf =
  <Activities>(step: (name: string, summary: string) => Call) =>
  <Name extends keyof Activities & string>(summaries: Summaries<Name>): Steps<Activities, Name> =>
    Object.fromEntries(
      Object.entries<string>(summaries).map(([name, summary]) => [name, step(name, summary)]),
    ) as unknown as Steps<Activities, Name>;

function activity(proxies: UntypedActivities, name: string): Call {
  const call = proxies[name];
  if (call === undefined) throw new Error(`no activity ${name}`);
  return call;
}
