/** A beneficiary as callers and subscribers see it. Opens the sealed account for the owner only. @module */
import type { EventData } from '../../../events/catalog.ts';
import { sepaTextOf } from '../../../kernel/sepa-text.ts';
import type { Vault } from '../../../vault/vault.ts';
import type { BeneficiaryWire } from './beneficiary.contract.ts';
import type { BeneficiaryRow } from './beneficiary.entity.ts';

/** Where the account of a beneficiary is sealed for. */
export const ibanContext = (id: string): string => `beneficiary/${id}`;

/** For an agent without the account and without the email address. */
export async function beneficiaryWire(
  vault: Pick<Vault, 'open'>,
  row: BeneficiaryRow,
  to: 'owner' | 'agent',
): Promise<BeneficiaryWire> {
  const { id, ownerId, name, sealedIban, ibanMasked, bic, country, email, agentsMayPay, status } = row;
  return {
    id,
    ownerId,
    name,
    sepaName: sepaTextOf(name),
    iban: to === 'agent' || sealedIban == null ? null : await vault.open(sealedIban, ibanContext(id)),
    ibanMasked,
    bic: bic ?? null,
    country,
    email: to === 'agent' ? null : (email ?? null),
    agentsMayPay,
    status,
    screening: {
      result: row.screeningResult,
      list: row.screeningList,
      screenedAt: row.screenedAt.toISOString(),
      matches: [...row.matches],
    },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** Without account, name and address: events leave the deployment. */
export const beneficiaryData = (row: BeneficiaryRow): EventData<'beneficiary.created'> => ({
  id: row.id,
  ownerId: row.ownerId,
  status: row.status,
  country: row.country,
  agentsMayPay: row.agentsMayPay,
  screening: row.screeningResult,
  createdAt: row.createdAt.toISOString(),
});
