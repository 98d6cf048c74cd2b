/**
 * Agents as published, with their policy, first open card and balances: one statement for one agent or a page of
 * them. Agents in the making are nobody's yet.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { rows } from '../../db/tx.ts';
import type { AgentDeps, AgentRecord, AgentStatus, AgentWalletRecord, Funding } from '../../domains/parties/index.ts';
import { spendableCents } from '../../domains/parties/index.ts';
import { eurosFromCents } from '../../kernel/money.ts';
import { pageOf } from '../../kernel/page.ts';
import type { Mode } from '../../platform/mode.ts';

export type AgentReads = Pick<AgentDeps, 'readAgent' | 'listAgents' | 'readAgentWallet'>;

export const agentReads = ({ database, mode }: { database: Database; mode: Mode }): AgentReads => ({
  readAgent: async ({ ownerId, agentId }) => {
    const [row] = await rows<Row>(database.read(), `${select} where a.owner_id = $1 and a.id = $2 and ${visible}`, [
      ownerId,
      agentId,
    ]);
    return row === undefined ? null : recordOf(row);
  },
  listAgents: async (ownerId, { agentId, status, externalId }, { limit, after }) => {
    const found = await rows<Row>(
      database.read(),
      `${select} where a.owner_id = $1 and ${visible}
         and ($2::text is null or a.id = $2) and ($3::text is null or a.status = $3)
         and ($4::text is null or a.external_id = $4)
         and ($5::timestamptz is null or (a.created_at, a.id) < ($5, $6))
       order by a.created_at desc, a.id desc limit $7`,
      [
        ownerId,
        agentId ?? null,
        status ?? null,
        externalId ?? null,
        after?.createdAt ?? null,
        after?.id ?? null,
        limit + 1,
      ],
    );
    return pageOf(found, limit, ({ createdAt, id }) => ({ createdAt: createdAt.toISOString(), id }), recordOf);
  },
  readAgentWallet: async ({ ownerId, agentId }) => {
    const [row] = await rows<WalletRow>(database.read(), walletOfAgent, [ownerId, agentId]);
    return row === undefined ? null : walletRecordOf(row, mode);
  },
});

const visible = 'not a.is_provisioning';
const available = (noun: string, id: string): string => `'${noun}:' || ${id} || ':available'`;

const select = `
  select a.id, a.owner_id as "ownerId", a.name, a.scope, a.external_id as "externalId", a.status, a.funding, a.profile,
    a.wallet_id as "walletId", a.created_at as "createdAt", p.id as "policyId", c.id as "cardId", c.last4,
    coalesce(w.balance_cents, 0) as "walletCents", coalesce(b.balance_cents, 0) as "budgetCents"
  from agents a
  left join policies p on p.agent_id = a.id and p.removed_at is null
  left join lateral (
    select id, last4 from cards
    where agent_id = a.id and status <> 'closed' and not is_provisioning
    order by is_primary desc, created_at, id limit 1
  ) c on true
  left join ledger_accounts w on w.name = ${available('wallet', 'a.wallet_id')}
  left join ledger_accounts b on b.name = ${available('agent', 'a.id')}`;

type Row = {
  id: string;
  ownerId: string;
  name: string;
  scope: string | null;
  externalId: string | null;
  status: AgentStatus;
  funding: Funding;
  profile: Record<string, unknown> | null;
  walletId: string;
  createdAt: Date;
  policyId: string | null;
  cardId: string | null;
  last4: string | null;
  walletCents: number;
  budgetCents: number;
};

function recordOf({ walletCents, budgetCents, last4, createdAt, ...row }: Row): AgentRecord {
  return {
    ...row,
    cardBalanceEuros: eurosFromCents(spendableCents(row, { walletCents, budgetCents })),
    walletBalanceEuros: eurosFromCents(walletCents),
    cardPanMasked: last4 === null ? null : `•••• ${last4}`,
    createdAt: createdAt.toISOString(),
  };
}

const walletOfAgent = `
  select a.id as "agentId", w.id as "walletId", w.iban, w.bic,
    coalesce(f.balance_cents, 0) as "availableCents", coalesce(h.balance_cents, 0) as "heldCents"
  from agents a join wallets w on w.id = a.wallet_id
  left join ledger_accounts f on f.name = ${available('wallet', 'w.id')}
  left join ledger_accounts h on h.name = 'wallet:' || w.id || ':held'
  where a.owner_id = $1 and a.id = $2 and ${visible}`;

type WalletRow = {
  agentId: string;
  walletId: string;
  iban: string | null;
  bic: string | null;
  availableCents: number;
  heldCents: number;
};

function walletRecordOf(row: WalletRow, mode: Mode): AgentWalletRecord {
  const { agentId, walletId, iban, bic, availableCents, heldCents } = row;
  const availableEuros = eurosFromCents(availableCents);
  return {
    agentId,
    issuer: mode === 'sandbox' ? 'bursar-sandbox' : 'bursar',
    walletBalance: {
      available: availableEuros,
      pending: eurosFromCents(heldCents),
      total: eurosFromCents(availableCents + heldCents),
    },
    iban,
    deposit: iban === null || bic === null ? null : { iban, bic, reference: walletId },
    internalLedger: { walletBalanceEuros: availableEuros },
  };
}
