/**
 * One card: the card processor issues it, and then gets each change of its state until the card is closed. A loop,
 * because the facts of a card can be undone: it is frozen and unfrozen at any time. The row decides; the run stores
 * nothing that is not in the row.
 * @module
 */
import { allHandlersFinished, condition } from '@temporalio/workflow';
import type { CardActivities } from '../../activities/cards/card.activities.ts';
import type { CardView } from '../../src/domains/cards/cards/card.messages.ts';
import { continueIfHistoryIsLong, isHistoryLong, isLeaving } from '../lib/continue-as-new.ts';
import { currentDetails } from '../lib/current-details.ts';
import { onUpdate, readNothing } from '../lib/messages.ts';
import { refusal } from '../lib/refusals.ts';
import { stageKeeper } from '../lib/stage.ts';
import { databaseSteps, outboundSteps } from '../lib/steps.ts';
import { subjectOf } from '../lib/subject.ts';
import { onWake } from '../lib/wake.ts';

const { nextCardStep } = databaseSteps<CardActivities>()({ nextCardStep: 'Reading the card' });
const { issueCard, syncCard } = outboundSteps<CardActivities>()({
  issueCard: 'Asking the card processor to issue the card',
  syncCard: 'Sending the state of the card to the card processor',
});

export async function cardLifecycle(input: { id: string }): Promise<CardView> {
  const cardId = subjectOf(input);
  const details = currentDetails('Reading the card.');
  const showStage = stageKeeper();
  let loaded: CardView | undefined;
  let isStale = false;

  const take = (view: CardView): CardView => {
    loaded = view;
    showStage(view.syncedState === null ? 'issuing' : view.status);
    return view;
  };

  // The loop issues the card without being asked; the update only waits for it.
  onUpdate('issue', {
    read: readNothing,
    refuse: () => refuseIfClosed(loaded),
    handle: async () => {
      await condition(() => isLeaving() || (loaded !== undefined && isIssuedOrClosed(loaded)));
      refuseIfClosed(loaded);
      return loaded as CardView;
    },
    description: 'Waits until the card processor has issued the card, and answers with it.',
  });
  onWake(() => {
    isStale = true;
  });

  for (;;) {
    isStale = false; // Before the read, so that a wake during it is not lost.
    const { kind, view } = await nextCardStep(cardId);
    take(view);
    details.say(inWords(kind, view));
    if (kind === 'final') break;
    if (kind === 'issue') take(await issueCard(cardId));
    else if (kind === 'sync') take(await syncCard(cardId));
    else await condition(() => isStale || isHistoryLong());
    if (isHistoryLong()) await continueIfHistoryIsLong(cardId);
  }
  await condition(allHandlersFinished);
  return loaded as CardView;
}

const isIssuedOrClosed = ({ syncedState, status }: CardView): boolean => syncedState !== null || status === 'closed';

/** Before the row is read every request passes. */
function refuseIfClosed(loaded: CardView | undefined): void {
  if (loaded?.status === 'closed') throw refusal('invalid_state', 'the card was closed; nothing is issued');
}

function inWords(kind: string, { agentId, status, frozenBy }: CardView): string {
  const owner = `Card of ${agentId}.`;
  if (kind === 'issue') return `Waiting for the card processor to issue it. ${owner}`;
  if (kind === 'sync') return `Waiting for the card processor to accept the state ${status}. ${owner}`;
  if (kind === 'final') return `Done: closed, and the card processor has confirmed it. ${owner}`;
  const by = frozenBy === 'card' ? 'by its owner' : frozenBy === 'agent' ? 'with its agent' : 'by its policy';
  return `${status === 'frozen' ? `Frozen ${by}` : 'Active'}; waiting for a change. ${owner}`;
}
