/**
 * One intent from declaration to a final state: obeys people one at a time, and expires it at the deadline. Keeps
 * nothing that the row lacks; lost and started again it goes on from the row.
 * @module
 */
import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { IntentActivities, IntentNext } from '../../activities/spending/intent.activities.ts';
import { type Decision, decisionAsked, parseDecision } from '../../src/domains/identity/approvals/decision.messages.ts';
import type { IntentView } from '../../src/domains/spending/intents/intent.messages.ts';
import { type IntentState, moveIntent } from '../../src/domains/spending/intents/intent.rules.ts';
import { inWords } from '../../src/kernel/money.ts';
import { currentDetails, type Details } from '../lib/current-details.ts';
import { onSignal, onUpdate } from '../lib/messages.ts';
import { createQueue } from '../lib/queue.ts';
import { refusal, refusalIn } from '../lib/refusals.ts';
import { stageKeeper } from '../lib/stage.ts';
import { databaseSteps } from '../lib/steps.ts';
import { subjectOf } from '../lib/subject.ts';
import { onWake } from '../lib/wake.ts';

const { nextIntentStep, decideIntent, expireIntent, endIntentWindow } = databaseSteps<IntentActivities>()({
  nextIntentStep: 'Reading the intent',
  decideIntent: 'Carrying out the decision',
  expireIntent: 'Expiring the intent at its deadline',
  endIntentWindow: 'Ending a window that nothing has paid for',
});

const howToDecide = 'For people: {"decision":"approve","by":"your name"}; also "deny" and "cancel". Gives no answer.';

export async function intentLifecycle(input: { id: string }): Promise<IntentView> {
  const intentId = subjectOf(input);
  const details = currentDetails('Reading the intent.');
  const showStage = stageKeeper();
  const serially = createQueue();
  let loaded: IntentView | undefined;
  let next: IntentNext | undefined;
  let woken = false;
  let signals = 0;

  const see = (step: IntentNext): IntentNext => {
    next = step;
    loaded = step.view;
    showStage(step.view.status);
    return step;
  };

  const look = async (): Promise<IntentNext> => {
    woken = false; // Before asking, so that a wake during the question is not lost.
    return see(await nextIntentStep(intentId));
  };

  const obey = async (decision: Decision): Promise<IntentView> => {
    await condition(() => loaded !== undefined);
    // The row decides; a refusal is the caller's answer.
    return serially(async () => see(await decideIntent(intentId, decision)).view);
  };

  onUpdate('decide', {
    read: decisionAsked,
    refuse: (decision) => refuseUnlessLegal(loaded, decision),
    handle: obey,
    description: 'The API asks with it; from people it is a signal that is answered.',
  });
  onSignal('decide', {
    read: parseDecision,
    handle: async ({ decision, by, changes }) => {
      signals += 1;
      const causeId = `signal:${workflowInfo().runId}:${signals}`;
      try {
        const given = changes === undefined ? {} : { changes };
        await obey({ decision, by, ...given, actor: 'signal', causeId, requestId: causeId });
      } catch (error) {
        details.note(`${decision} by ${by} was refused: ${refusalIn(error) ?? 'it could not be carried out'}`);
      }
    },
    note: details.note,
    description: howToDecide,
  });
  onWake(() => {
    woken = true;
  });

  for (;;) {
    // What a decision has led to is known already.
    const step = next ?? (await serially(look));
    next = undefined;
    sayWhatItWaitsFor(details, step);
    if (step.kind === 'final') break;
    if (step.kind === 'expire') await serially(() => expire(intentId, details, see));
    else if (step.kind === 'end_window') await serially(async () => see(await endIntentWindow(intentId)));
    else
      await condition(
        // Signals that are ignored wake nobody, and fill the history too.
        () => woken || next !== undefined || workflowInfo().continueAsNewSuggested,
        step.waitMs,
      );
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof intentLifecycle>({ id: intentId });
    }
  }
  await condition(allHandlersFinished);
  return loaded as IntentView;
}

async function expire(intentId: string, details: Details, see: (step: IntentNext) => IntentNext): Promise<void> {
  try {
    see(await expireIntent(intentId));
  } catch (error) {
    const why = refusalIn(error);
    if (why === undefined) throw error;
    details.note(why); // A payment or a person was faster; the row is asked again.
  }
}

/** Before the row is loaded everything is let through: the activity decides in any case. */
function refuseUnlessLegal(loaded: IntentView | undefined, decision: Decision): void {
  if (loaded === undefined) return;
  const state: IntentState = {
    status: loaded.status,
    matchedTransactionId: loaded.isMatched ? 'a payment' : null,
    isRecurring: (loaded.recurring ?? null) !== null,
  };
  const move = moveIntent(state, decision.decision, false);
  if (move.outcome === 'refused') throw refusal('invalid_state', move.why);
}

function sayWhatItWaitsFor(details: Details, next: IntentNext): void {
  const sentence = `${present(next)} ${amountOf(next)} asked by ${next.view.agentId}.`;
  const { approvalUrl } = next;
  details.say(approvalUrl ? `${sentence}\nThe approver's page: ${approvalUrl}` : sentence);
}

/** Whoever decides has to know how much more a charge may take. */
function amountOf({ view: { amountCents, recurring }, maxChargeCents }: IntentNext): string {
  const amount = `${inWords(amountCents)} EUR`;
  if (maxChargeCents === undefined || maxChargeCents <= amountCents) return amount;
  return `${amount}, up to ${inWords(maxChargeCents)} EUR${recurring ? ' each' : ''},`;
}

function present({ kind, view, needsPasskey }: IntentNext): string {
  if (kind === 'final') return `Done: ${view.status}.`;
  if (kind === 'expire') return 'The deadline has passed.';
  if (kind === 'end_window') return 'A window has passed unpaid.';
  if (view.isMatched) return 'Paid for, waiting for the clearing.';
  // No lengths of time here: the sentence is read hours after it was written.
  if (view.status === 'approved' && view.recurring) return presentWindow(view);
  const until = `until ${view.expiresAt} of business time, then it expires`;
  if (view.status === 'approved') return `Approved, waiting for the payment ${until}.`;
  if (needsPasskey === true)
    return `Waiting for a person to approve it with a passkey, or to deny it, ${until}; a signal does not approve it.`;
  return `Waiting for a person to approve or deny it ${until}.`;
}

function presentWindow({ recurring, window, expiresAt }: IntentView): string {
  const ends = `it ends at ${expiresAt} of business time`;
  if (!window) return `Approved, ${recurring}: no window is left, ${ends}.`;
  const { dueAt, from, to } = window;
  const dueOn = dueAt.slice(0, 10);
  return `Approved, ${recurring}: next due on ${dueOn}, charged from ${from} until ${to}; ${ends}.`;
}
