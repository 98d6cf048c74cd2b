/** The state transitions of a simulated charge, and the error messages of its refusals. Pure. @module */
import type { ChargeRefusal } from './simulation.port.ts';

/** `open`: the network is asked; `done`: a transaction says how it went; `refused`: the network takes no such charge. */
const simulationStatuses = ['open', 'done', 'refused'] as const;
export type SimulationStatus = (typeof simulationStatuses)[number];

/** What the workflow of a simulation waits for: the network has charged the card or refused to. */
export type SimulationFact = 'charged';

export const wantedOutcomes = ['approve', 'decline'] as const;
export type WantedOutcome = (typeof wantedOutcomes)[number];

export const isFinalSimulation = (status: SimulationStatus): boolean => status !== 'open';

export const chargeRefusalInWords = {
  unknown_card: 'the simulated network does not know the card: only cards that its own processor has issued',
  not_accepted: 'the simulated network does not take this charge',
} as const satisfies Record<ChargeRefusal, string>;
