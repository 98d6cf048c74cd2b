/**
 * Gives an agent a budget from its wallet, in one transaction with the journal. From the first budget on the agent's
 * cards use only the budget. A repeat of the same cause moves no money.
 * @module
 */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { type Given, query } from '../../db/db.ts';
import type { Tx } from '../../db/tx.ts';
import type { AgentRow } from '../../domains/parties/agents/agent.entity.ts';
import type { ReachedAgent } from '../../domains/parties/agents/agent.routes.ts';
import { whyNoFunds } from '../../domains/parties/agents/agent.rules.ts';
import { ownedRow } from '../../domains/parties/agents/agent.service.ts';
import { agentBudget, available } from '../../domains/treasury/ledger/account.rules.ts';
import { agentFund } from '../../domains/treasury/ledger/ledger.rules.ts';
import { postJournals } from '../../domains/treasury/ledger/ledger.service.ts';
import { type Change, recordChanges } from '../../events/record.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { type Cents, cents, eurosFromCents } from '../../kernel/money.ts';
import type { Cause } from '../../platform/cause.ts';

export type FundAgentOrder = ReachedAgent & { readonly amountCents: Cents; readonly journalId: Id<'journal'> };

export const fundAgent =
  ({ database }: { readonly database: Database }) =>
  (order: FundAgentOrder, cause: Cause): Promise<void> =>
    database.write((tx) => fundAgentIn(tx, cause, order));

async function fundAgentIn(tx: Tx, cause: Cause, order: FundAgentOrder): Promise<void> {
  const { ownerId, agentId, amountCents, journalId } = order;
  const agent = await ownedRow(tx, order);
  const why = whyNoFunds(agent.status);
  if (why !== undefined) throw new DomainError('invalid_state', why);
  const [posted] = await postJournals(tx, cause, [
    {
      id: journalId,
      ownerId,
      agentId,
      kind: 'agent_fund',
      referenceType: 'fund',
      referenceId: agentId,
      cause: `agent-fund:${cause.causeId}`,
      postings: agentFund({ walletId: agent.walletId, agentId, amountCents }),
    },
  ]);
  if (posted?.outcome !== 'posted') return;
  if (agent.funding === 'wallet') {
    agent.funding = 'budget';
    agent.updatedAt = cause.at;
    await tx.flush();
  }
  const balanceCents = posted.balances[available(agentBudget(agentId))] ?? 0;
  await recordChanges(
    tx,
    cause,
    changesOf(agent, await primaryCard.first(tx, { agentId }), { amountCents, balanceCents: cents(balanceCents) }),
  );
}

type Card = { readonly id: Id<'card'>; readonly status: string };
type Amounts = { readonly amountCents: Cents; readonly balanceCents: Cents };

/** `wallet.credited` is about the budget, as its field `account` says. An agent without an open card has none funded. */
function changesOf(agent: AgentRow, card: Card | null, { amountCents, balanceCents }: Amounts): Change[] {
  const { id: agentId, ownerId, walletId } = agent;
  const amounts = { amountEuros: eurosFromCents(amountCents), balanceEuros: eurosFromCents(balanceCents) };
  const account = available(agentBudget(agentId));
  const source = 'agent_fund';
  const credited = { id: agentId, ownerId, walletId, agentId, account, source, fundingId: null, ...amounts };
  const ofAgent = { ownerId, agentId };
  const changes: Change[] = [
    { event: 'wallet.credited', ...ofAgent, subjectId: agentId, data: credited, details: { amountCents } },
  ];
  if (card === null) return changes;
  const funded = { id: card.id, ownerId, agentId, status: card.status, ...amounts };
  return [{ event: 'card.funded', ...ofAgent, subjectId: card.id, data: funded, audited: false }, ...changes];
}

const primaryCard = query((from, given: Given<{ agentId: string }>) =>
  from
    .selectFrom('cards')
    .select(['id', 'status'])
    .where('agentId', '=', given('agentId'))
    .where('status', '<>', sql.lit('closed'))
    .where('isProvisioning', '=', sql.lit(false))
    .orderBy('isPrimary', 'desc')
    .orderBy('createdAt')
    .orderBy('id')
    .limit(sql.lit(1)),
);
