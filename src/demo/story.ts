/** The demo's story in eight steps: real purchases over HTTP, told in plain words while they happen. @module */
import { randomBytes } from 'node:crypto';
import type { Ready } from '../main/start.ts';
import { setUp } from './actors.ts';
import type { Context } from './context.ts';
import { callerOf } from './http.ts';
import { approvedByPerson, approvedByPolicy, approvedBySignal, expired, refusedByRule } from './purchases.ts';
import { createPaper } from './reporter.ts';
import { everythingWasHeard, refuseOnce, whatIsLeft } from './verify-deliveries.ts';

const steps = 8;

/** Throws with a plain sentence at the first thing that is not as told. */
export async function tellStory(ready: Ready, write: (line: string) => void): Promise<void> {
  if (ready.sandboxUrl === null) throw new Error('the demo needs a sandbox deployment (BURSAR_MODE=sandbox)');
  const context: Context = {
    ready,
    paper: createPaper(write, steps),
    dashboard: callerOf(ready.apiUrl, { 'X-Dashboard-Secret': ready.dashboardSecret }),
    sandbox: callerOf(ready.sandboxUrl),
    box: `demo-${randomBytes(6).toString('hex')}`,
  };
  const { step } = context.paper;
  await refuseOnce(context);
  step('An owner, an agent with a card and rules, money, a listener');
  const actors = await setUp(context);
  step('The agent buys something small: approved by its policy');
  await approvedByPolicy(context, actors);
  step('Something dearer waits for a person, who approves it');
  await approvedByPerson(context, actors);
  step('Another waits, and is approved by a Temporal signal');
  await approvedBySignal(context, actors);
  step('A blocked merchant');
  await refusedByRule(context, actors);
  step('Nobody answers');
  await expired(context, actors);
  step('What the subscriber heard');
  await everythingWasHeard(context, actors);
  step('What is left, and where to look next');
  await whatIsLeft(context, actors);
  write(`\ndemo done: ${steps} of ${steps} steps`);
}
