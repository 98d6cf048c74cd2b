/**
 * One card from the wish to its end: has it issued, then tells the processor whatever state the row is in. Decides
 * nothing: freezing and closing happen in the row, with or without this run; lost and started again it goes on.
 * @module
 */
import { allHandlersFinished, condition, continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { CardActivities } from '../../activities/cards/card.activities.ts';
import type { CardView } from '../../src/domains/cards/cards/card.messages.ts';
import { outboundStep } from '../lib/activity-options.ts';
import { currentDetails } from '../lib/current-details.ts';
import { databaseSteps } from '../lib/database-steps.ts';
import { onUpdate, readNothing } from '../lib/messages.ts';
import { refusal } from '../lib/refusals.ts';
import { stageKeeper } from '../lib/stage.ts';
import { subjectOf } from '../lib/subject.ts';
import { onWake } from '../lib/wake.ts';

const { nextCardStep } = databaseSteps<CardActivities>();
const { issueCard, syncCard } = proxyActivities<CardActivities>(outboundStep);

export async function cardLifecycle(input: { id: string }): Promise<CardView> {
  const cardId = subjectOf(input);
  const details = currentDetails('Reading the card.');
  const showStage = stageKeeper();
  let loaded: CardView | undefined;
  let woken = false;

  const see = (view: CardView): CardView => {
    loaded = view;
    showStage(view.syncedState === null ? 'issuing' : view.status);
    return view;
  };

  // The run issues by itself; whoever asks only waits for it.
  onUpdate('issue', {
    read: readNothing,
    refuse: () => refuseIfClosed(loaded),
    handle: async () => {
      await condition(() => loaded !== undefined && (loaded.syncedState !== null || loaded.status === 'closed'));
      refuseIfClosed(loaded);
      return loaded as CardView;
    },
    description: 'Waits until the card processor has issued the card, and answers with it.',
  });
  onWake(() => {
    woken = true;
  });

  for (;;) {
    woken = false; // Before asking, so that a wake during the question is not lost.
    const { kind, view } = await nextCardStep(cardId);
    see(view);
    details.say(inWords(kind, view));
    if (kind === 'final') break;
    if (kind === 'issue') see(await issueCard(cardId));
    else if (kind === 'sync') see(await syncCard(cardId));
    else await condition(() => woken || workflowInfo().continueAsNewSuggested);
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof cardLifecycle>({ id: cardId });
    }
  }
  await condition(allHandlersFinished);
  return loaded as CardView;
}

/** Before the row is loaded everything is let through. */
function refuseIfClosed(loaded: CardView | undefined): void {
  if (loaded?.status === 'closed') throw refusal('invalid_state', 'the card was closed; nothing is issued');
}

function inWords(kind: string, { agentId, status, frozenBy }: CardView): string {
  const owner = `Card of ${agentId}.`;
  if (kind === 'issue') return `Waiting for the card processor to issue it. ${owner}`;
  if (kind === 'sync') return `Waiting for the card processor to take the state ${status}. ${owner}`;
  if (kind === 'final') return `Done: closed, and the card processor knows. ${owner}`;
  const by = frozenBy === 'card' ? 'by its owner' : frozenBy === 'agent' ? 'with its agent' : 'by its policy';
  return `${status === 'frozen' ? `Frozen ${by}` : 'Active'}; waiting for a change. ${owner}`;
}
