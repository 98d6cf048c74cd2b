/**
 * Carries out what `POST /transfers/split` asks for. Between wallets alone it is completed at once. With lines to banks
 * the money of all lines is moved or held in one transaction, and each of those lines is sent by its own workflow, while
 * the workflow of the split waits for them. A repeat of the same request moves and holds nothing.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import type { ApprovalLinks } from '../../domains/identity/approvals/approval-link.service.ts';
import type { RiskEngine } from '../../domains/spending/risk/risk.port.ts';
import { lockBeneficiary } from '../../domains/treasury/beneficiaries/beneficiary.queries.ts';
import { payRefusal, screened } from '../../domains/treasury/beneficiaries/beneficiary.rules.ts';
import {
  type Compared,
  compareWithList,
  createBeneficiary,
} from '../../domains/treasury/beneficiaries/beneficiary.service.ts';
import type { SanctionsList } from '../../domains/treasury/beneficiaries/sanctions.port.ts';
import { chooseScheme, type RailLimits, type Scheme } from '../../domains/treasury/sepa/scheme.rules.ts';
import { bankTransferWorkflowId } from '../../domains/treasury/transfers/bank-transfer.messages.ts';
import { findSplit } from '../../domains/treasury/transfers/transfer.queries.ts';
import type { BankLine, SplitRequest } from '../../domains/treasury/transfers/transfer.request.service.ts';
import { lockWallets } from '../../domains/treasury/transfers/transfer.service.ts';
import { createSplit, type Payee } from '../../domains/treasury/transfers/transfer-split.create.service.ts';
import { transferSplitWorkflowId } from '../../domains/treasury/transfers/transfer-split.messages.ts';
import { assert } from '../../kernel/assert.ts';
import { DomainError } from '../../kernel/errors.ts';
import { sepaTextOf } from '../../kernel/sepa-text.ts';
import type { Cause } from '../../platform/cause.ts';
import type { WorkflowGateway } from '../../temporal/gateway.ts';
import type { Vault } from '../../vault/vault.ts';
import { assertSameName, drawnFor, ibanOfLocked, namesOfPayees } from './pay-bank-account.ts';
import { matchIntent } from './transfer-intents.ts';
import { namesOfWallets } from './transfer-money.ts';

type Deps = {
  readonly database: Database;
  readonly vault: Vault;
  readonly risk: RiskEngine;
  readonly sanctions: Pick<SanctionsList, 'current'>;
  readonly limits: RailLimits;
  readonly links: Pick<ApprovalLinks, 'open'>;
  readonly gateway: Pick<WorkflowGateway, 'startSoon'>;
  /** Between wallets alone. */
  readonly transfer: (request: SplitRequest, cause: Cause) => Promise<void>;
};

export const divideAmount =
  ({ gateway, transfer, ...deps }: Deps) =>
  async (request: SplitRequest, cause: Cause): Promise<void> => {
    if (request.bankLines.length === 0) return transfer(request, cause);
    await payBanks(deps, request, cause);
    for (const { id } of request.bankLines) gateway.startSoon(bankTransferWorkflowId(id));
    gateway.startSoon(transferSplitWorkflowId(request.splitId));
  };

type PayDeps = Omit<Deps, 'gateway' | 'transfer'>;

async function payBanks(deps: PayDeps, request: SplitRequest, cause: Cause): Promise<void> {
  const { ownerId, agentId, splitId, bankLines } = request;
  const schemes = bankLines.map((line) => schemeOf(line, deps.limits));
  const refused = bankLines.find(({ payee }) => agentId !== null && 'to' in payee);
  if (refused !== undefined) {
    const field = `body.splits.${refused.splitLine}.to`;
    throw new DomainError('agent_isolation', `${field}: an agent pays saved beneficiaries only: give beneficiaryId`);
  }
  const compared = await comparedNames(deps.sanctions, bankLines);
  await deps.database.write(async (tx) => {
    if ((await findSplit(tx, ownerId, splitId)) !== null) return;
    refuseHits(bankLines, compared);
    const named = bankLines.flatMap(({ payee }) => ('to' in payee ? [] : [payee.id]));
    const names = await namesOfPayees(tx, named, request);
    const payeeNames = [...names, ...(await namesOfWallets(tx, request))];
    const drawn = await drawnFor(tx, deps, { ...request, payees: payeeNames }, cause.at);
    if (drawn.approvalRule !== null && request.lines.length > 0) {
      throw new DomainError(
        'policy_denied',
        `refused by ${drawn.approvalRule}: a person would have to approve the split, and no one can approve a transfer ` +
          'between wallets; leave those lines out, or let the owner make it',
      );
    }
    await lockWallets(tx, drawn.source, request, drawn.walletId);
    const payer = { walletId: drawn.walletId, iban: await ibanOfLocked(tx, drawn.walletId) };
    const payees = await payeesOf(
      tx,
      deps.vault,
      request,
      compared,
      cause,
      new Map(named.map((id, index) => [id, names[index]])),
    );
    await matchIntent(tx, request.intentId, splitId, cause);
    const lines = bankLines.map((line, index) => ({
      ...line,
      scheme: schemes[index] as Scheme,
      payee: payees[index] as Payee,
    }));
    await createSplit(tx, cause, { ...request, ...drawn, payer, bankLines: lines });
    await deps.links.open(tx, splitId, cause.at);
  });
}

function schemeOf({ scheme, amountCents, splitLine }: BankLine, limits: RailLimits): Scheme {
  const choice = chooseScheme(scheme, amountCents, limits);
  if (!choice.ok) throw new DomainError('invalid_request', `body.splits.${splitLine}.scheme: ${choice.why}`);
  return choice.scheme;
}

/** Before the transaction, because reading the list may take seconds. By line. */
async function comparedNames(sanctions: Deps['sanctions'], lines: readonly BankLine[]): Promise<(Compared | null)[]> {
  const compared: (Compared | null)[] = [];
  for (const { payee } of lines) {
    compared.push('to' in payee ? await compareWithList(sanctions, payee.to.name) : null);
  }
  return compared;
}

function refuseHits(lines: readonly BankLine[], compared: readonly (Compared | null)[]): void {
  const hit = lines.find((_, index) => {
    const found = compared[index];
    return found != null && screened(found.matches, []).result === 'hit';
  });
  if (hit === undefined) return;
  const field = `body.splits.${hit.splitLine}.to.name`;
  throw new DomainError('invalid_state', `${field}: resembles a name of the sanctions list`);
}

/** In the order of the lines. Saved beneficiaries are locked in the order of their ids. */
async function payeesOf(
  tx: Tx,
  vault: Vault,
  { ownerId, agentId, bankLines }: SplitRequest,
  compared: readonly (Compared | null)[],
  cause: Cause,
  /** As the policy has evaluated them. */
  names: ReadonlyMap<string, string | undefined>,
): Promise<Payee[]> {
  const saved = new Map<string, Awaited<ReturnType<typeof lockBeneficiary>>>();
  const named = bankLines.flatMap(({ payee }) => ('to' in payee ? [] : [payee.id]));
  for (const id of [...new Set(named)].sort()) {
    const beneficiary = await lockBeneficiary(tx, { id, ownerId });
    const why = payRefusal(beneficiary, agentId === null ? 'owner' : 'agent');
    if (why !== undefined) throw new DomainError('invalid_state', `beneficiary ${id} ${why}`);
    assertSameName(beneficiary, names.get(id));
    saved.set(id, beneficiary);
  }
  const payees: Payee[] = [];
  for (const [index, { payee }] of bankLines.entries()) {
    const result = compared[index];
    const found =
      'to' in payee && result != null
        ? await createBeneficiary(tx, vault, { ...payee.draft, compared: result, ownerId, isSaved: false }, cause)
        : saved.get('to' in payee ? payee.draft.id : payee.id);
    assert(found !== undefined, 'a payee is saved, or was compared with the list');
    payees.push({ beneficiaryId: found.id, name: sepaTextOf(found.name), ibanMasked: found.ibanMasked });
  }
  return payees;
}
