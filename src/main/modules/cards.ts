/** The areas of the domain cards: cards and card requests. @module */

import { cardActivities } from '../../../activities/cards/card.activities.ts';
import { cardRequestActivities } from '../../../activities/cards/card-request.activities.ts';
import { cardControlsArea } from '../../domains/cards/card-controls/card-control.contract.ts';
import { cardControlHandlers } from '../../domains/cards/card-controls/card-control.routes.ts';
import { cardRequestsArea } from '../../domains/cards/card-requests/card-request.contract.ts';
import { CardRequestRow } from '../../domains/cards/card-requests/card-request.entity.ts';
import { cardRequestWorkflow } from '../../domains/cards/card-requests/card-request.messages.ts';
import { findCardRequest } from '../../domains/cards/card-requests/card-request.queries.ts';
import { cardRequestHandlers } from '../../domains/cards/card-requests/card-request.routes.ts';
import { cardsArea } from '../../domains/cards/cards/card.contract.ts';
import { CardRow } from '../../domains/cards/cards/card.entity.ts';
import type { OnActivated } from '../../domains/cards/cards/card.issue.service.ts';
import { cardWorkflow } from '../../domains/cards/cards/card.messages.ts';
import { cardRecord } from '../../domains/cards/cards/card.queries.ts';
import { cardHandlers } from '../../domains/cards/cards/card.routes.ts';
import { agentBecomesVisible } from '../../domains/parties/agents/agent.service.ts';
import type { Id } from '../../kernel/ids.ts';
import { approveCardRequest } from '../../usecases/cards/approve-card-request.ts';
import { cardRequestApproval } from '../../usecases/cards/card-request-approval.ts';
import { issueReservedCard } from '../../usecases/cards/issue-reserved-card.ts';
import { readCardPolicy } from '../../usecases/cards/read-card-policy.ts';
import { reassignPayments } from '../../usecases/cards/rotate-card.ts';
import { attestSubject } from '../../usecases/identity/attest-subject.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { defineModule, servedArea } from './module.ts';

const onActivated: OnActivated = async (tx, cause, { agentId, cardId: to, previousCardId: from }) => {
  await agentBecomesVisible(tx, cause, agentId as Id<'agent'>);
  if (from !== undefined) await reassignPayments(tx, cause, { agentId, from, to });
};

const approvingOf = ({ database, gateway, vault, relyingParty }: Infrastructure) =>
  approveCardRequest({ database, gateway, vault, attest: attestSubject({ database, relyingParty }) });

export const cards = defineModule('cards', [
  servedArea('cards', {
    contract: cardsArea,
    position: 310,
    lookups: ({ database }) => ({ card: (id) => cardRecord(database.read(), id) }),
    handlers: ({ database, gateway, config }) =>
      cardHandlers({
        database,
        showsCardRef: config.BURSAR_MODE === 'sandbox',
        issue: issueReservedCard({ database, gateway }),
        readPolicy: readCardPolicy({ database }),
      }),
    entities: [CardRow],
    tables: ['cards'],
    activities: ({ database, clock, ports }) =>
      cardActivities({ database, clock, processor: ports.cardProcessor, onActivated }),
    workflows: [
      {
        type: cardWorkflow,
        idPrefix: 'card',
        queue: 'main',
        summary: ({ subjectId, ofAgent }) =>
          `Card ${subjectId}${ofAgent}: issued, kept in step with the processor, closed`,
      },
    ],
  }),
  servedArea('card-controls', {
    contract: cardControlsArea,
    position: 312,
    handlers: cardControlHandlers,
    tables: [],
  }),
  servedArea('card-requests', {
    contract: cardRequestsArea,
    position: 315,
    lookups: ({ database }) => ({ cardRequest: (id) => findCardRequest(database.read(), id) }),
    handlers: (api) => cardRequestHandlers({ ...api, approve: approvingOf(api) }),
    approval: {
      fires: {
        approve: cardRequestsArea.operations.approveCardRequest.fires,
        deny: cardRequestsArea.operations.denyCardRequest.fires,
      },
      subject: (api) => cardRequestApproval({ approve: approvingOf(api) }),
    },
    entities: [CardRequestRow],
    tables: ['card_requests'],
    activities: ({ database, clock, config, links, vault }) =>
      cardRequestActivities({ database, clock, signalsMayApprove: config.signalsMayApprove, links, vault }),
    workflows: [
      {
        type: cardRequestWorkflow,
        idPrefix: 'card-request',
        queue: 'main',
        summary: ({ subjectId, ofAgent }) =>
          `Card request ${subjectId}${ofAgent}: to be decided by a person, or expired`,
      },
    ],
  }),
]);
