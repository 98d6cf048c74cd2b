/** The messages between the API, the worker and the simulation workflow: ids, codes and amounts only. @module */
import { type Message, message } from '../../../kernel/message.ts';
import type { SimulationStatus } from './simulation.rules.ts';

export type SimulationView = {
  readonly simulationId: string;
  readonly agentId: string;
  readonly status: SimulationStatus;
  readonly amountCents: number;
  readonly transactionId: string | null;
  /** Why the network takes no such charge. */
  readonly code: string | null;
};

export const simulationWorkflowId = (simulationId: string): string => `simulation/${simulationId}`;
export const simulationWorkflow = 'simulation';

/** Waits until the network has charged the card, or has refused to. */
export const simulateCharge: Message<SimulationView, Record<string, never>> = message('simulate');
