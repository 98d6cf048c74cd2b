/** A line of a bank's file as an operator sees it. Shapes only. @module */
import { eurosFromCents } from '../../../kernel/money.ts';
import type { Vault } from '../../../vault/vault.ts';
import type { BankEntryRow } from './bank-entry.entity.ts';
import { isAssignable } from './bank-entry.rules.ts';
import { detailsContext } from './bank-entry.service.ts';
import type { BankEntryDetails, BankEntryWire } from './bank-file.contract.ts';

export async function bankEntryWire(vault: Pick<Vault, 'open'>, row: BankEntryRow): Promise<BankEntryWire> {
  const { sealedDetails, amountCents } = row;
  const details =
    sealedDetails == null
      ? null
      : (JSON.parse(await vault.open(sealedDetails, detailsContext(row.id))) as BankEntryDetails);
  return {
    id: row.id,
    status: row.status,
    why: row.why ?? null,
    assignable: isAssignable(row),
    iban: row.accountIban ?? null,
    servicerReference: row.servicerReference,
    direction: row.direction ?? null,
    amountEuros: amountCents == null ? null : eurosFromCents(amountCents),
    bookedOn: row.bookedOn ?? null,
    walletId: row.walletId ?? null,
    fundingId: row.fundingId ?? null,
    details,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
