/** A deployment without a simulated card network: nothing is charged on request. @module */
import type { NetworkSimulator } from '../../domains/payments/simulations/simulation.port.ts';
import { DomainError } from '../../kernel/errors.ts';

export const noNetwork: NetworkSimulator = {
  charge: async () => {
    throw new DomainError('unavailable', 'this deployment has no simulated card network');
  },
};
