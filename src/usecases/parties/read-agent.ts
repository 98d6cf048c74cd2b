/**
 * Agents as published, with their policy, first open card and balances: one statement for one agent or a page of
 * them. Agents that are being created are not visible.
 * @module
 */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { type Db, type Given, query } from '../../db/db.ts';
import { type Filters, list, newestFirst, page } from '../../db/page.ts';
import type { AgentRecord, AgentWalletRecord } from '../../domains/parties/agents/agent.contract.ts';
import type { AgentDeps } from '../../domains/parties/agents/agent.routes.ts';
import type { AgentStatus } from '../../domains/parties/agents/agent.rules.ts';
import { spendableCents } from '../../domains/parties/agents/agent.rules.ts';
import { mayReach } from '../../http/caller.ts';
import { add, type Cents, cents, eurosFromCents } from '../../kernel/money.ts';
import { mapPage } from '../../kernel/page.ts';
import type { Mode } from '../../platform/mode.ts';

type Deps = { readonly database: Database };

export const readAgent =
  ({ database }: Deps): AgentDeps['readAgent'] =>
  async ({ ownerId, agentId }) => {
    const row = await oneAgent.first(database.read(), { ownerId, agentId });
    return row === null ? null : recordOf(row);
  };

export const getAgent =
  ({ database }: Deps): AgentDeps['getAgent'] =>
  async (own, agentId) => {
    const row = await oneAgent.first(database.read(), { ownerId: own.ownerId, agentId });
    const found = row === null ? null : { ownerId: row.ownerId, agentId: row.id, row };
    return recordOf(mayReach(own, 'agent', agentId, found).row);
  };

export const listAgents =
  ({ database }: Deps): AgentDeps['listAgents'] =>
  async (ownerId, filter, pageQuery) =>
    mapPage(await page(database.read(), agents, { ownerId, ...filter }, pageQuery), recordOf);

export const readAgentWallet =
  ({ database, mode }: Deps & { readonly mode: Mode }): AgentDeps['readAgentWallet'] =>
  async ({ ownerId, agentId }) => {
    const row = await walletOfAgent.first(database.read(), { ownerId, agentId });
    return row === null ? null : walletRecordOf(row, mode);
  };

const agentsOf = (from: Db) =>
  from
    .selectFrom('agents as a')
    .leftJoin('policies as p', (join) => join.onRef('p.agentId', '=', 'a.id').on('p.removedAt', 'is', null))
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('cards')
          .select(['cards.id', 'cards.last4'])
          .whereRef('cards.agentId', '=', 'a.id')
          .where('cards.status', '<>', sql.lit('closed'))
          .where('cards.isProvisioning', '=', sql.lit(false))
          .orderBy('cards.isPrimary', 'desc')
          .orderBy('cards.createdAt')
          .orderBy('cards.id')
          .limit(sql.lit(1))
          .as('c'),
      (join) => join.onTrue(),
    )
    .leftJoin('ledger_accounts as w', (join) => join.on('w.name', '=', available('wallet', 'a.walletId')))
    .leftJoin('ledger_accounts as b', (join) => join.on('b.name', '=', available('agent', 'a.id')))
    .select(['a.id', 'a.ownerId', 'a.name', 'a.scope', 'a.externalId', 'a.status', 'a.funding', 'a.profile'])
    .select(['a.walletId', 'a.requestSignatures', 'a.createdAt', 'p.id as policyId', 'c.id as cardId', 'c.last4'])
    .select((eb) => [
      eb.fn.coalesce('w.balanceCents', sql<Cents>`0`).as('walletCents'),
      eb.fn.coalesce('b.balanceCents', sql<Cents>`0`).as('budgetCents'),
    ])
    .where('a.isProvisioning', '=', sql.lit(false));

const available = (noun: 'wallet' | 'agent', id: string) => account(noun, id, 'available');
const account = (noun: 'wallet' | 'agent', id: string, part: 'available' | 'held') =>
  sql<string>`${sql.lit(`${noun}:`)} || ${sql.ref(id)} || ${sql.lit(`:${part}`)}`;

type OneAgent = { readonly ownerId: string; readonly agentId: string };
const oneAgent = query((from, given: Given<OneAgent>) =>
  agentsOf(from).where('a.ownerId', '=', given('ownerId')).where('a.id', '=', given('agentId')),
);

type ListedBy = {
  readonly ownerId: string;
  readonly agentId?: string | undefined;
  readonly status?: AgentStatus | undefined;
  readonly externalId?: string | undefined;
};

const agents = list((from, given: Filters<ListedBy>) => {
  let wanted = agentsOf(from).where('a.ownerId', '=', given('ownerId'));
  if (given.has('agentId')) wanted = wanted.where('a.id', '=', given('agentId'));
  if (given.has('status')) wanted = wanted.where('a.status', '=', given('status'));
  if (given.has('externalId')) wanted = wanted.where('a.externalId', '=', given('externalId'));
  return wanted;
}, newestFirst('a'));

type Row = Awaited<ReturnType<typeof oneAgent.all>>[number];

function recordOf({ walletCents, budgetCents, last4, createdAt, ...row }: Row): AgentRecord {
  return {
    ...row,
    cardBalanceEuros: eurosFromCents(cents(spendableCents(row, { walletCents, budgetCents }))),
    walletBalanceEuros: eurosFromCents(walletCents),
    cardPanMasked: last4 === null ? null : `•••• ${last4}`,
    createdAt: createdAt.toISOString(),
  };
}

const walletOfAgent = query((from, given: Given<OneAgent>) =>
  from
    .selectFrom('agents as a')
    .innerJoin('wallets as w', 'w.id', 'a.walletId')
    .leftJoin('ledger_accounts as f', (join) => join.on('f.name', '=', available('wallet', 'w.id')))
    .leftJoin('ledger_accounts as h', (join) => join.on('h.name', '=', account('wallet', 'w.id', 'held')))
    .select(['a.id as agentId', 'w.id as walletId', 'w.iban', 'w.bic'])
    .select((eb) => [
      eb.fn.coalesce('f.balanceCents', sql<Cents>`0`).as('availableCents'),
      eb.fn.coalesce('h.balanceCents', sql<Cents>`0`).as('heldCents'),
    ])
    .where('a.ownerId', '=', given('ownerId'))
    .where('a.id', '=', given('agentId'))
    .where('a.isProvisioning', '=', sql.lit(false)),
);

type WalletRow = Awaited<ReturnType<typeof walletOfAgent.all>>[number];

function walletRecordOf(row: WalletRow, mode: Mode): AgentWalletRecord {
  const { agentId, walletId, iban, bic, availableCents, heldCents } = row;
  const availableEuros = eurosFromCents(availableCents);
  return {
    agentId,
    issuer: mode === 'sandbox' ? 'bursar-sandbox' : 'bursar',
    walletBalance: {
      available: availableEuros,
      pending: eurosFromCents(heldCents),
      total: eurosFromCents(add(availableCents, heldCents)),
    },
    iban,
    deposit: iban === null || bic === null ? null : { iban, bic, reference: walletId },
    internalLedger: { walletBalanceEuros: availableEuros },
  };
}
