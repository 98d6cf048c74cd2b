/** The sanctions list of a deployment that has set none: it has no entries, and records say `none`. @module */
import type { ListOfNames, SanctionsList } from '../../domains/treasury/beneficiaries/sanctions.port.ts';

const nobody: ListOfNames = { id: 'none', names: [] };

export const noSanctionsList: SanctionsList = { current: async () => nobody, state: async () => 'ok' };
