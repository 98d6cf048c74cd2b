/** Answers the beneficiary operations: call the service, shape the answer. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import type { Vault } from '../../../vault/vault.ts';
import type { beneficiariesArea } from './beneficiary.contract.ts';
import type { BeneficiaryRow } from './beneficiary.entity.ts';
import { listBeneficiaries } from './beneficiary.queries.ts';
import {
  compareWithList,
  createBeneficiary,
  deleteBeneficiary,
  dismissMatch,
  updateBeneficiary,
} from './beneficiary.service.ts';
import { beneficiaryWire } from './beneficiary.wire.ts';
import type { SanctionsList } from './sanctions.port.ts';

type Deps = { readonly database: Database; readonly vault: Vault; readonly sanctions: SanctionsList };

export const beneficiaryHandlers = ({ database, vault, sanctions }: Deps): Handlers<typeof beneficiariesArea> => {
  const toOwner = (row: BeneficiaryRow) => beneficiaryWire(vault, row, 'owner');

  return {
    createBeneficiary: async ({ body, own: { ownerId } }, call) => {
      const id = call.newId('beneficiary');
      const wanted = { id, ownerId, body, compared: await compareWithList(sanctions, body.name) };
      return toOwner(
        await inTransaction({ database }, call, (tx, cause) => createBeneficiary(tx, vault, wanted, cause)),
      );
    },

    listBeneficiaries: async ({ query: { status, q, ...paging }, own: { ownerId, agentId } }) => {
      const filter = { ownerId, status, q, agentsMayPay: agentId === undefined ? undefined : (true as const) };
      const found = await listBeneficiaries(database.read(), filter, pageOfQuery(paging));
      const to = agentId === undefined ? 'owner' : 'agent';
      return { ...found, data: await Promise.all(found.data.map((row) => beneficiaryWire(vault, row, to))) };
    },

    getBeneficiary: async ({ records, own: { agentId } }) =>
      beneficiaryWire(vault, records.beneficiary, agentId === undefined ? 'owner' : 'agent'),

    updateBeneficiary: async ({ params: { id }, body: change, own: { ownerId } }, call) => {
      const compared = change.name === undefined ? undefined : await compareWithList(sanctions, change.name);
      const wanted = { id, ownerId, change, compared };
      return toOwner(await inTransaction({ database }, call, (tx, cause) => updateBeneficiary(tx, wanted, cause)));
    },

    deleteBeneficiary: async ({ params: { id }, own: { ownerId } }, call) => {
      await inTransaction({ database }, call, (tx, cause) => deleteBeneficiary(tx, { id, ownerId }, cause));
      return undefined;
    },

    dismissBeneficiaryMatch: async ({ params: { id }, body: dismissal, own: { ownerId } }, call) =>
      toOwner(
        await inTransaction({ database }, call, (tx, cause) => dismissMatch(tx, { id, ownerId, dismissal }, cause)),
      ),
  };
};
