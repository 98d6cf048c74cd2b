/**
 * An agent with its policy, wallet and issued card, put straight into the tables: for tests of what may happen to
 * them, not of how they come about.
 * @module
 */
import { newId } from '../../../src/kernel/ids.ts';
import { hashSecret } from '../../../src/vault/secret-hash.ts';
import type { Owner, World } from '../world.ts';
import { aCustomer } from './parties.ts';

export type AgentWithCard = {
  readonly agentId: `ag_${string}`;
  readonly cardId: `ca_${string}`;
  readonly policyId: `po_${string}`;
  readonly walletId: `wal_${string}`;
  readonly cardRef: string;
  /** A token of the agent with scope `*`. */
  readonly token: string;
};

let number = 0;

export async function anAgentWithCard(
  world: World,
  owner: Owner,
  { isProvisioning = false } = {},
): Promise<AgentWithCard> {
  const [agentId, cardId, policyId, walletId] = [newId('agent'), newId('card'), newId('policy'), newId('wallet')];
  const [cardRef, token] = [`ref_${cardId}`, `at_test_${newId('token')}`];
  const at = new Date(Date.now() + number++);
  const { ownerId } = owner;
  await aCustomer(world, ownerId);
  await world.sql(`insert into wallets (id, owner_id, name, created_at, updated_at) values ($1, $2, 'Main', $3, $3)`, [
    walletId,
    ownerId,
    at,
  ]);
  await world.sql(
    `insert into ledger_accounts (name, owner_id, balance_cents, credited_cents, created_at) values ($1, $2, 12345, 12345, $3)`,
    [`wallet:${walletId}:available`, ownerId, at],
  );
  await world.sql(
    `insert into agents (id, owner_id, name, status, wallet_id, funding, is_provisioning, origin, created_at, updated_at)
     values ($1, $2, $3, 'active', $4, 'wallet', $5, $6, $7, $7)`,
    [agentId, ownerId, `Agent ${number}`, walletId, isProvisioning, origin, at],
  );
  await world.sql(
    `insert into policies (id, owner_id, agent_id, name, daily_limit_cents, created_at, updated_at)
     values ($1, $2, $3, 'rules', 10000, $4, $4)`,
    [policyId, ownerId, agentId, at],
  );
  await world.sql(
    `insert into cards (id, owner_id, agent_id, card_ref, last4, brand, expiry_month, expiry_year, status, synced_state,
       usage, is_primary, name, is_provisioning, origin, created_at, updated_at)
     values ($1, $2, $3, $4, $5, 'visa', 12, 2029, 'active', $6, 'multi', true, 'default', $7, $8, $9, $9)`,
    [
      cardId,
      ownerId,
      agentId,
      isProvisioning ? null : cardRef,
      isProvisioning ? null : '4242',
      isProvisioning ? null : 'active',
      isProvisioning,
      origin,
      at,
    ],
  );
  await world.sql(
    `insert into workflow_runs (id, workflow, subject_id, owner_id, agent_id, stage, created_at)
     values ($1, 'cardLifecycle', $2, $3, $4, 'active', $5)`,
    [`card/${cardId}`, cardId, ownerId, agentId, at],
  );
  await world.sql(
    `insert into agent_tokens (id, owner_id, agent_id, secret_hash, hint, scopes, created_at) values ($1, $2, $3, $4, 'at', '{*}', $5)`,
    [newId('token'), ownerId, agentId, hashSecret(token), at],
  );
  return { agentId, cardId, policyId, walletId, cardRef, token };
}

const origin = JSON.stringify({ requestId: 'test', runId: null, actor: { kind: 'system' } });
