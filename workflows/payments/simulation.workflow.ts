/** One simulated charge: the simulated network is asked to charge the card, until it answers. @module */
import type { SimulationActivities } from '../../activities/payments/simulation.activities.ts';
import { type SimulationView, simulateCharge } from '../../src/domains/payments/simulations/simulation.messages.ts';
import { isFinalSimulation, type SimulationFact } from '../../src/domains/payments/simulations/simulation.rules.ts';
import { inWords } from '../../src/kernel/money.ts';
import { type FollowedRun, followRow, type RunInput } from '../lib/follow-row.ts';
import { databaseSteps, outboundSteps } from '../lib/steps.ts';

const { readSimulation } = databaseSteps<SimulationActivities>()({ readSimulation: 'Reading the simulation' });
const { playSimulation } = outboundSteps<SimulationActivities>()({
  playSimulation: 'Asking the simulated network to charge the card',
});

const simulationRun: FollowedRun<SimulationView, SimulationFact> = {
  refresh: readSimulation,
  stage: ({ status }) => status,
  describe: ({ amountCents, agentId }) => `${inWords(amountCents)} EUR for agent ${agentId}`,
  waitingFor: { charged: 'Waiting for the simulated network to charge the card.' },
  outcome: ({ status, code }) => (status === 'done' ? 'the network has charged the card' : `refused (${code})`),
  ask: {
    message: simulateCharge,
    isAnswered: ({ status }) => isFinalSimulation(status),
    description: 'Waits until the network has charged the card or has refused to, and answers with the outcome.',
  },
};

export const simulation = (input: RunInput): Promise<SimulationView> =>
  followRow(simulationRun, input, ({ step }) => step('charged', playSimulation));
