/** The payee check of a deployment that has no provider: it cannot say. @module */
import type { PayeeCheck } from '../../domains/treasury/beneficiaries/payee-check.port.ts';

export const noPayeeCheck: PayeeCheck = { ask: async () => ({ result: 'not_possible', reason: 'no_provider' }) };
