/**
 * One simulated charge: has the network charge the card, however long the network is away, and ends. Keeps nothing that
 * the row lacks; lost and started again it finds what came of it.
 * @module
 */
import { allHandlersFinished, condition } from '@temporalio/workflow';
import type { SimulationActivities } from '../../activities/payments/simulation.activities.ts';
import type { SimulationView } from '../../src/domains/payments/simulations/simulation.messages.ts';
import { isFinalSimulation } from '../../src/domains/payments/simulations/simulation.rules.ts';
import { inWords } from '../../src/kernel/money.ts';
import { currentDetails } from '../lib/current-details.ts';
import { onUpdate, readNothing } from '../lib/messages.ts';
import { stageKeeper } from '../lib/stage.ts';
import { databaseSteps, outboundSteps } from '../lib/steps.ts';
import { subjectOf } from '../lib/subject.ts';
import { onWake } from '../lib/wake.ts';

const { readSimulation } = databaseSteps<SimulationActivities>()({ readSimulation: 'Reading the simulation' });
const { playSimulation } = outboundSteps<SimulationActivities>()({
  playSimulation: 'Asking the simulated network to charge the card',
});

export async function simulation(input: { id: string }): Promise<SimulationView> {
  const id = subjectOf(input);
  const details = currentDetails('Reading the simulation.');
  const showStage = stageKeeper();
  let latest: SimulationView | undefined;
  const isFinal = (): boolean => latest !== undefined && isFinalSimulation(latest.status);

  const see = (view: SimulationView): SimulationView => {
    latest = view;
    showStage(view.status);
    details.say(present(view));
    return view;
  };

  // The run asks the network by itself; whoever asks only waits for it.
  onUpdate('simulate', {
    read: readNothing,
    handle: async () => {
      await condition(isFinal);
      return latest as SimulationView;
    },
    description: 'Waits until the network has charged the card or has refused to, and answers with the outcome.',
  });
  onWake(() => undefined); // There is one thing to do, and it is being done.

  let view = see(await readSimulation(id));
  if (!isFinalSimulation(view.status)) view = see(await playSimulation(id));
  await condition(allHandlersFinished);
  return view;
}

function present({ status, agentId, amountCents, code }: SimulationView): string {
  const charge = `${inWords(amountCents)} EUR for ${agentId}`;
  if (status === 'open') return `Waiting for the simulated network to charge ${charge}.`;
  return status === 'done'
    ? `Done: the network has asked and was answered, ${charge}.`
    : `Done: refused (${code}), ${charge}.`;
}
