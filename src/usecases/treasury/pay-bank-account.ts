/**
 * Takes an order to pay a bank account: of the owner out of a wallet, of an agent out of what its cards draw on, to
 * beneficiaries that agents may pay, within its policy. The money is held; the workflow of the transfer sends it. What
 * the policy leaves to a person waits for one. A repeat of the same request holds nothing.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { type Given, query } from '../../db/db.ts';
import type { Tx } from '../../db/tx.ts';
import { refusedBy } from '../../domains/spending/policies/policy.wire.ts';
import type { RiskEngine } from '../../domains/spending/risk/risk.port.ts';
import type { BeneficiaryRow } from '../../domains/treasury/beneficiaries/beneficiary.entity.ts';
import { findBeneficiary, lockBeneficiary } from '../../domains/treasury/beneficiaries/beneficiary.queries.ts';
import { payRefusal, screened } from '../../domains/treasury/beneficiaries/beneficiary.rules.ts';
import { compareWithList, createBeneficiary } from '../../domains/treasury/beneficiaries/beneficiary.service.ts';
import type { SanctionsList } from '../../domains/treasury/beneficiaries/sanctions.port.ts';
import type { FundingSource } from '../../domains/treasury/ledger/account.rules.ts';
import { chooseScheme, type RailLimits } from '../../domains/treasury/sepa/scheme.rules.ts';
import { createBankTransfer } from '../../domains/treasury/transfers/bank-transfer.create.service.ts';
import { findTransfer } from '../../domains/treasury/transfers/transfer.queries.ts';
import type { BankOrder } from '../../domains/treasury/transfers/transfer.request.service.ts';
import { heldOpen } from '../../domains/treasury/wallets/wallet.service.ts';
import { DomainError, notFound, unavailable } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import type { Cents } from '../../kernel/money.ts';
import { sepaTextOf } from '../../kernel/sepa-text.ts';
import type { Cause } from '../../platform/cause.ts';
import type { Vault } from '../../vault/vault.ts';
import { matchIntent } from './transfer-intents.ts';
import { evaluatedSource, sourceOfOwner } from './transfer-money.ts';

type Deps = {
  readonly database: Database;
  readonly vault: Vault;
  readonly risk: RiskEngine;
  readonly sanctions: Pick<SanctionsList, 'current'>;
  readonly limits: RailLimits;
};

export const payBankAccount =
  ({ database, vault, sanctions, limits, risk }: Deps) =>
  async (order: BankOrder, cause: Cause): Promise<void> => {
    const choice = chooseScheme(order.scheme, order.amountCents, limits);
    if (!choice.ok) throw new DomainError('invalid_request', `body.scheme: ${choice.why}`);
    const { agentId, payee } = order;
    if (agentId !== null && 'to' in payee) {
      throw new DomainError('agent_isolation', 'an agent pays saved beneficiaries only: give beneficiaryId');
    }
    const found = 'to' in payee ? { ...payee.draft, compared: await compareWithList(sanctions, payee.to.name) } : payee;
    await database.write(async (tx) => {
      if ((await findTransfer(tx, order.ownerId, order.id)) !== null) return;
      const payees = 'to' in payee ? [] : await namesOfPayees(tx, [payee.id], order);
      const drawn = await drawnFor(tx, { risk }, { ...order, payees, totalCents: order.amountCents }, cause.at);
      const payer = { walletId: drawn.walletId, iban: await accountOf(tx, order.ownerId, drawn.walletId) };
      if ('compared' in found && screened(found.compared.matches, []).result === 'hit') {
        throw new DomainError('invalid_state', 'body.to.name: resembles a name of the sanctions list');
      }
      const beneficiary =
        'compared' in found
          ? await createBeneficiary(tx, vault, { ...found, ownerId: order.ownerId, isSaved: false }, cause)
          : await lockBeneficiary(tx, { id: found.id, ownerId: order.ownerId });
      const why = payRefusal(beneficiary, agentId === null ? 'owner' : 'agent');
      if (why !== undefined) throw new DomainError('invalid_state', `beneficiary ${beneficiary.id} ${why}`);
      assertSameName(beneficiary, payees[0]);
      await matchIntent(tx, order.intentId, order.id, cause);
      const { id, name, ibanMasked } = beneficiary;
      const remittance = order.reference === undefined ? '' : sepaTextOf(order.reference);
      await createBankTransfer(
        tx,
        cause,
        {
          ...{ ...order, source: drawn.source, payer, scheme: choice.scheme },
          payee: { beneficiaryId: id, name: sepaTextOf(name), ibanMasked },
          remittance: remittance === '' ? null : remittance,
          approvalRule: drawn.approvalRule,
        },
        drawn.details,
      );
    });
  };

/** Of an order that pays for an intent: the names that are compared with it, in the order of the ids. */
export async function namesOfPayees(
  tx: Tx,
  ids: readonly Id<'beneficiary'>[],
  { intentId, ownerId }: { readonly intentId?: Id<'intent'> | undefined; readonly ownerId: Id<'owner'> },
): Promise<string[]> {
  if (intentId === undefined) return [];
  const names: string[] = [];
  for (const id of ids) {
    const payee = await findBeneficiary(tx, id);
    if (payee === null || payee.ownerId !== ownerId) throw notFound('beneficiary', id);
    names.push(payee.name);
  }
  return names;
}

/** The policy has evaluated `evaluated` before the payee was locked. */
export function assertSameName({ id, name }: Pick<BeneficiaryRow, 'id' | 'name'>, evaluated: string | undefined): void {
  if (evaluated === undefined || evaluated === name) return;
  throw unavailable(`the name of beneficiary ${id} is being changed`);
}

type Drawn = {
  readonly source: FundingSource;
  readonly walletId: Id<'wallet'>;
  /** The rule that asks for a person. */
  readonly approvalRule: string | null;
  readonly details: Record<string, unknown>;
};

type Drawing = {
  readonly ownerId: Id<'owner'>;
  readonly agentId: Id<'agent'> | null;
  readonly fromWalletId?: Id<'wallet'> | undefined;
  readonly intentId?: Id<'intent'> | undefined;
  /** Whom the intent is compared with. */
  readonly payees: readonly string[];
  readonly totalCents: Cents;
};

/** What the caller draws on, and whether a person has to approve the amount. Refuses what the policy denies. */
export async function drawnFor(tx: Tx, deps: { readonly risk: RiskEngine }, order: Drawing, at: Date): Promise<Drawn> {
  const { ownerId, agentId, fromWalletId } = order;
  if (agentId === null) {
    const source = await sourceOfOwner(tx, ownerId, fromWalletId);
    return { source, walletId: source.id as Id<'wallet'>, approvalRule: null, details: {} };
  }
  const request = { ...order, agentId, fromWalletId };
  const { source, walletId, decision, policyVersion } = await evaluatedSource(tx, deps, request, at);
  if (decision.outcome === 'deny') {
    const why = `refused by ${decision.rule}: ${decision.reason}`;
    throw new DomainError('policy_denied', why, { refusedBy: refusedBy(decision) });
  }
  const approvalRule = decision.outcome === 'needs_approval' ? decision.rule : null;
  return { source, walletId, approvalRule, details: { policyVersion } };
}

const ibanOf = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('wallets').select('iban').where('id', '=', given('id')),
);

/** The account of the wallet, which stays open until the transaction ends. */
async function accountOf(tx: Tx, ownerId: Id<'owner'>, walletId: Id<'wallet'>): Promise<string> {
  const status = await heldOpen(tx, ownerId, walletId);
  if (status === undefined) throw notFound('wallet', walletId);
  if (status !== 'active') {
    throw new DomainError('invalid_state', `body.fromWalletId: wallet ${walletId} is ${status}`);
  }
  return ibanOfLocked(tx, walletId);
}

export async function ibanOfLocked(tx: Tx, walletId: Id<'wallet'>): Promise<string> {
  const iban = (await ibanOf.first(tx, { id: walletId }))?.iban;
  if (iban == null) throw new DomainError('invalid_state', `wallet ${walletId} has no account at a bank`);
  return iban;
}
