/**
 * Steps that are one transaction or one read in PostgreSQL. They run within the run's own task, which spares the
 * server a round trip; a fault makes the step a task of its own, which operators see waiting. Never for outbound HTTP.
 * @module
 */
import { proxyActivities, proxyLocalActivities, type UntypedActivities } from '@temporalio/workflow';
import { databaseStep, databaseStepAtOnce } from './activity-options.ts';
import { refusalIn } from './refusals.ts';
import { oneAtATime } from './serially.ts';

type Steps<Activities> = { readonly [Name in keyof Activities]: Activities[Name] };

/**
 * One queue for the whole run: two local activities in flight, one of the body and one of a handler, get their numbers
 * in the order of the first run's answers, which a replay does not repeat. Ordinary activities do not queue.
 */
const locally = oneAtATime();

/** The same activity may so run twice, at once and later: each is safe to repeat. Refusals by the rules are thrown. */
export function databaseSteps<Activities extends UntypedActivities>(): Steps<Activities> {
  const atOnce = proxyLocalActivities<UntypedActivities>(databaseStepAtOnce);
  const untilDone = proxyActivities<UntypedActivities>(databaseStep);
  const step =
    (name: string) =>
    async (...input: unknown[]) => {
      try {
        return await locally(async () => atOnce[name]?.(...input));
      } catch (error) {
        // Also what a worker gave up because it stops: a run that was cancelled itself schedules nothing more.
        if (refusalIn(error) !== undefined) throw error;
        return untilDone[name]?.(...input);
      }
    };
  return new Proxy({} as Steps<Activities>, { get: (_, name) => step(String(name)) });
}
