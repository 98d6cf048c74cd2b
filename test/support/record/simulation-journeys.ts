/** The ways of a simulated charge: paid, and declined as it was asked to be. @module */
import type { Journey } from './stage.ts';

const simulated =
  (outcome: 'approve' | 'decline', journey: string): Journey =>
  async (stage, { declare, transactions }) => {
    const { agentId, cardId, intentId } = await declare(12.5);
    await transactions.simulateTransaction({ body: { cardId, intentId, outcome } });
    const workflowId = await stage.runOf('simulation', agentId);
    const names = { agent: agentId, subject: workflowId.replace('simulation/', '') };
    await stage.observe('simulation: done', workflowId, names);
    return [{ workflow: 'simulation', journey, workflowId }];
  };

export const simulationJourneys: readonly Journey[] = [
  simulated('approve', 'approved'),
  simulated('decline', 'declined'),
];
