/**
 * Moves money to wallets of the same owner: of the owner out of a wallet, of an agent out of what its cards draw on and
 * within its policy. A repeat of the same request moves nothing.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { type Given, query } from '../../db/db.ts';
import type { Tx } from '../../db/tx.ts';
import type { SpendingDecision } from '../../domains/spending/policies/policy.rules.ts';
import { refusedBy } from '../../domains/spending/policies/policy.wire.ts';
import type { RiskEngine } from '../../domains/spending/risk/risk.port.ts';
import { agentBudget, type FundingSource, wallet } from '../../domains/treasury/ledger/account.rules.ts';
import { findTransfer } from '../../domains/treasury/transfers/transfer.queries.ts';
import type { TransferRequest } from '../../domains/treasury/transfers/transfer.request.service.ts';
import { completeTransfers } from '../../domains/treasury/transfers/transfer.service.ts';
import { findWallet } from '../../domains/treasury/wallets/wallet.queries.ts';
import { defaultWallet } from '../../domains/treasury/wallets/wallet.service.ts';
import { DomainError, notFound } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { assertBelowLimit } from '../../platform/assert-limit.ts';
import type { Cause } from '../../platform/cause.ts';
import { evaluatePlan, lockAgentForShare, lockPolicyForShare } from '../spending/evaluate-plan.ts';
import { intentToPayFor, matchIntent, tellIntents } from './transfer-intents.ts';

type Deps = { readonly database: Database; readonly risk: RiskEngine };

export const transferMoney =
  ({ database, ...evaluating }: Deps) =>
  ({ fromWalletId, ...order }: TransferRequest, cause: Cause): Promise<void> =>
    database.write(async (tx) => {
      const [first] = order.lines;
      if (first === undefined || (await findTransfer(tx, order.ownerId, first.id)) !== null) return;
      const { agentId } = order;
      if (agentId === null) {
        return completeTransfers(tx, cause, await sourceOfOwner(tx, order.ownerId, fromWalletId), order);
      }
      const { intentId } = order;
      const payees = await namesOfWallets(tx, order);
      const request = { ...order, agentId, fromWalletId, payees };
      const { source, decision, policyVersion } = await evaluatedSource(tx, evaluating, request, cause.at);
      if (decision.outcome !== 'allow')
        throw new DomainError('policy_denied', whyRefused(decision), { refusedBy: refusedBy(decision) });
      await matchIntent(tx, intentId, order.splitId ?? first.id, cause);
      await completeTransfers(tx, cause, source, order, { policyVersion });
      if (intentId !== undefined) await tellIntents(tx, new Map([[intentId, cause]]));
    });

export async function sourceOfOwner(
  tx: Tx,
  ownerId: Id<'owner'>,
  fromWalletId: Id<'wallet'> | undefined,
): Promise<FundingSource> {
  const walletId = fromWalletId ?? (await defaultWallet(tx, ownerId));
  if (walletId === undefined) throw new DomainError('invalid_state', 'you have no wallet yet; fund one first');
  return wallet(walletId);
}

type AgentRequest = Pick<TransferRequest, 'ownerId' | 'fromWalletId' | 'totalCents' | 'intentId'> & {
  readonly agentId: Id<'agent'>;
  /** Whom the intent is compared with. */
  readonly payees: readonly string[];
};

/** Of an order that pays for an intent. */
export async function namesOfWallets(
  tx: Tx,
  { ownerId, intentId, lines }: Pick<TransferRequest, 'ownerId' | 'intentId' | 'lines'>,
): Promise<string[]> {
  if (intentId === undefined) return [];
  const names: string[] = [];
  for (const { toWalletId } of lines) {
    const found = await findWallet(tx, ownerId, toWalletId);
    if (found === null) throw notFound('wallet', toWalletId);
    names.push(found.name);
  }
  return names;
}

/**
 * What the agent draws on, and what its policy says of the amount. Until the transaction ends, nothing else of the agent
 * is spent. `walletId`: the wallet of the agent, also where it draws on a budget.
 */
export async function evaluatedSource(tx: Tx, deps: Omit<Deps, 'database'>, request: AgentRequest, at: Date) {
  const { ownerId, agentId, totalCents, intentId, payees } = request;
  const agent = await lockAgentForShare(tx, agentId);
  const draws = await drawing.first(tx, { agentId });
  if (agent === null || draws === null) throw notFound('agent', agentId);
  const source = await sourceOfAgent(tx, request, draws);
  const policy = await lockPolicyForShare(tx, agentId);
  const intent = intentId === undefined ? undefined : await intentToPayFor(tx, intentId, at);
  const decision = await evaluatePlan(deps)(tx, {
    ...{ agent, card: null, policy, at, phase: 'transfer', intent },
    request: { amountCents: totalCents, kind: 'purchase', payees },
  });
  // The agent's spending is locked, so its transfers come one after the other.
  if (decision.outcome !== 'deny') {
    await assertBelowLimit(tx, 'transfers', { ownerId, subject: agentId, at }, { isLocked: true });
  }
  return { source, walletId: draws.walletId, decision, policyVersion: policy?.version ?? null };
}

type Drawing = { readonly funding: 'wallet' | 'budget'; readonly walletId: Id<'wallet'> };

async function sourceOfAgent(
  tx: Tx,
  { ownerId, agentId, fromWalletId }: AgentRequest,
  { funding, walletId }: Drawing,
): Promise<FundingSource> {
  if (fromWalletId === undefined) return funding === 'budget' ? agentBudget(agentId) : wallet(walletId);
  if ((await findWallet(tx, ownerId, fromWalletId)) === null) throw notFound('wallet', fromWalletId);
  if (fromWalletId !== walletId) {
    throw new DomainError('agent_isolation', `wallet ${fromWalletId} is not the wallet that this agent draws on`);
  }
  if (funding === 'wallet') return wallet(walletId);
  const why = `agent ${agentId} draws on its budget and on no wallet; leave fromWalletId out`;
  throw new DomainError('agent_isolation', why);
}

/** A person cannot approve a transfer between wallets: what would wait for one is refused. */
const whyRefused = ({ outcome, rule, reason }: SpendingDecision): string =>
  outcome === 'deny'
    ? `refused by ${rule}: ${reason}`
    : `refused by ${rule}: ${reason}; no one can approve a transfer between wallets, so let the owner make it`;

const drawing = query((from, given: Given<{ agentId: string }>) =>
  from.selectFrom('agents').select(['funding', 'walletId']).where('id', '=', given('agentId')),
);
