/** The risk engine of a deployment that has none: it allows every payment, and the decision's trace says so. @module */
import type { RiskEngine } from '../../domains/spending/risk/risk.port.ts';

export const allowAllRisk: RiskEngine = { assess: async () => ({ outcome: 'allow', signals: [] }) };
