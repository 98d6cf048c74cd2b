/** Cards. @module */
import { cardActivities } from '../../../activities/cards/card.activities.ts';
import { cardsArea } from '../../domains/cards/cards/card.contract.ts';
import { CardRow } from '../../domains/cards/cards/card.entity.ts';
import type { OnActivated } from '../../domains/cards/cards/card.issue.service.ts';
import { cardWorkflow } from '../../domains/cards/cards/card.messages.ts';
import { cardHandlers } from '../../domains/cards/cards/card.routes.ts';
import { agentBecomesVisible } from '../../domains/parties/index.ts';
import type { Id } from '../../kernel/ids.ts';
import { readCardPolicy } from '../../usecases/cards/read-card-policy.ts';
import { reassignPayments } from '../../usecases/cards/rotate-card.ts';
import { defineModule, servedArea } from './module.ts';

const onActivated: OnActivated = async (tx, cause, { agentId, cardId: to, previousCardId: from }) => {
  await agentBecomesVisible(tx, cause, agentId as Id<'agent'>);
  if (from !== undefined) await reassignPayments(tx, cause, { agentId, from, to });
};

export const cards = defineModule('cards', [
  servedArea('cards', {
    contract: cardsArea,
    position: 310,
    handlers: ({ database, gateway, config }) =>
      cardHandlers({ database, gateway, mode: config.BURSAR_MODE, readPolicy: readCardPolicy({ database }) }),
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
]);
