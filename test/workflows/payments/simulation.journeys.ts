/** The ways of a simulated charge: paid, and declined as it was asked to be. @module */
import { of } from '../../support/record/purchase.ts';
import type { Journey, WorkflowJourneys } from '../../support/record/stage.ts';

const simulated =
  (outcome: 'approve' | 'decline', journey: string): Journey =>
  async (stage, { declare, intents, transactions }) => {
    const { agentId, cardId, intentId } = await declare(12.5);
    await transactions.simulateTransaction({ body: { cardId, intentId, outcome } });
    const workflowId = await stage.runOf('simulation', agentId);
    const names = { agent: agentId, subject: workflowId.replace('simulation/', '') };
    await stage.observe('simulation: done', workflowId, names);
    if (outcome === 'decline') await intents.cancelIntent(of({ agentId, cardId, intentId }));
    return [{ workflow: 'simulation', journey, workflowId }];
  };

export const journeys: WorkflowJourneys = {
  workflows: {
    simulation: {
      queue: 'main',
      id: 'simulation/{subject}',
      summary: '{euros} EUR. Simulation {subject} of agent {agent}: a card charged by the simulated network',
      hasAgent: true,
      histories: ['approved', 'declined'],
      stages: {
        'waiting for the network': {
          stage: 'open',
          status: 'RUNNING',
          details: ['12.50 EUR for agent {agent}. Waiting for the simulated network to charge the card.'],
          problem: 'retrying',
        },
        done: {
          stage: 'done',
          status: 'COMPLETED',
          details: ['12.50 EUR for agent {agent}. Done: the network has charged the card.'],
        },
        refused: {
          stage: 'refused',
          status: 'COMPLETED',
          details: ['12.50 EUR for agent {agent}. Done: refused (unknown_card).'],
        },
      },
    },
  },
  journeys: [simulated('approve', 'approved'), simulated('decline', 'declined')],
  waiting: () => ({}), // The run waits for activities that fail.
};
