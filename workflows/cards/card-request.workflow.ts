/**
 * One card request: it waits for a person's decision, reminds the owner at half time, and expires at the deadline. Keeps
 * nothing that the row lacks; a run that was lost and started again continues from the row.
 * @module
 */
import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { CardRequestActivities, CardRequestNext } from '../../activities/cards/card-request.activities.ts';
import type { CardRequestView } from '../../src/domains/cards/card-requests/card-request.messages.ts';
import { moveCardRequest } from '../../src/domains/cards/card-requests/card-request.rules.ts';
import { type Decision, decisionAsked, parseDecision } from '../../src/domains/identity/approvals/decision.messages.ts';
import { currentDetails } from '../lib/current-details.ts';
import { databaseSteps } from '../lib/database-steps.ts';
import { onSignal, onUpdate } from '../lib/messages.ts';
import { refusal, refusalIn } from '../lib/refusals.ts';
import { oneAtATime } from '../lib/serially.ts';
import { stageKeeper } from '../lib/stage.ts';
import { subjectOf } from '../lib/subject.ts';
import { onWake } from '../lib/wake.ts';

const { nextCardRequestStep, decideCardRequest, remindOfCardRequest, expireCardRequest } =
  databaseSteps<CardRequestActivities>();

const howToDecide =
  'For people: {"decision":"approve","by":"your name","changes":{"dailyLimitEuros":50}}; also "deny" and "cancel". Gives no answer.';

export async function cardRequest(input: { id: string }): Promise<CardRequestView> {
  const id = subjectOf(input);
  const details = currentDetails('Reading the card request.');
  const showStage = stageKeeper();
  const serially = oneAtATime();
  let view: CardRequestView | undefined;
  let next: CardRequestNext | undefined;
  let isStale = false;
  let signals = 0;

  const update = (step: CardRequestNext): CardRequestNext => {
    next = step;
    view = step.view;
    showStage(step.view.status);
    return step;
  };
  const refresh = async (): Promise<CardRequestNext> => {
    isStale = false; // Before the read, so that a wake during the read is not lost.
    return update(await nextCardRequestStep(id));
  };
  const handle = async (decision: Decision): Promise<CardRequestView> => {
    await condition(() => view !== undefined);
    return serially(async () => update(await decideCardRequest(id, decision)).view);
  };
  const stepOf = (work: (of: string) => Promise<CardRequestNext>): Promise<void> =>
    serially(async () => {
      try {
        update(await work(id));
      } catch (error) {
        const why = refusalIn(error);
        if (why === undefined) throw error;
        details.note(why); // A person was faster; the row is read again.
      }
    });

  onUpdate('decide', {
    read: decisionAsked,
    refuse: ({ decision }) => refuseUnlessLegal(view, decision),
    handle,
    description: 'The API sends it; a person sends the signal of that name, or this update for an answer.',
  });
  onSignal('decide', {
    read: parseDecision,
    handle: async (typed) => {
      signals += 1;
      const causeId = `signal:${workflowInfo().runId}:${signals}`;
      try {
        await handle({ ...typed, actor: 'signal', causeId, requestId: causeId });
      } catch (error) {
        const why = refusalIn(error) ?? 'it could not be carried out';
        details.note(`${typed.decision} by ${typed.by} was refused: ${why}`);
      }
    },
    note: details.note,
    description: howToDecide,
  });
  onWake(() => {
    isStale = true;
  });

  for (;;) {
    const step = next ?? (await serially(refresh));
    next = undefined;
    details.say(sentenceOf(step));
    if (step.kind === 'final') break;
    if (step.kind === 'remind') await stepOf(remindOfCardRequest);
    else if (step.kind === 'expire') await stepOf(expireCardRequest);
    else await condition(() => isStale || next !== undefined || workflowInfo().continueAsNewSuggested, step.waitMs);
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof cardRequest>({ id });
    }
  }
  await condition(allHandlersFinished);
  return view as CardRequestView;
}

/** Before the row is read every decision is admitted: the activity decides in any case. */
function refuseUnlessLegal(view: CardRequestView | undefined, decision: Decision['decision']): void {
  if (view === undefined) return;
  const move = moveCardRequest(view.status, decision, false);
  if (move.outcome === 'refused') throw refusal('invalid_state', move.why);
}

function sentenceOf({ kind, view, approvalUrl, needsPasskey }: CardRequestNext): string {
  const { type, agentId, cardId, status, expiresAt, isReminded } = view;
  const what = type === 'new_card' ? `A new card for ${agentId}` : `Other limits for ${cardId} of ${agentId}`;
  if (kind === 'final') return `Done: ${status}. ${what}.`;
  if (kind === 'expire') return `The deadline has passed. ${what}.`;
  if (kind === 'remind') return `Reminding the owner. ${what}.`;
  const how = needsPasskey === true ? ' with a passkey; a signal does not approve it' : '';
  const reminded = isReminded ? ' The owner was reminded.' : '';
  const sentence = `${what}: waiting for a person to approve it${how}, or to deny it, until ${expiresAt} of business time; then it expires.${reminded}`;
  return approvalUrl ? `${sentence}\nThe approver's page: ${approvalUrl}` : sentence;
}
