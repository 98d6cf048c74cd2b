/**
 * One card request: the owner's subscribers are reminded at half time, a person decides, and without a decision it
 * expires at its deadline.
 * @module
 */
import type { CardRequestActivities } from '../../activities/cards/card-request.activities.ts';
import type { CardRequestRunView } from '../../src/domains/cards/card-requests/card-request.messages.ts';
import {
  type CardRequestDue,
  type CardRequestFact,
  moveCardRequest,
} from '../../src/domains/cards/card-requests/card-request.rules.ts';
import { type FollowedRun, followRow, type RunInput } from '../lib/follow-row.ts';
import { refusal } from '../lib/refusals.ts';
import { databaseSteps } from '../lib/steps.ts';

const { readCardRequest, decideCardRequest, remindOfCardRequest, expireCardRequest } =
  databaseSteps<CardRequestActivities>()({
    readCardRequest: 'Reading the card request',
    decideCardRequest: 'Carrying out the decision',
    remindOfCardRequest: 'Reminding the owner that the request waits',
    expireCardRequest: 'Expiring the request at its deadline',
  });

const cardRequestRun: FollowedRun<CardRequestRunView, CardRequestFact, CardRequestDue> = {
  refresh: readCardRequest,
  stage: ({ status }) => status,
  describe: ({ type, agentId, cardId }) =>
    type === 'new_card' ? `A new card for agent ${agentId}` : `Other limits for card ${cardId} of agent ${agentId}`,
  waitingFor: { reminded: waitingForDecision, decided: waitingForDecision },
  outcome: ({ status }) => status,
  decide: {
    carryOut: decideCardRequest,
    refuse: ({ status }, { decision }) => {
      const move = moveCardRequest(status, decision, false);
      if (move.outcome === 'refused') throw refusal('invalid_state', move.why);
    },
  },
};

export const cardRequest = (input: RunInput): Promise<CardRequestRunView> =>
  followRow(cardRequestRun, input, async ({ wait }) => {
    await wait('reminded', { reminder: remindOfCardRequest, deadline: expireCardRequest });
    await wait('decided', { deadline: expireCardRequest });
  });

function waitingForDecision({ expiresAt, isReminded, needsPasskey, approvalUrl }: CardRequestRunView): string {
  const how = needsPasskey ? ' with a passkey (a signal cannot approve it)' : '';
  const reminded = isReminded ? ' A reminder was sent.' : '';
  const page = approvalUrl === null ? '' : `\nThe approver's page: ${approvalUrl}`;
  const until = `until ${expiresAt} of business time, then it expires`;
  return `Waiting for a person to approve it${how} or to deny it, ${until}.${reminded}${page}`;
}
