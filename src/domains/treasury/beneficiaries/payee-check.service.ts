/** Keeps the answers of payee checks as evidence; rows never change. The name that the bank has is sealed. @module */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Vault } from '../../../vault/vault.ts';
import type { BeneficiaryRow } from './beneficiary.entity.ts';
import type { PayeeAnswer } from './payee-check.port.ts';

type Answered = { readonly payee: Pick<BeneficiaryRow, 'id' | 'ownerId' | 'name'>; readonly answer: PayeeAnswer };

/** Where the name that a bank has is sealed for. */
export const suggestedNameContext = (id: string): string => `payee-check/${id}`;

export async function keepPayeeCheck(tx: Tx, vault: Vault, { payee, answer }: Answered, cause: Cause): Promise<void> {
  const { id, ownerId, name } = payee;
  const suggested =
    answer.result === 'close_match' ? await vault.seal(answer.suggestedName, suggestedNameContext(id)) : null;
  const reason = answer.result === 'not_possible' ? answer.reason : null;
  await runSql(
    tx,
    `insert into payee_checks
       (beneficiary_id, owner_id, name, result, reason, sealed_suggested_name, request_id, run_id, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [id, ownerId, name, answer.result, reason, suggested, cause.requestId, cause.runId ?? null, cause.at],
  );
}
